"""Signed requests to a service of AWS, over kept connections and with up to three attempts.

A sender waits meanwhile, often only three seconds. So all attempts of a request together have less than that.
"""

import hashlib
import hmac
import http.client
import queue
import random
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import urlsplit

from botocore.exceptions import EndpointConnectionError  # pyright: ignore[reportMissingTypeStubs]

from gofer.app.functions.dns_suffixes import dns_suffix
from gofer.values.outside import Clock
from gofer.values.secret import Secret

_ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(frozen=True, slots=True)
class Signer:
    """The signer of requests to one service in one Region (Signature Version 4)."""

    key_id: str
    key: Secret
    token: str
    """The session token. Empty for the keys of a user."""
    region: str
    service: str

    def headers(
        self, method: str, host: str, path: str, given: Mapping[str, str], body: bytes, now: float
    ) -> dict[str, str]:
        """Return all headers of a request without a query string.

        `path` is percent-encoded, and the header names in `given` are in lower case.
        """
        at = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
        content = hashlib.sha256(body).hexdigest()
        headers = {**given, "host": host, "x-amz-date": at}
        if self.service == "s3":
            headers["x-amz-content-sha256"] = content
        if self.token:
            headers["x-amz-security-token"] = self.token
        names = sorted(headers)
        canonical_headers = "".join(f"{name}:{headers[name].strip()}\n" for name in names)
        canonical = "\n".join([method, path, "", canonical_headers, ";".join(names), content])
        scope = f"{at[:8]}/{self.region}/{self.service}/aws4_request"
        to_sign = "\n".join([_ALGORITHM, at, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        signature = hmac.new(self._key_of(at[:8]), to_sign.encode(), hashlib.sha256).hexdigest()
        credential = f"Credential={self.key_id}/{scope}, SignedHeaders={';'.join(names)}, Signature={signature}"
        return {**headers, "authorization": f"{_ALGORITHM} {credential}"}

    def _key_of(self, day: str) -> bytes:
        key = f"AWS4{self.key.reveal()}".encode()
        for part in (day, self.region, self.service, "aws4_request"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        return key


ATTEMPTS = 3
TIMEOUT = 2.0
"""Seconds for each step of a request: to connect, and to read a part of the answer."""
WITHIN = 2.5
"""Seconds after which no further attempt begins; an attempt under way gets no longer than is left."""
_PAUSE = 0.05
_SHORTEST = 0.1
"""The least seconds for a step, also at the end of the time."""
_BUSY = (
    *(b"ThrottlingException", b"ProvisionedThroughputExceededException", b"RequestLimitExceeded"),
    *(b"RequestThrottled", b"TransactionInProgressException", b"SlowDown", b"TooManyRequestsException"),
)
"""Codes of refusals that are retried, in addition to every status from 500 on."""

Answer = tuple[int, Mapping[str, str], bytes]
"""Status, headers with lower-case names, body."""


@dataclass(frozen=True, slots=True)
class Account:
    """The credentials, the Region and the endpoint for requests to AWS."""

    key_id: str
    key: Secret
    token: str
    region: str
    endpoint: str
    """AWS_ENDPOINT_URL. Empty means AWS itself."""

    def origin(self, service: str, bucket: str = "") -> str:
        """Return the base URL of a service, or of a bucket, which has its own host name."""
        if self.endpoint:
            return self.endpoint.rstrip("/")
        host = f"{service}.{self.region}.{dns_suffix(self.region)}"
        if bucket:
            host = f"{bucket}.{host}"
        return f"https://{host}"


def read_account(environment: Mapping[str, str]) -> Account:
    """Return the account of a function from the variables that Lambda sets."""
    return Account(
        environment.get("AWS_ACCESS_KEY_ID", ""),
        Secret(environment.get("AWS_SECRET_ACCESS_KEY", "")),
        token=environment.get("AWS_SESSION_TOKEN", ""),
        region=environment.get("AWS_REGION", ""),
        endpoint=environment.get("AWS_ENDPOINT_URL", ""),
    )


@dataclass
class Wire:
    """A client for signed requests to one service, which keeps its connections."""

    account: Account
    service: str
    clock: Clock
    bucket: str = ""
    tls: ssl.SSLContext | None = None
    timeout: float = TIMEOUT
    """Seconds for each step of an exchange."""
    within: float = WITHIN
    """Seconds for all attempts of a request."""
    _idle: "queue.SimpleQueue[http.client.HTTPConnection]" = field(default_factory=queue.SimpleQueue)

    def __post_init__(self) -> None:
        self._origin = self.account.origin(self.service, self.bucket)
        self._host = urlsplit(self._origin).netloc
        account = self.account
        self._signer = Signer(
            account.key_id, account.key, token=account.token, region=account.region, service=self.service
        )

    def send(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Send a request and return its answer, with any status. Raises EndpointConnectionError."""
        ends_at = self.clock.monotonic() + self.within
        for attempt in range(1, ATTEMPTS + 1):
            seconds = max(_SHORTEST, min(self.timeout, ends_at - self.clock.monotonic()))
            try:
                answer = self._once(method, path, headers, body, seconds)
            except (OSError, http.client.HTTPException) as error:
                if attempt == ATTEMPTS or self.clock.monotonic() >= ends_at:
                    raise EndpointConnectionError(endpoint_url=self._origin, error=type(error).__name__) from error
                # Lambda may freeze the process for minutes, in which AWS closes all kept connections.
                self.close()
            else:
                if attempt == ATTEMPTS or not _busy(answer) or self.clock.monotonic() >= ends_at:
                    return answer
            # The pause is for busy services. After a closed connection it only costs a little time.
            time.sleep(random.uniform(0, _PAUSE * 2**attempt))  # noqa: S311
        raise AssertionError("the last attempt returns or raises")

    def close(self) -> None:
        """Close the idle connections."""
        while not self._idle.empty():
            self._idle.get_nowait().close()

    def _once(self, method: str, path: str, headers: Mapping[str, str], body: bytes, seconds: float) -> Answer:
        signed = self._signer.headers(method, self._host, path, headers, body, self.clock.now())
        connection = self._connection(seconds)
        try:
            connection.request(method, path, body=body, headers=signed)
            response = connection.getresponse()
            received = {name.lower(): value for name, value in response.getheaders()}
            answer = response.status, received, response.read()
        except BaseException:
            connection.close()
            raise
        self._idle.put(connection)
        return answer

    def _connection(self, seconds: float) -> http.client.HTTPConnection:
        """Return a connection with steps of at most `seconds`."""
        try:
            kept = self._idle.get_nowait()
        except queue.Empty:
            return self._new_connection(seconds)
        if kept.sock is not None:
            kept.sock.settimeout(seconds)
        return kept

    def _new_connection(self, seconds: float) -> http.client.HTTPConnection:
        if self._origin.startswith("http://"):
            return http.client.HTTPConnection(self._host, timeout=seconds)
        self.tls = self.tls or ssl.create_default_context()
        return http.client.HTTPSConnection(self._host, timeout=seconds, context=self.tls)


def _busy(answer: Answer) -> bool:
    status, _, body = answer
    return status >= 500 or (status >= 400 and any(code in body[:2_000] for code in _BUSY))
