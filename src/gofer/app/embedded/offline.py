"""The offline model: a server that answers from a script if no model is set up."""

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from gofer.app.embedded.server import serve
from gofer.app.settings import Settings
from gofer.values.errors import ConfigError
from gofer.values.model_script import Script
from gofer.values.secret import Secret
from gofer_simulators.demo import demo_scripts
from gofer_simulators.offline_model import offline_model


async def offline_unless_set_up(
    stack: contextlib.AsyncExitStack, settings: Settings, scripts: Sequence[Script] | None, *, simulated: bool
) -> Settings:
    """Return settings with a model: the one that is set up, or the offline model. Raises ConfigError.

    The offline model answers if no model is set up or if `scripts` are given, and only beside simulated systems or
    without any system.
    """
    if settings.has_model and scripts is None:
        return settings
    if not simulated and settings.reaches_people:
        # People in a real system would take the words of a script for an answer.
        raise ConfigError(
            "No model is set up, and Gofer never writes the offline model's answers into real systems. "
            "Set OPENAI_API_KEY, OPENAI_BASE_URL for a compatible endpoint, or MODEL_BASE_URLS for the endpoints of "
            "agents/defaults.yaml."
        )
    if scripts is None:
        scripts = demo_scripts()
    url = await stack.enter_async_context(serve(offline_model(scripts)))
    return replace(settings, openai_api_key=Secret(""), openai_base_url=f"{url}/v1", offline=True)


def model_in_words(settings: Settings) -> str:
    """Return a description of the model that answers, for people."""
    if settings.offline:
        return "the offline model: a script, not a language model"
    if not settings.has_default_endpoint:
        return "the models behind the endpoints of agents/defaults.yaml"
    return f"the model behind {urlsplit(settings.openai_base_url).hostname or 'the OpenAI API'}"
