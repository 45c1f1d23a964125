"""The recorded answers and the scripts of a folder of evals, read once for each eval file."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gofer.evals.answers import FOLDER, AnswerFile, RecordedAnswer, read_answers
from gofer.evals.load import LoadedEval
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
    _new: dict[str, dict[str, Sequence[RecordedAnswer]]] = field(
        default_factory=dict[str, dict[str, Sequence[RecordedAnswer]]]
    )
    _cases: dict[str, Collection[str]] = field(default_factory=dict[str, Collection[str]])
    """The cases of the eval files with noted answers."""

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
            self._by_request[loaded.name] = self.answers(loaded.name).by_request(_names(loaded))
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
        own = [script for script in every if script.name == case or script.name.startswith(f"{case}.")]
        return own or every

    def script_file(self, eval_name: str) -> str:
        """Return the file of the scripts of an eval file, from the root of the repository, for people."""
        return f"{self.folder.name}/{SCRIPTS}/{eval_name}.yaml"

    def has_answers(self, eval_name: str, case: str) -> bool:
        """Return whether answers of a case were recorded. Raises ConfigError."""
        return bool(self.answers(eval_name).cases.get(case))

    def has_script(self, eval_name: str, case: str) -> bool:
        """Return whether a script is named after a case. Raises ConfigError."""
        return any(script.name.partition(".")[0] == case for script in self.scripts(eval_name, case))

    def keep(self, loaded: LoadedEval, case: str, answers: Sequence[RecordedAnswer]) -> None:
        """Note the answers of one play of a case. They replace all earlier answers of the case."""
        unique = {one.request: one for one in answers}
        self._new.setdefault(loaded.name, {})[case] = tuple(unique.values())
        self._cases[loaded.name] = _names(loaded)

    def write(self) -> None:
        """Write the noted answers, also those of other files after one that cannot be written. Raises ConfigError.

        The answers of other cases of a file stay, except those of cases that the eval does not have any more.
        """
        problems: list[ConfigError] = []
        for eval_name in self._new:
            try:
                self._write(eval_name)
            except ConfigError as error:
                problems.append(error)
        if problems:
            raise problems[0]

    def _write(self, eval_name: str) -> None:
        every: Mapping[str, Sequence[RecordedAnswer]] = {**self.answers(eval_name).cases, **self._new[eval_name]}
        kept = {case: tuple(answers) for case, answers in every.items() if case in self._cases[eval_name]}
        path = self._path(eval_name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(AnswerFile(cases=kept).to_text(), encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{path} cannot be written ({error.strerror}); make it writable.") from error

    def _path(self, eval_name: str) -> Path:
        return self.folder / FOLDER / f"{eval_name}.json"


def _names(loaded: LoadedEval) -> frozenset[str]:
    return frozenset(case.name for case in loaded.eval.cases)


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read as text; correct it or remove it.") from error
