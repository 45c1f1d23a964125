"""Tools by which a model keeps its plan, and says that it is done."""
