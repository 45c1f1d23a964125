"""The function that hears doorbells."""

from gofer.bootstrap.functions.ground import stand
from gofer.bootstrap.functions.worker import worker_function

handler = worker_function(stand())
