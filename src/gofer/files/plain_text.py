"""Is this content text, and what does it say?"""

_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_LOOKED_AT = 8_192


def decoded(content: bytes) -> str | None:
    """The text, or None for what is none."""
    encoding = next((name for mark, name in _BOMS if content.startswith(mark)), "utf-8")
    if encoding == "utf-8" and b"\0" in content[:_LOOKED_AT]:
        return None
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        # A text in an old encoding is better read with a few wrong letters than not at all.
        return None if b"\0" in content else content.decode("utf-8", "replace")
