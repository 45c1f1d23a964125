"""The engine: continues a run from its journal. Only `step.py` makes calls, and only `owned_run.py` appends entries."""
