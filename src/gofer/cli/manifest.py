"""`gofer manifest`: prints the Slack app that the workflows of this folder need."""

import argparse
import json
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from gofer.app.settings import read_settings
from gofer.app.toolbox import build_tools
from gofer.sources.slack.manifest import manifest
from gofer.sources.slack.page_requests import CALLBACK
from gofer.sources.workflow_files import load_catalog
from gofer.values.errors import ConfigError

EPILOG = """examples:
  gofer manifest --socket                         for a laptop: Gofer opens the connection
  gofer manifest --url https://gofer.example.com  for a server: Slack posts to /slack/events there
  gofer manifest --url https://… --sign-in        on AWS, where colleagues sign in to the pages with Slack
Paste it at https://api.slack.com/apps under Create New App, From a manifest; docs/slack-app.md has every step."""


def options(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `gofer manifest`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument("--socket", action="store_true", help="deliveries come through Socket Mode")
    parser.add_argument("--url", default="", metavar="URL", help="deliveries come to this https address of Gofer")
    parser.add_argument("--sign-in", action="store_true", help="colleagues sign in to the pages at --url with Slack")
    parser.add_argument("--name", default="Gofer", metavar="NAME", help="what colleagues mention (default Gofer)")
    parser.add_argument("--json", action="store_true", help="JSON instead of YAML")


def execute(arguments: argparse.Namespace) -> int:
    """Prints the manifest."""
    url = _checked(arguments.url, arguments.socket)
    if arguments.sign_in and not url:
        raise ConfigError("--sign-in needs --url: with --socket the pages are on your own machine.")
    if not 0 < len(arguments.name.strip()) <= 35:
        raise ConfigError("--name must have 1 to 35 characters; Slack takes no longer name of an app.")
    catalog = load_catalog(Path.cwd() / "agents")
    workflows = [loaded.workflow for loaded in catalog.workflows.values()]
    # Nothing is called: the tools are asked only for what they would need.
    tools = tuple(build_tools(read_settings({})).values())
    name, sign_in = arguments.name.strip(), f"{url}{CALLBACK}" if arguments.sign_in else ""
    made = manifest(workflows, tools, name=name, url=url, socket=arguments.socket, sign_in=sign_in)
    print(json.dumps(made, indent=2) if arguments.json else yaml.safe_dump(made, sort_keys=False).rstrip())
    return 0


def _checked(url: str, socket: bool) -> str:
    if bool(url) == socket:
        raise ConfigError("Say how Slack reaches Gofer: --socket for a laptop, or --url https://… for a server.")
    if socket:
        return ""
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises for a port that is none
    except ValueError:
        parts = urlsplit("")
    if parts.scheme != "https" or not parts.hostname or parts.query or parts.fragment:
        raise ConfigError("--url must be the https address of your server, such as https://gofer.example.com.")
    return url.rstrip("/").removesuffix("/slack/events")
