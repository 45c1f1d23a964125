"""Which text do bytes stand for, whatever their encoding?"""

import codecs
import re

from gofer.errors import ToolError

_SAMPLE = 200_000
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_GUESSES = ("shift_jis", "euc_jp", "gb18030", "big5", "euc_kr", "cp1251", "koi8_r", "cp1252")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]")
# The most frequent characters of each script; a wrong guess gives rare ones.
_USUAL = {
    "shift_jis": re.compile(r"[ぁ-んァ-ヶー]"),
    "euc_jp": re.compile(r"[ぁ-んァ-ヶー]"),
    "gb18030": re.compile(
        r"[的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成"
        r"方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日文件系统数据报告，。]"
    ),
    "big5": re.compile(
        r"[的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成"
        r"方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日文件系統數據報告，。]"
    ),
    "euc_kr": re.compile(r"[가-힣]"),
    "cp1251": re.compile(r"[а-яё]"),
    "koi8_r": re.compile(r"[а-яё]"),
    "cp1252": re.compile(r"(?<=[A-Za-z])[À-ÖØ-öø-ÿ’]|[À-ÖØ-öø-ÿ](?=[a-z])|[–—“”„€°§«»¿¡]"),
}


def read(data: bytes) -> str:
    """The text with line feeds as its line ends, without control characters. Raises ToolError for what is no text."""
    return tidy(decoded(data))


def decoded(data: bytes, declared: str = "") -> str:
    """The text by its mark, by what it declares, as UTF-8, or by the likeliest of the old encodings."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace").removeprefix("\ufeff")
    try:
        return data.decode()
    except UnicodeDecodeError:
        pass
    for encoding in (declared, _unmarked_utf16(data)):
        if encoding and _known(encoding):
            return data.decode(encoding, "replace")
    sample = data[:_SAMPLE]
    # A few broken characters do not make a text in UTF-8 another one.
    loosely = sample.decode("utf-8", "replace")
    wrong = loosely.count("\ufffd")
    if sum(char > "\x7f" for char in loosely) - wrong > 5 * wrong:
        return data.decode("utf-8", "replace")
    return data.decode(_likeliest(sample), "replace")


def tidy(text: str) -> str:
    """The text without what no reader sees: control characters, and the line ends of other systems."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def _known(encoding: str) -> bool:
    try:
        # Python also calls compression an encoding, and refuses it here.
        b"xxxx".decode(encoding, "replace")
    except (LookupError, ValueError):
        return False
    return True


def _unmarked_utf16(data: bytes) -> str:
    sample = data[:_SAMPLE]
    low, high = sample[::2].count(0), sample[1::2].count(0)
    if high * 4 > len(sample) // 2 * 3:
        return "utf-16-le"
    if low * 4 > len(sample) // 2 * 3:
        return "utf-16-be"
    if b"\0" in sample:
        raise ToolError("The file is binary and has no text in it.", code="binary")
    return ""


def _likeliest(sample: bytes) -> str:
    return max(_GUESSES, key=lambda encoding: _likelihood(sample, encoding))


def _likelihood(sample: bytes, encoding: str) -> float:
    """The share of what is not ASCII that is usual in the encoding's languages, less what is impossible."""
    text = sample.decode(encoding, "replace")
    foreign = [char for char in text if char > "\x7f"]
    if not foreign:
        return 0.0
    usual, wrong = len(_USUAL[encoding].findall(text)), text.count("\ufffd")
    return (usual - 5 * wrong) / len(foreign)
