"""The guess of an encoding by the library chardet. `decoder.py` loads this module with the first guess."""

from collections.abc import Sequence

import chardet


def ranked(sample: bytes, encodings: Sequence[str]) -> Sequence[str]:
    """Return the names of the encodings that a text may have, the most probable first."""
    found = chardet.detect_all(
        sample,
        ignore_threshold=True,
        max_bytes=len(sample) + 1,
        compat_names=False,
        include_encodings=encodings,
    )
    return [str(candidate["encoding"]) for candidate in found if candidate["encoding"]]
