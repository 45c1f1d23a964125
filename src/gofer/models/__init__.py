"""The models: one request with exact bytes, one answer. This room knows nothing of runs, journals or tools."""
