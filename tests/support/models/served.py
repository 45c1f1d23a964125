"""Models at the default endpoint, as tests name them."""

from gofer.models.served_model import ServedModel


def served(*names: str) -> tuple[ServedModel, ...]:
    return tuple(map(ServedModel, names))
