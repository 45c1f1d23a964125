"""The check: finds every mistake in the files that people edit, at its line. It only reads files."""
