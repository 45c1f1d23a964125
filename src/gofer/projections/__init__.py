"""Views of a journal. Each has two functions, and neither reads a clock, a store or the world.

`project(entries)` is pure: it returns a view of its own, made of the entries and of nothing else.
`fold(state, recorded)` adds one more entry to such a view in place, as an owner does while its journal grows. Both come
to the same: the view of a whole journal is the view of any beginning of it with the rest folded in.
"""
