"""How is a request to AWS signed? Signature Version 4, as its documentation describes it, with keys that do not change.

A function has its keys in its environment for as long as it lives.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from gofer.secret import Secret

_ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs requests to one service in one Region."""

    key_id: str
    key: Secret
    token: str
    """Of the session; empty where the keys are somebody's own."""
    region: str
    service: str

    def headers(
        self, method: str, host: str, path: str, given: Mapping[str, str], body: bytes, now: float
    ) -> dict[str, str]:
        """All headers of a request without a query; `path` is percent-encoded, names in `given` are lower case."""
        at = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
        content = hashlib.sha256(body).hexdigest()
        headers = {**given, "host": host, "x-amz-date": at}
        headers |= {"x-amz-content-sha256": content} if self.service == "s3" else {}
        headers |= {"x-amz-security-token": self.token} if self.token else {}
        names = sorted(headers)
        told = "".join(f"{name}:{headers[name].strip()}\n" for name in names)
        canonical = "\n".join([method, path, "", told, ";".join(names), content])
        scope = f"{at[:8]}/{self.region}/{self.service}/aws4_request"
        said = "\n".join([_ALGORITHM, at, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        signature = hmac.new(self._key_of(at[:8]), said.encode(), hashlib.sha256).hexdigest()
        credential = f"Credential={self.key_id}/{scope}, SignedHeaders={';'.join(names)}, Signature={signature}"
        return {**headers, "authorization": f"{_ALGORITHM} {credential}"}

    def _key_of(self, day: str) -> bytes:
        key = f"AWS4{self.key.reveal()}".encode()
        for part in (day, self.region, self.service, "aws4_request"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        return key
