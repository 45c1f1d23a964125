"""Whether two states of the source are the same code: equal but for places, names, words and layout."""
