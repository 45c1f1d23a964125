"""The function that receives queue messages."""

from gofer.app.functions.foundation import stand
from gofer.app.functions.worker import worker_function

handler = worker_function(stand())
