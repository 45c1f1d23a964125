"""Jobs without a helper process, with the same work and texts inside the process of the test."""

from gofer.files.child import Job
from gofer.files.child_wire import Packet
from gofer.files.document_jobs import jobs
from gofer.files.fork import execute
from gofer.values.errors import ToolError

JOBS = jobs()


class InThisProcess:
    """A replacement for `Children`, for harmless documents only."""

    async def run(self, job: Job) -> Packet:
        packet = execute(JOBS, Packet({"job": job.name, **job.fields}, job.data))
        if "error" in packet.fields:
            raise ToolError(str(packet.fields["error"]), code=str(packet.fields["code"]))
        assert "failed" not in packet.fields, packet.fields
        return packet

    def close(self) -> None:
        """Do nothing: there is no process to close."""
