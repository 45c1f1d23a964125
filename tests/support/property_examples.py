"""How many examples a property gets whose examples cost more, or less, than those of others."""

from hypothesis import settings


def examples(share: float) -> settings:
    """This share of what the profile in use has: of 30 in `make test`, of 1,000 in `make test-long`."""
    return settings(max_examples=max(1, round(settings.default.max_examples * share)))
