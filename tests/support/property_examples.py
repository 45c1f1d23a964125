"""The number of examples of properties whose examples cost more or less than others."""

from hypothesis import settings


def examples(share: float) -> settings:
    """Scale the examples of the current profile: 30 in `make test`, 1,000 in `make test-long`."""
    return settings(max_examples=max(1, round(settings.default.max_examples * share)))
