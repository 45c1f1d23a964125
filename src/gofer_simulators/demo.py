"""The world and the model scripts of the demo, read from the YAML files beside this module."""

from collections.abc import Mapping
from importlib.resources import files
from typing import cast

import yaml

from gofer.values.model_script import Script, load_scripts
from gofer_simulators.free_questions import free_questions


def demo_world() -> Mapping[str, object]:
    """Return the world of the demo: a small company with a Slack workspace."""
    text = files("gofer_simulators").joinpath("worlds", "demo.yaml").read_text(encoding="utf-8")
    return cast(Mapping[str, object], yaml.load(text, Loader=yaml.CSafeLoader))


def demo_scripts() -> tuple[Script, ...]:
    """Return the answers of the offline model in the demo."""
    text = files("gofer_simulators").joinpath("scripts", "demo.yaml").read_text(encoding="utf-8")
    return (*load_scripts(text, "simulators/scripts/demo.yaml"), *free_questions())
