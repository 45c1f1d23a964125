import json
from __future__ import annotations

import numpy.linalg
from .rest import x
import json.decoder
import os.path
from collections import Counter, OrderedDict
from math import *
