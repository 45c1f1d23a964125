"""What stands below a message of Gofer."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Provenance:
    """What stands below a message of Gofer: what the run wrote, the link to the prompt of the workflow, and the link to
    the run unless it is private.
    """

    workflow: str
    prompt_url: str
    """The link to the prompt; empty for a message that a message with the links follows."""
    run: str
    run_url: str | None
    wrote: str = ""
    """What the run wrote outside, in one line of plain text; empty for a message that is not the end of the answer."""

    @property
    def bare(self) -> "Provenance":
        """The provenance of a message below which nothing stands."""
        return Provenance(workflow=self.workflow, prompt_url="", run=self.run, run_url=None)
