"""The search by JQL, for a part of the language: clauses joined by AND, then ORDER BY.

Anything else is refused as Jira refuses a mistake.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from gofer_simulators.jira.adf import plain
from gofer_simulators.jira.site import Issue, JiraRefusal, Site

_TOKEN = re.compile(
    r"""\s*(?:(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<call>currentUser\(\))"""
    r"""|(?P<operator>!=|>=|<=|=|~|>|<)|(?P<mark>[(),])|(?P<word>cf\[\d+\]|[\w.:@+-]+))"""
)
_SPECIAL = re.compile(r"[+&|!(){}\[\]^~*?:/]")
_AGO = re.compile(r"-(\d{1,12})([mhdw])")
_UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_EXACT: dict[str, Callable[[Issue], set[str]]] = {
    "project": lambda issue: {issue.project},
    "labels": lambda issue: set(issue.labels),
    "key": lambda issue: {issue.key, issue.id},
    "status": lambda issue: {issue.status},
    "issuetype": lambda issue: {issue.type},
    "creator": lambda issue: {issue.creator},
    "reporter": lambda issue: {issue.reporter},
    "assignee": lambda issue: {issue.assignee},
}
_TEXTS: dict[str, Callable[[Issue], str]] = {
    "summary": lambda issue: issue.summary,
    "text": lambda issue: " ".join(
        [issue.summary, plain(issue.description or {}), *(plain(comment.body) for comment in issue.comments)]
    ),
}
_TIMES: dict[str, Callable[[Issue], float]] = {
    "created": lambda issue: issue.created,
    "updated": lambda issue: issue.updated,
}
_ORDERS: dict[str, Callable[[Issue], tuple[str, float, int]]] = {
    "created": lambda issue: ("", issue.created, int(issue.id)),
    "updated": lambda issue: ("", issue.updated, int(issue.id)),
    "key": lambda issue: (issue.project, float(issue.key.rpartition("-")[2]), 0),
}
_ALIASES = {"issuekey": "key", "issue": "key", "id": "key", "type": "issuetype", "label": "labels"}


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str


def search(site: Site, jql: str, issues: list[Issue]) -> list[Issue]:
    """Return the issues that match a query, in the order of the query. Raises JiraRefusal(400)."""
    tokens = _tokens(jql)
    split = next((i for i, token in enumerate(tokens) if _is_keyword(token, "ORDER")), len(tokens))
    clauses = tokens[:split]
    order = tokens[split:]
    if not clauses:
        raise JiraRefusal(
            400,
            "Unbounded JQL queries are not allowed here. Please add a search restriction to your query.",
        )
    for test in _tests(site, clauses):
        issues = [issue for issue in issues if test(issue)]
    return _ordered(issues, order)


def _tokens(jql: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    end = len(jql.rstrip())
    while at < end:
        match = _TOKEN.match(jql, at)
        if not match or match.lastgroup is None:
            raise _mistake(f"The character '{jql[at:].strip()[:1]}' is a reserved JQL character.")
        found.append(_Token(match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return found


def _tests(site: Site, tokens: list[_Token]) -> list[Callable[[Issue], bool]]:
    tests: list[Callable[[Issue], bool]] = []
    rest = tokens
    while True:
        test, rest = _clause(site, rest)
        tests.append(test)
        if not rest:
            return tests
        if not _is_keyword(rest[0], "AND"):
            raise _mistake(f"Expecting either 'OR' or 'AND' but got '{rest[0].text}'.")
        rest = rest[1:]


def _clause(site: Site, tokens: list[_Token]) -> tuple[Callable[[Issue], bool], list[_Token]]:
    if len(tokens) < 3:
        raise _mistake("Expecting operator or value before the end of the query.")
    name = tokens[0].text.lower()
    if name.startswith("cf[") and [token.text.upper() for token in tokens[1:4]] == ["IS", "NOT", "EMPTY"]:
        id_ = f"customfield_{name[3:-1]}"
        return (lambda issue: bool(issue.own.get(id_))), tokens[4:]
    name = _ALIASES.get(name, name)
    if name not in (*_EXACT, *_TEXTS, *_TIMES):
        raise JiraRefusal(400, f"Field '{tokens[0].text}' does not exist or you do not have permission to view it.")
    operator = tokens[1].text.lower()
    values = [tokens[2]]
    rest = tokens[3:]
    if operator == "in" and tokens[2].text == "(":
        values, rest = _listed(tokens[3:])
    elif operator == "in" or tokens[1].kind != "operator" or tokens[2].kind not in ("string", "word", "call"):
        raise _mistake(f"Expecting operator but got '{tokens[1].text}'.")
    texts = [_value(site, value) for value in values]
    return _test(site, name, operator, texts), rest


def _listed(tokens: list[_Token]) -> tuple[list[_Token], list[_Token]]:
    end = next((i for i, token in enumerate(tokens) if token.text == ")"), None)
    if not end:
        raise _mistake("Expecting ')' before the end of the query.")
    return [token for token in tokens[:end] if token.kind != "mark"], tokens[end + 1 :]


def _test(site: Site, name: str, operator: str, values: list[str]) -> Callable[[Issue], bool]:
    if name in _TIMES and operator in (">=", "<=", ">", "<"):
        moment = site.clock() - _seconds_ago(values[0])
        read = _TIMES[name]
        if operator[0] == ">":
            return lambda issue: read(issue) >= moment
        return lambda issue: read(issue) <= moment
    if name in _TEXTS and operator == "~":
        words = _words(values[0], name)
        read_text = _TEXTS[name]
        return lambda issue: words <= set(re.findall(r"\w+", read_text(issue).lower()))
    if name in _EXACT and operator in ("=", "!=", "in"):
        _check_values(site, name, values)
        lowered = {value.lower() for value in values}
        read_values = _EXACT[name]
        return lambda issue: ({each.lower() for each in read_values(issue)}.isdisjoint(lowered)) == (operator == "!=")
    raise JiraRefusal(400, f"The operator '{operator}' is not supported by the '{name}' field.")


def _check_values(site: Site, name: str, values: list[str]) -> None:
    """Raise JiraRefusal(400) for an unknown project, key, status or type, as Jira does."""
    projects = [project for project in site.projects.values() if not project.hidden]
    choices: dict[str, set[str]] = {
        "project": {project.key for project in projects},
        "status": {status for project in projects for status in project.statuses},
        "issuetype": {type_.name for project in projects for type_ in project.types},
    }
    for value in values:
        if name == "key" and site.find(value) is None:
            raise JiraRefusal(400, f"An issue with key '{value}' does not exist for field 'key'.")
        if name in choices and value.lower() not in {choice.lower() for choice in choices[name]}:
            raise JiraRefusal(400, f"The value '{value}' does not exist for the field '{name}'.")


def _words(value: str, name: str) -> set[str]:
    if _SPECIAL.search(value) or not re.search(r"\w", value):
        raise JiraRefusal(400, f"Unable to parse the text '{value}' for field '{name}'.")
    return set(re.findall(r"\w+", value.lower()))


def _seconds_ago(value: str) -> float:
    found = _AGO.fullmatch(value)
    if not found:
        raise JiraRefusal(400, f"Date value '{value}' is invalid. Valid formats include '-5d'.")
    return int(found[1]) * _UNITS[found[2]]


def _value(site: Site, token: _Token) -> str:
    if token.kind == "call":
        return site.account
    if token.kind == "string":
        return re.sub(r"\\(.)", r"\1", token.text[1:-1])
    return token.text


def _ordered(issues: list[Issue], tokens: list[_Token]) -> list[Issue]:
    if not tokens:
        return sorted(issues, key=lambda issue: issue.created, reverse=True)
    words = [token.text.lower() for token in tokens]
    name = ""
    if len(words) in (3, 4) and words[1] == "by":
        name = _ALIASES.get(words[2], words[2])
    if name not in _ORDERS or (len(words) == 4 and words[3] not in ("asc", "desc")):
        raise _mistake("Expecting a field to order by, then ASC or DESC.")
    return sorted(issues, key=_ORDERS[name], reverse=words[-1] == "desc")


def _is_keyword(token: _Token, word: str) -> bool:
    return token.kind == "word" and token.text.upper() == word


def _mistake(what: str) -> JiraRefusal:
    return JiraRefusal(400, f"Error in the JQL Query: {what}")
