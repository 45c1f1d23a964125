"""Views of a journal: pure functions from entries to something people or the engine ask for.

Each is a reducer `fold(state, recorded) -> state` that takes over the state it is given, and a `project` that
folds a whole journal. Nothing here reads a clock, a store or the world.
"""
