"""The function at /runs, for people."""

from gofer.bootstrap.functions.dashboard import dashboard_function
from gofer.bootstrap.functions.ground import stand

handler = dashboard_function(stand())
