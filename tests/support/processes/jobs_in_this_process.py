"""Jobs without a helper: what they do and say is the same, and a test can look inside."""

from gofer.files.child import Job
from gofer.files.child_wire import Packet
from gofer.files.document_jobs import JOBS
from gofer.files.fork import execute
from gofer.values.errors import ToolError


class InThisProcess:
    """Stands in for `Children`; for nothing that is made to hurt."""

    async def run(self, job: Job) -> Packet:
        packet = execute(JOBS, Packet({"job": job.name, **job.fields}, job.data))
        if "error" in packet.fields:
            raise ToolError(str(packet.fields["error"]), code=str(packet.fields["code"]))
        assert "failed" not in packet.fields, packet.fields
        return packet

    def close(self) -> None:
        """There is nothing to close."""
