"""The settings without which the real systems cannot be served, each with where an operator finds its value."""

from gofer.app.settings import Settings
from gofer.sources.manuals import WORKPLACE
from gofer.sources.receivers import RECEIVERS
from gofer.values.errors import ConfigError

_MODEL = (
    "OPENAI_API_KEY is missing: write your provider's key, or OPENAI_BASE_URL for a compatible endpoint, or "
    "MODEL_BASE_URLS for endpoints of agents/defaults.yaml."
)


def check_complete(settings: Settings) -> None:
    """Raise ConfigError with one line for each setting that is missing or of the wrong kind."""
    wrong = [sentence for spec in RECEIVERS for sentence in spec.missing(settings.sources)]
    if not settings.has_model:
        wrong.append(_MODEL)
    wrong += [sentence for spec in RECEIVERS for sentence in spec.confused(settings.sources)]
    if wrong:
        raise ConfigError("\n".join([*wrong, f"Write them into .env or the environment; see {WORKPLACE.guide}."]))
