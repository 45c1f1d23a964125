"""The frozen corpus: what Gofer wrote, asked and printed on the day a large change began.

`PYTHONPATH=tests:tests/survival python -m frozen tests/frozen/data` makes it anew. `tests/architecture/test_frozen.py`
makes it in memory and compares it byte by byte, after the map of `names.py` was applied to what is frozen. Make it anew
only in a commit whose message lists each change.

| path | holds |
|---|---|
| `journals/<story>.jsonl` | each entry of a story's journals as the codec writes it, with run, address and owner |
| `requests/<story>.jsonl` | the exact bodies of the story's questions to models |
| `requests/<vendor>.jsonl` | the requests of each tool of a vendor, without headers, and the results of its calls |
| `requests/from-<source>.jsonl` | the delivery of a source, and all requests of the run that it starts |
| `state/` | a folder of one machine as it was after each frame (`folder.py`) |
| `state.jsonl` | how the runs of that folder stand after each frame, as today's code reads it |
| `continued.jsonl` | how they end when today's code continues them |
| `bundles/<workflow>.json` | the bundle of each shipped workflow; `bundles.json` has their hashes |
| `published.json` | the part of a publication that receivers read |
| `schemas/` | the JSON Schemas of the files people write, and of each tool as models get it |
| `check.txt` | what `gofer check` finds in tests/broken, and what it prints for this repository |
| `explain.txt` | what `gofer explain` prints for each payload of tests/events |

Three more files belong to the corpus, each compared by a test of its own: `tests/generators/explained.md` (the one
reason for each payload), `docs/context.md` (parts of requests, shown as text) and
`tests/broken/*/expected`.

The map of names cannot reach into sealed frames. A commit that changes the words or the form of entries therefore also
makes `state/` anew, under a new format number.
"""
