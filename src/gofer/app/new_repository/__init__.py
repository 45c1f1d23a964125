"""New repositories of companies: which of the shipped files they get, and what is written beside them."""
