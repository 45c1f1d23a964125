"""The in-process scheduler: runs are begun at their nominal times, once each, also after downtime."""
