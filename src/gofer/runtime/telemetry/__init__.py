"""Traces in OpenTelemetry's form: the spans of a journal, and their export."""
