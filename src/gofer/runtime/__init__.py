"""The runtime: receives deliveries, works queued runs, answers, retries, cancels, sweeps and deletes."""
