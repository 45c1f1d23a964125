"""The bundle of a run: a copy of its workflow's files, stored as one body under its hash."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from gofer.models.served_model import Candidate, model_from_json
from gofer.projections.requests.request_parts import head
from gofer.values.canonical_json import as_list, as_object, encode, encode_text
from gofer.workflows.load import Loaded
from gofer.workflows.schema import Allowance, Workflow
from gofer.workflows.skill import skill_from_json
from gofer.workflows.subagent import candidate, subagent_from_json


@dataclass(frozen=True, slots=True)
class Bundle:
    """The workflow, prompt, skills, subagents, tool schemas and script hash of a run, fixed when the run started.

    The runs of a process that began with equal files share one bundle.
    """

    loaded: Loaded
    tools: Sequence[Mapping[str, object]]
    """The tool schemas that the model gets, without tools that it must search for. The tools of every run come first,
    then those of the workflow file in its order."""
    _heads: dict[str, bytes] = field(default_factory=dict[str, bytes], init=False, compare=False, repr=False)
    """The beginnings of requests, by the parameters as JSON."""
    _written: dict[str, bytes] = field(default_factory=dict[str, bytes], init=False, compare=False, repr=False)
    """The bytes of the bundle and of its tool schemas, written once for all its runs."""

    def head(self, params: Mapping[str, object]) -> bytes:
        """Return the bytes at the beginning of every request with these parameters, which all runs share."""
        written = encode_text(params)
        if written not in self._heads:
            self._heads[written] = head(params, self.tools, self.loaded.system)
        return self._heads[written]

    def tool_schemas(self) -> str:
        """Return the tool schemas as canonical JSON."""
        return self.written("tools", lambda: encode(self.tools)).decode()

    def written(self, name: str, write: Callable[[], bytes]) -> bytes:
        """Return bytes that follow from the bundle, written once for all its runs."""
        if name not in self._written:
            self._written[name] = write()
        return self._written[name]

    def chain(self) -> Sequence[Candidate]:
        """Return the models of the run with their request parameters, in the order in which the run asks them."""
        return [candidate(self.loaded.workflow.model, model) for model in self.loaded.models]


def encode_bundle(bundle: Bundle) -> bytes:
    """Return the canonical bytes of a bundle."""
    return bundle.written("bundle", lambda: _encoded(bundle))


def _encoded(bundle: Bundle) -> bytes:
    loaded = bundle.loaded
    return encode(
        {
            "name": loaded.name,
            "workflow": loaded.workflow.model_dump(mode="json"),
            "system": loaded.system,
            "prompt_file": loaded.prompt_file,
            "prompt_span": loaded.prompt_span,
            "models": [model.to_json() for model in loaded.models],
            "search_models": [model.to_json() for model in loaded.search_models],
            "limits_per_person": loaded.limits_per_person.model_dump(mode="json"),
            "tools": bundle.tools,
            "script_sha256": loaded.script_sha256,
            "subagents": {name: subagent.to_json() for name, subagent in loaded.subagents.items()},
            "skills": {name: skill.to_json() for name, skill in loaded.skills.items()},
        }
    )


def read_bundle(raw: bytes, form: type[Workflow]) -> Bundle:
    """Return the bundle that `encode_bundle` wrote, with its workflow as an instance of `form`."""
    value = cast(dict[str, object], json.loads(raw))
    loaded = Loaded(
        name=str(value["name"]),
        workflow=form.model_validate(value["workflow"]),
        system=str(value["system"]),
        prompt_file=str(value["prompt_file"]),
        prompt_span=_span(value.get("prompt_span")),
        models=tuple(map(model_from_json, as_list(value["models"]))),
        search_models=tuple(map(model_from_json, as_list(value.get("search_models")))),
        limits_per_person=Allowance.model_validate(value["limits_per_person"]),
        script_sha256=str(value.get("script_sha256", "")),
        subagents={
            name: subagent_from_json(as_object(part)) for name, part in as_object(value.get("subagents")).items()
        },
        skills={name: skill_from_json(name, as_object(part)) for name, part in as_object(value.get("skills")).items()},
    )
    return Bundle(loaded, cast(Sequence[Mapping[str, object]], value["tools"]))


def _span(value: object) -> tuple[int, int] | None:
    """Return the place of the prompt in the system prompt; None in the bundle of an earlier version."""
    if not isinstance(value, list):
        return None
    start, stop = cast(list[int], value)
    return start, stop
