import copy
import pickle

import pytest

from gofer.values.secret import Secret


def test_secret_has_no_printable_form() -> None:
    secret = Secret("xoxb-1")
    assert {repr(secret), str(secret), f"{secret}", f"{secret!r}", "%s" % secret} == {"***"}  # noqa: UP031
    assert secret.reveal() == "xoxb-1"


def test_secret_cannot_be_pickled_or_copied() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(Secret("xoxb-1"))
    with pytest.raises(TypeError):
        copy.copy(Secret("xoxb-1"))


def test_empty_secret_is_false() -> None:
    assert not Secret("")
    assert Secret("x")
