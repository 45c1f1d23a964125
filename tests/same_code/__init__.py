"""A comparison of two states of the source that ignores places, names, texts and layout."""
