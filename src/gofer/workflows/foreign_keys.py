"""Hints for keys of other systems: what to write in a workflow file instead."""

from collections.abc import Collection, Iterator, Mapping


def _each(hints: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for names, hint in hints.items():
        for name in names.split():
            yield name, hint


_WORKFLOW: Mapping[str, str] = dict(
    _each(
        {
            "on": "Write `when`; YAML reads `on` as true.",
            "trigger triggers triggered_by event events start starts": ("Write `when` with a list: `when: [$kind]`."),
            "schedule cron every at": "Write it below `when`: `- schedule: {cron: …}`.",
            "channel channels": "Write it below `when`, at a trigger: `- $kind: {channels: …}`.",
            "exclude excludes except ignore not unless": (
                "Remove it; describe the events that start the workflow with the conditions of a trigger in `when`."
            ),
            "name id": "Remove it; the name of the file is the name of the workflow.",
            "title summary": "Write `description`.",
            "steps jobs run runs actions": (
                "Remove it; describe the steps in the prompt, or write a script and name it in `coordinator_script`."
            ),
            "env environment secret secrets token vars variables": (
                "Remove it; secrets and variables are settings of the deployment, not of a workflow file."
            ),
            "instructions system system_prompt": "Write them into the Markdown file that `prompt` names.",
            "script": "Write `coordinator_script`.",
            "llm": "Write `model`.",
            "users allow allowed permissions": "Write `who`.",
            "timeout timeout_minutes": "Write `limits: {minutes: …}`.",
        }
    )
)
"""What to write instead of a key of a workflow; `$kind` is replaced by a kind of trigger."""

SCHEDULE: Mapping[str, str] = dict(
    _each(
        {
            "timezone time_zone tz": "Write `zone`.",
            "rate interval": "Write `every`.",
            "expression crontab": "Write `cron`.",
            "date time once": "Write `at`.",
            "from start starts start_date starting since anchor begin begins on": (
                "Write `first`, the first time of an interval: `first: 2026-01-05T09:00`."
            ),
        }
    )
)
"""What to write instead of a key of a schedule."""

_EXCLUDING = ("exclude", "excludes", "except", "ignore", "not", "unless", "without")
_CONDITIONS: Mapping[str, str] = dict(
    _each(
        {
            "text contains keyword keywords match matches pattern": "says",
            "repo repos": "repository",
            "reaction reactions": "emoji",
            "db": "database",
        }
    )
)
_PEOPLE = ("user", "users", "author", "actor", "sender", "from_user")


def workflow_keys(kind: str) -> Mapping[str, str]:
    """Return the hints for keys of a workflow, with a kind of trigger as the example."""
    return {name: hint.replace("$kind", kind) for name, hint in _WORKFLOW.items()}


def condition_hint(name: str, keys: Collection[str]) -> str | None:
    """Return the hint for a condition that its trigger does not have, or None if there is no hint."""
    meant = _CONDITIONS.get(name)
    if meant in keys:
        return f"Write `{meant}`."
    if name in _PEOPLE:
        return "Write `who` beside `when`; it says who may start the workflow."
    if name.partition("_")[0] not in _EXCLUDING:
        return None
    if "channels" in keys:
        return (
            "List the channels that start the workflow, because channels cannot be excluded: `channels: "
            '["#incidents", "#team-*"]`.'
        )
    if not keys:
        return "Remove it; this trigger has no conditions."
    listed = " or ".join(f"`{key}`" for key in keys)
    return f"Describe the events that start the workflow with {listed}, because events cannot be excluded."
