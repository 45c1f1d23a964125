"""`gofer demo`: shows Gofer on this machine with simulated systems, without any account."""

import argparse
import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from gofer.app.demo.own_copy import write_own_copy
from gofer.app.demo.ports import LAST, PORT, ports_from
from gofer.app.demo.scenes import Outsiders, Scenes, killed_between_a_call_and_its_outcome
from gofer.app.demo.tour import WORKFLOW, Tour, TourFailed
from gofer.app.embedded.stack import EmbeddedStack, open_embedded
from gofer.app.embedded.worlds import apart
from gofer.app.new_repository.shipped import shipped
from gofer.app.settings import child_environment, process_settings
from gofer.cli.arguments import number
from gofer.cli.terminal import as_typed
from gofer.sources.receivers import BY_SOURCE
from gofer.values.errors import ConfigError
from gofer_simulators.demo import demo_world
from gofer_simulators.github.simulator import GitHubSimulator
from gofer_simulators.jira.simulator import JiraSimulator
from gofer_simulators.notion.simulator import NotionSimulator
from gofer_simulators.slack.simulator import SlackSimulator


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer demo`."""
    parser.add_argument("--exit", action="store_true", help="stop after the tour instead of continuing to serve")
    parser.add_argument(
        "--here",
        action="store_true",
        help="serve the workflows of this folder to the simulated systems, without scenes",
    )
    parser.add_argument(
        "--port",
        type=number(0, LAST),
        metavar="N",
        help=f"port of Gofer's pages (default {PORT}); the simulated systems have the next four. 0 takes free ports",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Play the tour, then serve until the person interrupts the command."""
    if arguments.port is not None:
        port = arguments.port
    elif arguments.exit:
        port = 0
    else:
        port = PORT
    if arguments.here:
        return asyncio.run(_here(port))
    return asyncio.run(_demo(port, arguments.exit))


async def _here(port: int) -> int:
    """Serve the workflows of this folder to simulated systems, until the person interrupts the command."""
    async with (
        open_embedded(apart(process_settings()), Path.cwd(), port, demo_world(), ports=ports_from(port)) as embedded,
        embedded.working(),
    ):
        names = ", ".join(sorted(embedded.catalog.workflows))
        print(f"The workflows of this folder with simulated systems: {names or 'none'}.")
        print(f"Model: {embedded.model}.", flush=True)
        await _serve_on(embedded, Path.cwd())
    return 0


async def _demo(port: int, stop: bool) -> int:
    with TemporaryDirectory(prefix="gofer-demo-") as folder:
        root = Path(folder)
        write_own_copy(shipped(), root)
        return await _demo_of(root, port, stop)


async def _demo_of(root: Path, port: int, stop: bool) -> int:
    """Play the scenes with the workflows of a folder, then serve until the person interrupts the command."""
    async with (
        open_embedded(apart(process_settings()), root, port, demo_world(), ports=ports_from(port)) as embedded,
        embedded.working(),
    ):
        print("Gofer with a simulated Slack, over HTTP on this machine, without any account.")
        print(f"Model: {embedded.model}.", flush=True)
        tour = Tour(_slack(embedded), embedded.state.store, embedded.state.blobs, print)
        succeeded = await _play(tour, embedded, root)
        if stop:
            print(as_typed("Next: run `gofer demo` to keep serving and mention Gofer yourself."))
        else:
            await _serve_on(embedded, root)
    if succeeded:
        return 0
    return 1


def _slack(embedded: EmbeddedStack) -> SlackSimulator:
    slack = embedded.simulated.system(SlackSimulator)
    if slack is None:
        raise ConfigError("The demo needs a simulated Slack.")
    return slack


async def _play(tour: Tour, embedded: EmbeddedStack, root: Path) -> bool:
    simulated = embedded.simulated
    outside = Outsiders(embedded)
    try:
        await tour.play()
        jira = simulated.system(JiraSimulator)
        notion = simulated.system(NotionSimulator)
        github = simulated.system(GitHubSimulator)
        if jira and notion and github:
            scenes = Scenes(tour, jira, notion, github, outside.fire, outside.call)
            await scenes.play(embedded.catalog.workflows)
        # The process that the tour kills posts links to this process's pages.
        environment = {**child_environment(embedded.settings), "GOFER_URL": embedded.url}
        await killed_between_a_call_and_its_outcome(tour, environment, root, embedded.state)
    except TourFailed as error:
        print(f"The tour failed: {error}.", file=sys.stderr)
        return False
    print("\nAll scenes succeeded.")
    return True


async def _serve_on(embedded: EmbeddedStack, root: Path) -> None:
    print("\nStill serving; stop with Ctrl-C.")
    print(f"   Slack, simulated   {embedded.simulated.urls['slack']}/      write “@Gofer …” in any channel")
    for name, url in embedded.simulated.urls.items():
        if name != "slack":
            print(f"   {f'{BY_SOURCE[name].system}, simulated':<19}{url}")
    print(f"   Runs and traces    {embedded.url}/runs")
    if WORKFLOW in embedded.catalog.workflows:
        print(f"   The prompt         {embedded.url}/prompts/{WORKFLOW}")
        print(f"   Its file           {root}/agents/{WORKFLOW}.md      edit it while the demo serves", flush=True)
    await asyncio.Event().wait()
