"""Grades of a play: the verdict of each expectation, with what happened instead, in words for a colleague."""
