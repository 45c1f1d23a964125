"""New workflows, tools, skills and evals that pass `gofer check`, to begin with."""
