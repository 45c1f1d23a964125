"""The JSON Schema of eval files, for editors."""

from gofer.evals.eval_file import Eval
from gofer.workflows.field_descriptions import described_schema, schema_text


def eval_schema() -> str:
    """Return the JSON Schema of a file in `evals/` as text."""
    return schema_text("An eval of Gofer", described_schema(Eval))
