"""What the log says of a refused request: what was wrong, and what the operator can do.

A sender that proved nothing is told less than this. Only codes are counted and logged, never what a sender wrote.
"""

from collections.abc import Mapping

from gofer.values.errors import RefusalCode

_CLOCK = "check the clock of this machine"
_FORM = "see docs/webhooks.md for the bodies that are taken"

REFUSALS: Mapping[RefusalCode, str] = {
    "other": "the request is not of the form that its receiver takes",
    "no_receiver": "no receiver listens at the path; check the URL that the sender has",
    "not_set_up": "the source is not set up; set {setting}",
    "body_broke_off": "the sender closed the connection before its body was complete",
    "body_too_slow": "the body came too slowly",
    "body_too_large": "the body is too large; " + _FORM,
    "body_without_room": "more bodies arrived at the same time than fit into memory; find out who sends them",
    "signature_missing": "the signature is missing or malformed; give the sender the secret of {setting}",
    "signature_method": "the signature is of another method than SHA-256; check how the sender is set up",
    "signature_mismatch": "the signature does not match; check {setting}",
    "timestamp_missing": "the signed time is missing or malformed; check how the sender is set up",
    "timestamp_old": "the signed time is too long ago: the delivery is late or repeated; " + _CLOCK,
    "timestamp_future": "the signed time lies in the future; " + _CLOCK + " and that of the sender",
    "delivery_id_missing": "the header webhook-id is missing or malformed; check how the sender is set up",
    "token_missing": "the header Authorization is missing or is not `Bearer` and one token; check the sender",
    "token_wrong": "the bearer token is another one than the secret; check {setting}",
    "jwt_too_long": "the JWT is too long; let its issuer put less into it",
    "jwt_malformed": "the token is no well-formed JWT; check what the sender shows",
    "jwt_unknown_key": "no key is known for `alg` and `kid` of the JWT; check `algorithms` and `jwks` of the hook",
    "jwt_signature": "the JWT's signature does not match; check the key of the hook, `jwks` or {setting}",
    "jwt_issuer": "the JWT is of another issuer; check `issuer` of the hook",
    "jwt_audience": "the JWT is for another audience; check `audience` of the hook",
    "jwt_without_expiry": "the JWT does not expire (`exp`); let its issuer set a time",
    "jwt_malformed_time": "a time in the JWT (`exp`, `nbf`) is no number of seconds; tell its issuer",
    "jwt_expired": "the JWT has expired; let the sender fetch a new one, and " + _CLOCK,
    "jwt_not_yet": "the JWT's time has not begun (`nbf`); " + _CLOCK,
    "body_empty": "the body is empty; check what the sender sends",
    "body_compressed": "the body is compressed with gzip; let the sender send it as it is",
    "body_not_utf8": "the body is not text in UTF-8; " + _FORM,
    "body_not_json": "the body is not JSON; " + _FORM,
    "body_number": "the body holds NaN, an infinity or a number of thousands of digits",
    "body_too_deep": "the body is nested too deep",
    "body_not_object": "the body is JSON, but not an object",
    "body_not_form": "the body is not a form; " + _FORM,
    "form_without_payload": "the form has no field `payload`, or several",
    "form_too_many_fields": "the form has too many fields",
    "key_missing": "the call does not have the key by which the hook tells calls apart; check `key` of the hook",
    "key_too_long": "the key of the call is too long; check `key` of the hook",
    "key_conflict": "another body was accepted under the same key; let the sender make a key for each call",
    "event_too_large": "the event is larger than can be stored",
    "window_closed": "a verification token was offered, and no window for one is open; open one, or set {setting}",
}
"""Each code as a clause; `{setting}` stands for the setting with the source's secret."""


def operator_clause(code: RefusalCode, setting: str) -> str:
    """Return what was wrong and what to do; `setting` names the setting with the source's secret."""
    return REFUSALS[code].replace("{setting}", setting or "the secret of its source")
