"""The AWS entry points, one module per function with at most 30 lines. They import only `gofer.app`."""

import gc

# Imported modules are never garbage. Searching them takes a seventh of a worker's cold start, so `stand` enables
# the search after all imports.
gc.disable()
