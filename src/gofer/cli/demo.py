"""`gofer demo`: what does Gofer do, without an account and on this machine only?"""

import argparse
import asyncio
import sys
from pathlib import Path

from gofer.bootstrap.laptop import Laptop, open_laptop, working
from gofer.bootstrap.settings import process_settings
from gofer.cli.numbers import number
from gofer.errors import ConfigError
from gofer.local.tour import Tour, TourFailed
from gofer.simulators.demo import demo_world

PORT = 8765


def options(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `gofer demo`."""
    parser.add_argument("--exit", action="store_true", help="stop after the tour instead of serving on")
    parser.add_argument("--port", type=number(0, 65535), metavar="N", help=f"port of Gofer's pages (default {PORT})")


def execute(arguments: argparse.Namespace) -> int:
    """Plays the tour, then serves until it is interrupted."""
    port = arguments.port if arguments.port is not None else 0 if arguments.exit else PORT
    try:
        asyncio.run(_demo(port, arguments.exit))
    except TourFailed as error:
        print(f"The tour failed: {error}.", file=sys.stderr)
        return 1
    return 0


async def _demo(port: int, leave: bool) -> None:
    async with open_laptop(process_settings(), Path.cwd(), port, demo_world()) as laptop, working(laptop.worker):
        if laptop.slack is None:
            raise ConfigError("The demo needs a world to simulate; simulators/worlds/demo.yaml has none.")
        print("Gofer with a simulated Slack: real HTTP on this machine, no account needed.")
        print(f"Words come from {laptop.model}.")
        await Tour(laptop.slack, laptop.state.store, laptop.state.blobs, print).play()
        print("\nBoth scenes came out as they must.")
        if leave:
            print("Next: `make demo` keeps serving, so that you can mention Gofer yourself.")
        else:
            await _serve_on(laptop)


async def _serve_on(laptop: Laptop) -> None:
    print("\nStill serving; stop with Ctrl-C.")
    print(f"   Slack, simulated   {laptop.slack_url}/      write “@Gofer …” in any channel")
    print(f"   Runs and traces    {laptop.url}/runs")
    print(f"   The prompt         {laptop.url}/prompts/answer-here      from agents/answer-here.md", flush=True)
    await asyncio.Event().wait()
