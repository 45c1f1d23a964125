"""AWS entry points, one module per source, at most 30 lines each; they import nothing of Gofer but `app`."""

import gc

# To look for garbage among modules that are all kept is a seventh of a worker's cold start; `stand` begins with it.
gc.disable()
