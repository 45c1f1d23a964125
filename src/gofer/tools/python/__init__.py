"""The tool that runs Python."""
