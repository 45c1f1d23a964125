"""The API of the simulated Notion over HTTP: token, version, capabilities, error bodies and files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import gofer_simulators.notion.content as content
import gofer_simulators.notion.databases as databases
import gofer_simulators.notion.pages as pages
from gofer_simulators.faults import Fault, Faults
from gofer_simulators.http_server import METHODS, Resource, find, origin, resource, respond
from gofer_simulators.json_values import is_object, parsed
from gofer_simulators.notion.api_request import STATUS, Answer, ApiRequest, NotionRefusal
from gofer_simulators.notion.forms import BODY
from gofer_simulators.notion.workspace import FILE_SECONDS, Workspace

VERSION = "2026-03-11"


@dataclass(frozen=True, slots=True)
class Call:
    """The function of one call, and the capability that the call requires, if any."""

    run: Callable[[Workspace, ApiRequest], Answer]
    capability: str = ""


CALLS: Sequence[Resource[Call]] = (
    resource("POST /v1/pages", Call(pages.create_page, "insert_content")),
    resource("GET /v1/pages/{id}", Call(pages.get_page, "read_content")),
    resource("GET /v1/pages/{id}/properties/{property}", Call(pages.get_property, "read_content")),
    resource("PATCH /v1/pages/{id}", Call(pages.update_page, "update_content")),
    resource("GET /v1/pages/{id}/markdown", Call(pages.get_markdown, "read_content")),
    resource("PATCH /v1/pages/{id}/markdown", Call(pages.update_markdown, "update_content")),
    resource("GET /v1/blocks/{id}", Call(content.get_block, "read_content")),
    resource("GET /v1/blocks/{id}/children", Call(content.get_children, "read_content")),
    resource("PATCH /v1/blocks/{id}/children", Call(content.append_children, "insert_content")),
    resource("GET /v1/databases/{id}", Call(databases.get_database, "read_content")),
    resource("GET /v1/data_sources/{id}", Call(databases.get_data_source, "read_content")),
    resource("POST /v1/data_sources/{id}/query", Call(databases.query_data_source, "read_content")),
    resource("POST /v1/search", Call(databases.search, "read_content")),
    resource("GET /v1/comments", Call(content.list_comments, "read_comments")),
    resource("GET /v1/comments/{id}", Call(content.get_comment, "read_comments")),
    resource("POST /v1/comments", Call(content.create_comment, "insert_comments")),
    resource("GET /v1/users", Call(databases.list_users, "read_user_information")),
    resource("GET /v1/users/me", Call(databases.get_me)),
    resource("GET /v1/users/{id}", Call(databases.get_user, "read_user_information")),
)


class WebApi:
    """The API of one connection."""

    def __init__(self, workspace: Workspace, token: str, capabilities: frozenset[str], faults: Faults) -> None:
        self._workspace = workspace
        self._token = token
        self._capabilities = capabilities
        self._faults = faults
        self.log: list[tuple[str, str]] = []
        """Method and path of every request so far."""

    def routes(self) -> list[Route]:
        """Return the routes of the app."""
        return [
            Route("/v1/{rest:path}", self._answer, methods=METHODS),
            Route("/{space}/{block}/{name:path}", self._file, methods=["GET"]),
        ]

    async def _answer(self, request: Request) -> Response:
        body = await request.body()
        self._workspace.origin = origin(request)
        self.log.append((request.method, request.url.path))
        return await respond(self._faults, request, lambda: self._call(request, body), _fault_response)

    async def _file(self, request: Request) -> Response:
        """Answer for the storage of files, which accepts only the signature in the address and no token."""
        query = request.query_params
        block = request.path_params["block"]
        if "authorization" in request.headers:
            return _storage_error(400, "InvalidArgument", "Only one auth mechanism allowed")
        date = query.get("X-Amz-Date", "")
        if query.get("X-Amz-Signature") != self._workspace.signature(block, date):
            return _storage_error(403, "SignatureDoesNotMatch", "The signature does not match.")
        at = datetime.strptime(date, "%Y%m%dT%H%M%S%z").timestamp()
        if self._workspace.clock() > at + FILE_SECONDS:
            return _storage_error(403, "AccessDenied", "Request has expired")
        found = next((one for one in self._workspace.stored_files() if one.id == block), None)
        if found is None or found.file is None:
            return _storage_error(404, "NoSuchKey", "The specified key does not exist.")
        return Response(found.file[1], media_type="application/octet-stream")

    async def _call(self, request: Request, raw: bytes) -> Response:
        try:
            call, path = self._authorized_call(request)
            query = {name: request.query_params.getlist(name) for name in request.query_params}
            return JSONResponse(call.run(self._workspace, ApiRequest(path, query, _body(request, raw))))
        except NotionRefusal as refusal:
            return _refusal_response(refusal.status, refusal.code, str(refusal))

    def _authorized_call(self, request: Request) -> tuple[Call, dict[str, str]]:
        if request.headers.get("authorization") != f"Bearer {self._token}":
            raise NotionRefusal("unauthorized", "API token is invalid.")
        version = request.headers.get("notion-version", "")
        if not version:
            raise NotionRefusal("missing_version", "Notion-Version header failed validation: should be defined.")
        if version != VERSION:
            raise NotionRefusal("validation_error", f"Notion-Version header should be {VERSION}, was {version!r}.")
        found = find(CALLS, request.method, request.url.path)
        if found is None:
            raise NotionRefusal("invalid_request_url", "Invalid request URL.")
        call, path = found
        if call.capability and call.capability not in self._capabilities:
            raise NotionRefusal("restricted_resource", "Insufficient permissions for this endpoint.")
        return call, path


def _storage_error(status: int, code: str, message: str) -> Response:
    return Response(f"<Error><Code>{code}</Code><Message>{message}</Message></Error>", status, media_type="text/xml")


def _fault_response(fault: Fault) -> Response:
    if fault.kind == "expired_token":
        return _refusal_response(401, "unauthorized", "API token is invalid.")
    code = next((name for name, status in STATUS.items() if status == fault.status), "")
    return _refusal_response(fault.status, code, "planned", dict(fault.headers))


def _body(request: Request, raw: bytes) -> dict[str, object]:
    if request.method == "GET":
        return {}
    if not request.headers.get("content-type", "").startswith("application/json"):
        raise NotionRefusal("invalid_json", "Error parsing JSON body.")
    try:
        body = parsed(raw)
    except ValueError:
        raise NotionRefusal("invalid_json", "Error parsing JSON body.") from None
    if len(raw) > BODY:
        raise NotionRefusal("validation_error", f"body failed validation: body should have at most {BODY} bytes.")
    if not is_object(body):
        raise NotionRefusal("validation_error", "body failed validation: body should be an object")
    return body


def _refusal_response(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> Response:
    body: Answer = {"object": "error", "status": status, "code": code, "message": message, "request_id": "simulated"}
    if code in ("rate_limited", "service_overload"):
        body["additional_data"] = {"rate_limit_reason": "connection"}
    return JSONResponse(body, status, headers)
