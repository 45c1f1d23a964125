"""Views of a journal. Each has two functions, which read no clock, no store and no network.

`project(entries)` is pure: it returns a new view that depends on the entries only. `fold(state, recorded)` adds one
more entry to a view in place, as an owner does while its journal grows. Both agree: the view of a whole journal equals
the view of any beginning of it with the remaining entries folded in.
"""
