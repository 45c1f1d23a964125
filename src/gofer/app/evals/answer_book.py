"""The recorded answers and the scripts of a folder of evals, read once for each eval file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gofer.evals.answers import FOLDER, AnswerFile, RecordedAnswer, RecordedPlay, read_answers
from gofer.evals.load import LoadedEval
from gofer.evals.rows import base_name
from gofer.values.errors import ConfigError
from gofer.values.model_script import Script, load_scripts

SCRIPTS = "scripts"
"""The subfolder of `evals/` with the scripts from which answers can be recorded."""


@dataclass(slots=True)
class AnswerBook:
    """The recorded answers and the scripts of the evals in a folder."""

    folder: Path
    _answers: dict[str, AnswerFile] = field(default_factory=dict[str, AnswerFile])
    _by_request: dict[str, Mapping[str, RecordedAnswer]] = field(
        default_factory=dict[str, Mapping[str, RecordedAnswer]]
    )
    _scripts: dict[str, Sequence[Script]] = field(default_factory=dict[str, Sequence[Script]])
    _new: dict[tuple[str, str], dict[int, RecordedPlay]] = field(
        default_factory=dict[tuple[str, str], dict[int, RecordedPlay]]
    )
    """The plays that were recorded now, by eval file and case, and by their number."""

    def answers(self, eval_name: str) -> AnswerFile:
        """Return the recorded answers of an eval file; none without a file. Raises ConfigError."""
        if eval_name not in self._answers:
            path = self._path(eval_name)
            text = _read(path)
            self._answers[eval_name] = AnswerFile()
            if text is not None:
                self._answers[eval_name] = read_answers(text, str(path))
        return self._answers[eval_name]

    def by_request(self, loaded: LoadedEval) -> Mapping[str, RecordedAnswer]:
        """Return the recorded answers of the cases of an eval file by the hash of their request. Raises ConfigError."""
        if loaded.name not in self._by_request:
            self._by_request[loaded.name] = self.answers(loaded.name).by_request(self._names(loaded))
        return self._by_request[loaded.name]

    def scripts(self, eval_name: str, case: str) -> Sequence[Script]:
        """Return the scripts of a case: those named after it (`<case>` or `<case>.<part>`), and else all of the file.

        A workflow that asks no model needs no file. Raises ConfigError.
        """
        if eval_name not in self._scripts:
            path = self.folder / SCRIPTS / f"{eval_name}.yaml"
            text = _read(path)
            self._scripts[eval_name] = ()
            if text is not None:
                self._scripts[eval_name] = load_scripts(text, str(path))
        every = self._scripts[eval_name]
        for name in (case, base_name(case)):
            own = [script for script in every if script.name == name or script.name.startswith(f"{name}.")]
            if own:
                return own
        return every

    def script_file(self, eval_name: str) -> str:
        """Return the file of the scripts of an eval file, from the root of the repository, for people."""
        return f"{self.folder.name}/{SCRIPTS}/{eval_name}.yaml"

    def plays(self, eval_name: str, case: str) -> Sequence[RecordedPlay]:
        """Return the recorded plays of a case; none for a case without answers. Raises ConfigError."""
        return self.answers(eval_name).plays(case)

    def has_script(self, eval_name: str, case: str) -> bool:
        """Return whether a script is named after a case. Raises ConfigError."""
        return any(script.name.partition(".")[0] == case for script in self.scripts(eval_name, case))

    def keep(self, loaded: LoadedEval, case: str, number: int, answers: RecordedPlay) -> None:
        """Write the answers of the play `number` of a case at once, so that no later end of the suite loses them.

        The first of them replace all earlier plays of the case. A play that asked no model replaces nothing. Answers of
        cases that do not exist any more are removed. Raises ConfigError.
        """
        if not answers:
            return
        new = self._new.setdefault((loaded.name, case), {})
        new[number] = answers
        plays = {**self.answers(loaded.name).cases, case: [new[number] for number in sorted(new)]}
        names = self._names(loaded)
        self._answers[loaded.name] = AnswerFile({name: plays[name] for name in plays if name in names})
        self._by_request.pop(loaded.name, None)
        self._write(loaded.name)

    def _write(self, eval_name: str) -> None:
        path = self._path(eval_name)
        partial = path.with_suffix(".partial")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(self._answers[eval_name].to_text(), encoding="utf-8")
            partial.replace(path)
        except OSError as error:
            raise ConfigError(f"{path} cannot be written ({error.strerror}); make it writable.") from error

    def _names(self, loaded: LoadedEval) -> frozenset[str]:
        """Return the cases of an eval file. Each golden is a file of its own, and all are cases of one name."""
        if loaded.is_golden:
            return frozenset(path.stem for path in loaded.path.parent.glob("*.yaml"))
        return frozenset(case.name for case in loaded.eval.cases)

    def _path(self, eval_name: str) -> Path:
        return self.folder / FOLDER / f"{eval_name}.json"


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read as text; correct it or remove it.") from error
