"""Tools: their declarations, and the tools of every run. They return results; only `engine/step.py` journals them."""
