"""The tour of `gofer demo`."""
