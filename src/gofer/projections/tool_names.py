"""The names of tools for texts without contents."""

UNNAMED = "a tool without a valid name"


def shown_tool(name: str) -> str:
    """Return the name of a tool. What a model wrote in its place and is no name may be any text, so it is not shown."""
    if name.isascii() and name.isidentifier():
        return name[:64]
    return UNNAMED
