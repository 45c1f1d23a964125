"""Models: one question with exact bytes, one answer. Knows nothing of runs, journals or tools."""
