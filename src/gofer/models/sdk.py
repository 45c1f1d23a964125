"""The names of the OpenAI SDK that Gofer uses.

The SDK imports its adapter to aiohttp wherever aiohttp is installed, which takes a fifth of its start and 8 MB. Gofer
passes a client of its own and never uses the adapter, so this module marks the adapter as missing before it imports the
SDK.
"""

import sys

sys.modules.setdefault("openai._vendor.httpx_aiohttp", None)  # type: ignore[arg-type]

from openai import APIError, APIStatusError, AsyncOpenAI, AsyncStream, Omit  # noqa: E402

__all__ = ["APIError", "APIStatusError", "AsyncOpenAI", "AsyncStream", "Omit"]
