"""Views of a journal, which read no clock, no store and no network.

An owner keeps some views up to date while its journal grows. Such a view has two functions. `project(entries)` is pure:
it returns a new view that depends on the entries only. `fold(state, recorded)` adds one more entry to a view in place.
Both agree: the view of a whole journal equals the view of any beginning of it with the remaining entries folded in.
Other views, such as those in `words`, `examination` and `comparison`, are made of whole journals, for readers.
"""
