"""The laptop: one process with an HTTP front, Gofer's own pages and the demo's tour."""
