"""Answers to the requests of the reviewer, which a provider gets beside those of the runs."""

import json

from starlette.responses import JSONResponse, Response

from gofer.runtime.reviews.question import RULES

VERDICT = {"why": "It answered.", "effective": True, "next_step": "", "goal_drift": False, "drift": ""}


def is_review(body: bytes) -> bool:
    """Return whether a request asks for the review of a run."""
    messages = json.loads(body)["messages"]
    return messages[0]["content"] == RULES


def review() -> Response:
    """Return the answer of a reviewer that found a run effective."""
    message = {"role": "assistant", "content": json.dumps(VERDICT)}
    usage = {"prompt_tokens": 500, "completion_tokens": 30}
    return JSONResponse(
        {"model": "reviewer", "choices": [{"finish_reason": "stop", "message": message}], "usage": usage}
    )
