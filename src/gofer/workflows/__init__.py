"""Workflows: the YAML and Markdown that people edit.

Receivers import only modules without pydantic and YAML, such as `routes`.
"""
