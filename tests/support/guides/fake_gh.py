"""A stand-in for `gh`: one pull request of a bare repository, with the reviews and comments of a file."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jq

ME = "github-actions[bot]"


def answer(folder: Path, words: list[str]) -> str:
    """Return what `gh` prints."""
    file = folder / "hub.json"
    hub: dict[str, Any] = json.loads(file.read_text())
    match words:
        case ["api", *rest]:
            path = next(word for word in rest if word.startswith("repos/"))
            if "--method" in rest:
                body = Path(rest[-1].removeprefix("body=@")).read_text()
                hub["comments"] = [{"id": 1, "user": {"login": ME}, "body": body}]
                file.write_text(json.dumps(hub))
                return ""
            query = rest[rest.index("--jq") + 1]
            return "\n".join(_plain(value) for value in jq.compile(query).input_value(read(folder, hub, path)))
        case ["run", "list", *rest]:
            return "71" if "pull_request" in rest else ""
        case ["run", "view", "71", *_]:
            return "72"
        case ["run", "rerun", *rest]:
            file.write_text(json.dumps({**hub, "rerun": " ".join(rest[-2:])}))
            return ""
        case ["auth", "setup-git"]:
            return ""
        case _:
            raise SystemExit(f"The stand-in knows no {words}.")


def read(folder: Path, hub: dict[str, Any], path: str) -> Any:
    """Return what the API has at a path."""
    branch = hub.get("branch", "edit")
    changed = _git(folder, "diff", "--name-only", f"main...{branch}").splitlines()
    match path.split("/")[3:]:
        case ["pulls", "7"]:
            head = {"sha": _git(folder, "rev-parse", branch)}
            said = {"changed_files": len(changed), "base": {"ref": "main"}}
            return {"head": head, "user": {"login": hub["author"]}, **said}
        case ["pulls", "7", "files"]:
            return [{"filename": name} for name in changed]
        case ["pulls", "7", "reviews"]:
            return hub["reviews"]
        case _:
            return hub["comments"]


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder / "origin.git", capture_output=True, text=True, check=True)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in answer(Path(sys.argv[1]), sys.argv[2:]).splitlines())
