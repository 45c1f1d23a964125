"""`gofer manifest`: prints the manifests of the apps that the workflows of this folder need."""

import argparse
import json
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from gofer.app.settings import read_settings
from gofer.app.toolbox import build_tools
from gofer.sources.apps import APPS
from gofer.sources.manual import listed
from gofer.sources.manuals import WORKPLACE_MANUAL
from gofer.sources.receivers import PATHS
from gofer.sources.serving import CALLBACK, AppAddress, AppSpec
from gofer.sources.workflow_files import load_catalog
from gofer.values.errors import ConfigError

_POSTS = listed(f"{app.system} posts to {PATHS[app.source]}" for app in APPS)
EPILOG = f"""examples:
  gofer manifest --socket                         on your own machine: Gofer opens the connection
  gofer manifest --url https://gofer.example.com  on a server: {_POSTS}
  gofer manifest --url https://… --sign-in        with {WORKPLACE_MANUAL.system} as the sign-in to the pages
  gofer manifest --socket --url https://… --sign-in
                                                  the same, and Gofer opens the connection
{" ".join(app.installing for app in APPS)}"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer manifest`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument("--socket", action="store_true", help="receive deliveries through Socket Mode")
    parser.add_argument("--url", default="", metavar="URL", help="receive deliveries at this https address of Gofer")
    parser.add_argument(
        "--sign-in",
        action="store_true",
        help=f"let colleagues sign in to the pages at --url with {WORKPLACE_MANUAL.system}",
    )
    parser.add_argument(
        "--name", default="Gofer", metavar="NAME", help="the name that colleagues mention (default Gofer)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of YAML")


def execute(arguments: argparse.Namespace) -> int:
    """Print the manifest of each app."""
    if arguments.sign_in and not arguments.url:
        raise ConfigError("--sign-in needs --url, the https address at which colleagues open the pages.")
    url = _checked(arguments.url, socket=arguments.socket, sign_in=arguments.sign_in)
    catalog = load_catalog(Path.cwd() / "agents")
    workflows = [loaded.workflow for loaded in catalog.workflows.values()]
    # The tools are not called; the manifest needs only their permissions.
    tools = tuple(build_tools(read_settings({})).values())
    sign_in = f"{url}{CALLBACK}" * arguments.sign_in
    posted_to = url
    if arguments.socket:
        # The URL is that of the pages only, because Gofer opens the connection for deliveries.
        posted_to = ""
    address = AppAddress(arguments.name.strip(), posted_to, arguments.socket, sign_in)
    for app in APPS:
        _check_name(app, address.name)
        document = app.manifest(workflows, tools, address)
        if arguments.json:
            print(json.dumps(document, indent=2))
        else:
            print(yaml.safe_dump(document, sort_keys=False).rstrip())
    return 0


def _check_name(app: AppSpec, name: str) -> None:
    if not 0 < len(name) <= app.longest_name:
        limit = f"--name must have 1 to {app.longest_name} characters"
        raise ConfigError(f"{limit}; {app.system} does not allow longer names of apps.")


def _checked(url: str, *, socket: bool, sign_in: bool) -> str:
    """Return the base URL without the path of a receiver; empty without one. Raises ConfigError."""
    if bool(url) == socket and not (socket and sign_in):
        raise ConfigError(
            f"Say how {WORKPLACE_MANUAL.system} reaches Gofer: --socket for your own machine, or --url "
            f"https://… for a server."
        )
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises ValueError for an invalid port
    except ValueError:
        parts = urlsplit("")
    if parts.scheme != "https" or not parts.hostname or parts.query or parts.fragment:
        raise ConfigError("--url must be the https address of your server, such as https://gofer.example.com.")
    address = url.rstrip("/")
    for app in APPS:
        address = address.removesuffix(PATHS[app.source])
    return address
