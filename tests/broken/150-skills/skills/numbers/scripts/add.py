import json
from __future__ import annotations

import numpy.linalg
from .rest import x
