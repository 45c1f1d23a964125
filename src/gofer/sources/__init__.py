"""Sources: all that Gofer knows of one system outside, one folder for each."""
