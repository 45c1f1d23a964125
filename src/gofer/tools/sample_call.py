"""A call for tests of tools, over a network that the test brings."""

from collections.abc import Mapping

from gofer.tools.definition import Call, Provenance
from gofer.values.events import Actor
from gofer.values.outside import Http, SystemClock
from gofer.values.secret import Secret


def sample_call(http: Http, variables: Mapping[str, str], *, key: str = "run1/1.0") -> Call:
    """Return the call of a run that a webhook started; `variables` are those that its tool names, with values."""
    return Call(
        key=key,
        actor=Actor(""),
        place={},
        private=False,
        provenance=Provenance(workflow="sample", prompt_url="", run="run1", run_url=None),
        http=http,
        clock=SystemClock(),
        variables={name: Secret(value) for name, value in variables.items()},
    )
