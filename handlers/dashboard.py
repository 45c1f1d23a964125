"""The function at /runs, which serves the pages for people."""

from gofer.app.functions.dashboard import dashboard_function
from gofer.app.functions.foundation import stand

handler = dashboard_function(stand())
