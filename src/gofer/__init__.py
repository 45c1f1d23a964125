"""Gofer: the internal agent a company runs from its own repository. A run is its journal."""

__version__ = "0.1.0"
"""The version of Gofer, as in `pyproject.toml`."""
