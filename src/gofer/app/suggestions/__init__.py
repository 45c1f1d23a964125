"""Suggestions for a workflow of this folder: the question to a model, the proof in a scratch checkout, the branch."""
