"""AWS entry points, one module per source, at most 30 lines each; they import nothing of Gofer but `bootstrap`."""
