"""The words of a run: its steps, for pages, terminals and programs."""
