"""The words of Slack that identify people or their company."""

from gofer.sources.part_values import IdentifyingWords

IDENTIFYING = IdentifyingWords(
    codes=(
        r"(?<![A-Za-z0-9])(?:xox[a-z]|xapp|xwfp)-[A-Za-z0-9-]{8,}",
        r"(?<![A-Za-z0-9_])(?=[A-Z]*[0-9])[UWCDGTESBAF][A-Z0-9]{7,11}(?![A-Za-z0-9_])",
        r"(?<=<@)[UW][A-Z0-9]{6,}",
        r"(?<=<#)[CDG][A-Z0-9]{6,}",
        r"(?<=hooks\.slack\.com/)(?:services|workflows|triggers)/([A-Za-z0-9/_-]{12,})",
    ),
    companies=(r"(?i)(?<![a-z0-9.-])([a-z0-9][a-z0-9-]{1,62})\.(?:enterprise\.)?slack\.com(?![a-z0-9])",),
    people=(
        r"(?m)^[ >]*@([^\n@:;]{2,80}?) at [0-9]{4}-[0-9]{2}-[0-9]{2}",
        r"(?m)^(?:- )?@([^\n@:;]{2,80}): handle @",
        r"(?m)^@([^\n@:;]{2,80}?) (?:mentioned you|wrote to you|wrote the message|put :|created the|joined #|replied)",
        r"(?m)^The request, in the words of @([^\n@:;]{2,80}):",
        r"handle @([\w.-]{2,80})",
        r"real name ([^\n;]{2,80})",
        r"<@[UW][A-Z0-9]+\|([^<>|]{2,80})>",
    ),
    hosts=frozenset({"slack", "files", "hooks", "edgeapi", "app", "api"}),
)
