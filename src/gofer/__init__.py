"""Gofer: the internal agent a company runs from its own repository. A run is its journal."""
