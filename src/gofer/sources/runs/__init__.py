"""The source of Gofer's own runs: feedback on a run and its review start workflows."""
