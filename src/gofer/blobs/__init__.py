"""Bodies: bytes too large for a frame, and the bundles that runs pin. Knows nothing of runs or entries."""
