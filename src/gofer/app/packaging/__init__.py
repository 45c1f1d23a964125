"""The packages of the functions for Lambda."""
