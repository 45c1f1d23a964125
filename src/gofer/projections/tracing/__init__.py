"""The trace of a run: its spans, with the names of OpenTelemetry."""
