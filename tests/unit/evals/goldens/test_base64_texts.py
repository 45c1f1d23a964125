"""Base64 over several lines is read and written as one text."""

import base64

import pytest

from gofer.evals.goldens.base64_texts import texts_in_base64, within_base64

INNER = "mail from Zora Quimby " * 12


@pytest.mark.parametrize("line_break", ["\n", "\r\n", r"\n"])
@pytest.mark.parametrize("width", [60, 64, 76])
def test_base64_in_lines_is_changed_as_one_text(width: int, line_break: str) -> None:
    plain = base64.b64encode(INNER.encode()).decode()
    lines = [plain[at : at + width] for at in range(0, len(plain), width)]
    text = f"begin {line_break.join(lines)} end"
    assert INNER in set(texts_in_base64(text))
    changed = within_base64(text, lambda inner: inner.replace("Zora", "Vexu"))
    assert len(changed) == len(text)
    assert changed.count(line_break) == len(lines) - 1
    assert base64.b64decode(changed.removeprefix("begin ").removesuffix(" end").replace(line_break, "")).decode() == (
        INNER.replace("Zora", "Vexu")
    )
