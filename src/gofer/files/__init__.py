"""Conversion of files into text, previews and query results, independent of runs, tools and models."""
