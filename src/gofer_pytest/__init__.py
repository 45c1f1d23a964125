"""`pytest --evals`: the cases of `evals/` as tests, for people who prefer pytest to `gofer eval`."""
