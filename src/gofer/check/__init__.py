"""Check: every mistake in the files people edit, at its line, before anything runs. It reads files and nothing else."""
