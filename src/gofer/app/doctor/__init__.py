"""What works in an installation, what does not, and what to do about it. Nothing is written anywhere."""
