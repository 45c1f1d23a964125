"""Python code of a model, executed by an isolated interpreter in a child process with limits."""
