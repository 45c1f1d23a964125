"""The models that the workflows name: each is asked one short question, which costs a few tokens."""

import asyncio
from collections.abc import Sequence

from gofer.app.doctor.finding import Finding, works, wrong
from gofer.app.model_endpoints import ModelAccess
from gofer.models.language_model import Refused, Unavailable, Unusable
from gofer.models.served_model import ServedModel
from gofer.values.canonical_json import encode
from gofer.values.errors import RunStopped
from gofer.workflows.load import Catalog

SECONDS = 30.0
"""The longest wait for one answer."""
_MOST_TOKENS = 16


async def models(access: ModelAccess, catalog: Catalog) -> Sequence[Finding]:
    """Return whether each model answers, in the order of their names."""
    named = {model.name: model for loaded in catalog.workflows.values() for model in loaded.every_model()}
    return await asyncio.gather(*(_model(access, named[name]) for name in sorted(named)))


async def _model(access: ModelAccess, model: ServedModel) -> Finding:
    subject = f"model {model.name}"
    question = {"role": "user", "content": "Answer with the word yes."}
    body = encode({"model": model.name, "messages": [question], "max_completion_tokens": _MOST_TOKENS})
    try:
        await access.of(model.endpoint).ask(body, SECONDS)
    except Unavailable as error:
        return Finding(subject, "away", str(error), "Look again in some minutes; runs wait meanwhile.")
    except Unusable:
        # A model that spends the few tokens on thoughts has answered all the same.
        return works(subject, "answers")
    except (Refused, RunStopped) as error:
        return wrong(subject, str(error), "")
    return works(subject, "answers")
