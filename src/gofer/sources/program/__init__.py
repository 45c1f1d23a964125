"""The source of programs that run workflows in their own process.

There are no deliveries; the call returns the answer.
"""
