"""What kind of content is a text, as far as vocabularies of models treat kinds differently?"""

import re
from typing import Literal

Content = Literal["prose", "code", "json", "cjk", "dense", "image"]
"""Words; program text and logs; JSON and tables; Chinese, Japanese, Korean; hashes and base64; what is looked at."""

SAMPLE = 8_192
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_SIGNS = re.compile(r"[^\w\s]|_")
_WORD = re.compile(r"[^\W\d_]+")


def content_of(text: str) -> Content:
    """The kind that most of a text is; of a long one by slices of it."""
    sample = text if len(text) <= SAMPLE else text[: SAMPLE // 2] + text[len(text) // 2 :][: SAMPLE // 2]
    letters = sum(map(len, _WORD.findall(sample)))
    if len(_CJK.findall(sample)) * 4 > len(sample):
        return "cjk"
    if sample.count('"') * 15 > len(sample):
        return "json"
    longest = max(map(len, sample.split()), default=0)
    if longest > 200 or letters * 2 < len("".join(sample.split())):
        return "dense"
    return "code" if len(_SIGNS.findall(sample)) * 12 > len(sample) else "prose"
