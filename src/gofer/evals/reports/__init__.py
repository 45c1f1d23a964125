"""Reports of a suite: for a terminal, a pull request, a browser and programs."""
