"""The journal: immutable frames of one run, and the coordination rows beside it. Knows nothing of models or tools."""
