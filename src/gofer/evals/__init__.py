"""Evals: cases with expectations, the grades of their runs, and the reports about them."""
