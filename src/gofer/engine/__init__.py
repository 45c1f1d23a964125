"""The engine: continues a run from its journal. `step` makes side effects happen and is the only one that appends."""
