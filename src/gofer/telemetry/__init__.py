"""Traces of runs for whoever reads OpenTelemetry: which spans a journal makes, and how they are sent."""
