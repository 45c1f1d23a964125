"""Measures of plain words and plain code, for `tests/architecture/test_style.py` and for `make style`."""
