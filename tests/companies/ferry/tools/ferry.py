"""The booking desk of a ferry line."""

from typing import Any

from gofer.tool import Arguments, Call, Origin, Place, ToolError, ToolResult, tool


class Booking(Arguments):
    booking: str


class Move(Booking):
    sailing: str


class Amount(Booking):
    amount: int


class Claim(Booking):
    reason: str


class Port(Arguments):
    port: str


def desk(origin: Origin, arguments: Booking) -> Place:
    return Place("ferry", "other", "desk")


async def _closed(call: Call) -> ToolResult:
    raise ToolError("The desk is closed.")


def _said(value: object) -> ToolResult:
    return ToolResult(f"{value}", "asked the desk")


def _of(state: dict[str, Any], booking: str) -> dict[str, Any]:
    if booking not in state["bookings"]:
        raise ToolError(f"No booking {booking}.")
    return state["bookings"][booking]


@tool(effect="read")
async def ferry_booking(call: Call, arguments: Booking) -> ToolResult:
    """Look up a booking."""
    return await _closed(call)


@ferry_booking.mock
def _booking(arguments: Booking, state: dict[str, Any]) -> ToolResult:
    return _said(_of(state, arguments.booking))


@tool(effect="read")
async def ferry_sailings(call: Call, arguments: Port) -> ToolResult:
    """List sailings to a port with free seats."""
    return await _closed(call)


@ferry_sailings.mock
def _sailings(arguments: Port, state: dict[str, Any]) -> ToolResult:
    return _said({name: one for name, one in state["sailings"].items() if one["to"] == arguments.port})


@tool(effect="read")
async def ferry_claims(call: Call, arguments: Booking) -> ToolResult:
    """List the claims of a booking."""
    return await _closed(call)


@ferry_claims.mock
def _claims(arguments: Booking, state: dict[str, Any]) -> ToolResult:
    return _said(_of(state, arguments.booking)["claims"])


@tool(effect="read")
async def ferry_points(call: Call, arguments: Booking) -> ToolResult:
    """Read a passenger's points."""
    return await _closed(call)


@ferry_points.mock
def _points(arguments: Booking, state: dict[str, Any]) -> ToolResult:
    return _said(_of(state, arguments.booking)["points"])


@tool(effect="keyed", place=desk)
async def ferry_move(call: Call, arguments: Move) -> ToolResult:
    """Move a booking to another sailing."""
    return await _closed(call)


@ferry_move.mock
def _move(arguments: Move, state: dict[str, Any]) -> ToolResult:
    booking = _of(state, arguments.booking)
    state["sailings"][booking["sailing"]]["free"] += booking["seats"]
    state["sailings"][arguments.sailing]["free"] -= booking["seats"]
    booking["sailing"] = arguments.sailing
    return _said("Moved.")


@tool(effect="keyed", place=desk)
async def ferry_cancel(call: Call, arguments: Booking) -> ToolResult:
    """Cancel a booking."""
    return await _closed(call)


@ferry_cancel.mock
def _cancel(arguments: Booking, state: dict[str, Any]) -> ToolResult:
    _of(state, arguments.booking)["status"] = "cancelled"
    return _said("Cancelled.")


@tool(effect="keyed", place=desk)
async def ferry_refund(call: Call, arguments: Amount) -> ToolResult:
    """Pay euros back."""
    return await _closed(call)


@ferry_refund.mock
def _refund(arguments: Amount, state: dict[str, Any]) -> ToolResult:
    _of(state, arguments.booking)["refund"] = arguments.amount
    return _said("Refunded.")


@tool(effect="keyed", place=desk)
async def ferry_resize(call: Call, arguments: Amount) -> ToolResult:
    """Set the seats of a booking."""
    return await _closed(call)


@ferry_resize.mock
def _resize(arguments: Amount, state: dict[str, Any]) -> ToolResult:
    _of(state, arguments.booking)["seats"] = arguments.amount
    return _said("Resized.")


@tool(effect="keyed", place=desk)
async def ferry_claim(call: Call, arguments: Claim) -> ToolResult:
    """File a claim."""
    return await _closed(call)


@ferry_claim.mock
def _claim(arguments: Claim, state: dict[str, Any]) -> ToolResult:
    _of(state, arguments.booking)["claims"].append(arguments.reason)
    return _said("Filed.")


@tool(effect="keyed", place=desk)
async def ferry_reward(call: Call, arguments: Amount) -> ToolResult:
    """Add points."""
    return await _closed(call)


@ferry_reward.mock
def _reward(arguments: Amount, state: dict[str, Any]) -> ToolResult:
    _of(state, arguments.booking)["points"] += arguments.amount
    return _said("Added.")
