"""Documents as text, a module for each format; only the helper process imports these."""
