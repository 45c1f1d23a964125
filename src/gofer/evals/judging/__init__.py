"""Grades by a model: one criterion at a time, with votes, tolerances, and agreement that is measured on labels."""
