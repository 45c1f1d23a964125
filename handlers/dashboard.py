"""The function at /runs, for people."""

from gofer.bootstrap.functions.dashboard import dashboard_function

handler = dashboard_function()
