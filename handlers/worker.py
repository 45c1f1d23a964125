"""The function that hears doorbells."""

from gofer.bootstrap.functions.worker import worker_function

handler = worker_function()
