"""The names of emoji: the names that mean the same emoji, and the characters of a name."""

import unicodedata
from collections.abc import Mapping, Sequence

_PUBLISHED = """
cn=flag-cn de=flag-de es=flag-es fr=flag-fr gb=uk=flag-gb it=flag-it jp=flag-jp kr=flag-kr ru=flag-ru us=flag-us
+1=thumbsup -1=thumbsdown barely_sunny=sun_behind_cloud bee=honeybee boat=sailboat book=open_book boom=collision
car=red_car crossed_fingers=hand_with_index_and_middle_fingers_crossed dolphin=flipper email=envelope
exclamation=heavy_exclamation_mark exploding_head=shocked_face_with_exploding_head
face_vomiting=face_with_open_mouth_vomiting
face_with_hand_over_mouth=smiling_face_with_smiling_eyes_and_hand_covering_mouth
face_with_raised_eyebrow=face_with_one_eyebrow_raised
face_with_symbols_on_mouth=serious_face_with_symbols_covering_mouth facepunch=punch feet=paw_prints fried_egg=cooking
hand=raised_hand hankey=poop=shit hocho=knife izakaya_lantern=lantern ladybug=lady_beetle laughing=satisfied
lightning=lightning_cloud man_and_woman_holding_hands=woman_and_man_holding_hands=couple mans_shoe=shoe
medical_symbol=staff_of_aesculapius memo=pencil men-with-bunny-ears-partying=man-with-bunny-ears-partying
middle_finger=reversed_hand_with_middle_finger_extended moon=waxing_gibbous_moon mostly_sunny=sun_small_cloud
mrs_claus=mother_christmas partly_sunny_rain=sun_behind_rain_cloud phone=telephone runner=running shirt=tshirt
shushing_face=face_with_finger_covering_closed_lips star-struck=grinning_face_with_star_eyes
the_horns=sign_of_the_horns tornado=tornado_cloud two_men_holding_hands=men_holding_hands
two_women_holding_hands=women_holding_hands women-with-bunny-ears-partying=woman-with-bunny-ears-partying
zany_face=grinning_face_with_one_large_and_one_small_eye
"""
"""The emoji that have several short names. Events and texts hold the first one, though people may write each."""
_SHOWN = """
white_check_mark=white_tick heavy_check_mark=heavy_tick ballot_box_with_check=ballot_box_with_tick
negative_squared_cross_mark=negative_squared_tick
squirrel=shipit white_large_square=white_square black_large_square=black_square
"""
"""Names that people see besides: in apps in British English, and as aliases that every new workspace has."""
NAMES: Mapping[str, Sequence[str]] = {
    name: row.split("=") for row in f"{_PUBLISHED} {_SHOWN}".split() for name in row.split("=")
}
"""The names of each emoji that has several, by each of its names. The name in events comes first."""
_SIGNS = "_+'-"
"""The ASCII characters of names besides letters and digits."""
LONGEST = 100
"""The most characters of a name."""


def names_of(emoji: str) -> Sequence[str]:
    """Return every name of an emoji, the one in events first, each with the skin tone of the given name."""
    name, mark, tone = unicodedata.normalize("NFC", emoji).partition("::")
    return [f"{one}{mark}{tone}" for one in NAMES.get(name, (name,))]


def spelled(emoji: str) -> str:
    """Return a name without the characters that no name of an emoji has."""
    return "".join(filter(_is_of_a_name, unicodedata.normalize("NFC", emoji)))[:LONGEST]


def _is_of_a_name(char: str) -> bool:
    if char.isascii():
        return char.isalnum() or char in _SIGNS
    # Letters, the marks that belong to them, digits, and punctuation of other scripts.
    return unicodedata.category(char)[0] in "LMNP"
