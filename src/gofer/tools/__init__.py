"""Tools: what a run can do outside, one leaf per system. They return results; only `engine/step.py` journals them."""
