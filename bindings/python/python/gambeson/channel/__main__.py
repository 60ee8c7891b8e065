"""A node of SLIM and the delivery service on this machine, where agents meet, until Control-C:

    pip install slim-bindings
    python -m gambeson.channel up [--port 46357] [--file channels.redb]

and two agents that meet there, each in a process of its own, and talk:

    python -m gambeson.channel talk [--link http://127.0.0.1:46357]

The node is the stock one of that wheel, in a process of its own. It sees ciphertext, names, sizes and times. Without `--file` what is said
while a member is away is kept in memory alone.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import gambeson
from gambeson.channel import ChannelAgent, Delivery
from gambeson.errors import Error

# It ends when its standard input does: with this process, however that ends.
NODE = "import sys, slim_bindings; slim_bindings.initialize_from_config(sys.argv[1]); sys.stdin.read()"


def configuration(port: int) -> str:
    """A node on loopback, without TLS; YAML that is JSON."""
    server = {"endpoint": f"127.0.0.1:{port}", "tls": {"insecure": True}}
    dataplane = {"dataplane": {"servers": [server], "clients": []}}
    return json.dumps({"tracing": {"log_level": "warn"}, "services": {"slim/0": dataplane}})


# Variables of gambeson's programs that hold secrets.
SECRETS = ("GAMBESON_PASSPHRASE", "GAMBESON_NEW_PASSPHRASE", "GAMBESON_SLIM_AUTH")


def environment() -> dict[str, str]:
    """The environment of a program of somebody else: this one's, without secrets."""
    return {name: value for name, value in os.environ.items() if name not in SECRETS}


@contextlib.asynccontextmanager
async def node(port: int) -> AsyncIterator[int]:
    """Runs a stock node, and gives its process id once it listens."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "node.yaml"
        path.write_text(configuration(port))
        command = [sys.executable, "-c", NODE, str(path)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=sys.stderr, start_new_session=True, env=environment()
        ) as process:
            try:
                await listening(port, process)
                yield process.pid
            finally:
                process.kill()


async def listening(port: int, process: subprocess.Popen[bytes]) -> None:
    """Returns when something listens; exits if the node does not come up."""
    for _ in range(1200):
        if process.poll() is not None:
            sys.exit("the node did not start: is the wheel slim-bindings installed, and the port free?")
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        await asyncio.sleep(0.025)
    sys.exit(f"nothing listens on port {port} after 30 seconds")


async def up(port: int, file: str | None, store: int | None, keep: int | None) -> None:
    """Runs both until a signal comes."""
    url = f"http://127.0.0.1:{port}"
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    most, seconds = store and store << 20, keep and keep * 3600
    async with node(port) as pid, Delivery(url, file=file, store=most, keep=seconds):
        print(f"agents meet at {url} (node: process {pid})", flush=True)
        await ended.wait()


def new_agent(link: str) -> ChannelAgent:
    """An agent with a key for channels, for an hour."""
    identity = gambeson.Agent.generate()
    return ChannelAgent(identity, identity.first_card(valid_for=3600, groups=["group-ml-dsa-65"]), link)


async def reached(link: str) -> None:
    """Returns when a node and a delivery service answer, which may have been started a moment ago."""
    for _ in range(120):
        with contextlib.suppress(Error):
            async with new_agent(link):
                return
        await asyncio.sleep(0.25)
    sys.exit(f"nobody answers at {link}: `python -m gambeson.channel up` starts a node and the delivery service")


async def talk(link: str) -> None:
    """Ada is this process, Ben one of his own."""
    await reached(link)
    async with new_agent(link) as ada:
        command = [sys.executable, "-m", "gambeson.channel", "answer", ada.did, "--link", link]
        ben = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        assert ben.stdout is not None
        try:
            did = (await ben.stdout.readline()).decode().strip()
            if not did:
                sys.exit("Ben did not come")
            channel = await ada.create()
            await channel.invite(did)
            reply = await channel.request(b"hello", timeout=60)
            print(f"Ada, process {os.getpid()}: hello\nBen, process {ben.pid}: {reply.data.decode()}")
            await channel.remove(did)
            await ben.wait()
        finally:
            if ben.returncode is None:
                ben.kill()


async def answer(by: str, link: str) -> None:
    """An agent that accepts an invitation and says louder what it is asked, until it is removed."""
    async with new_agent(link) as agent:
        print(agent.did, flush=True)
        async for message in await agent.join(by=by):
            if message.expects_reply:
                await message.reply(message.data.upper())


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m gambeson.channel", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    parse = commands.add_parser("up", help="run a node and the delivery service here")
    parse.add_argument("--port", type=int, default=46357)
    parse.add_argument("--file", help="where the delivery service keeps what it has")
    parse.add_argument("--store", type=int, metavar="MIB", help="how many MiB the file has at most (16384)")
    parse.add_argument("--keep", type=int, metavar="HOURS", help="for how many hours what is said is kept (as long as there is room)")
    speak = commands.add_parser("talk", help="two agents, in processes of their own")
    reply = commands.add_parser("answer", help="the second of them")
    reply.add_argument("by", metavar="DID", help="whose invitation it accepts")
    for parse in (speak, reply):
        parse.add_argument("--link", default="http://127.0.0.1:46357", help="the node")
    arguments = parser.parse_args()
    works = {
        "up": lambda: up(arguments.port, arguments.file, arguments.store, arguments.keep),
        "talk": lambda: talk(arguments.link),
        "answer": lambda: answer(arguments.by, arguments.link),
    }
    try:
        asyncio.run(works[arguments.command]())
    except Error as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
