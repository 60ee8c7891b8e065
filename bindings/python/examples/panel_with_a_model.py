"""The panel of `panel.py`, with a real model: fill in `ask`.

    python panel_with_a_model.py [http://127.0.0.1:46357]
"""

import asyncio
import sys

import panel
from gambeson.channel import Hub

ROLES = {
    "Ada": "You plan the railway.",
    "Ben": "You are the engineer who inspected both bridges.",
    "Cem": "You run the ambulances.",
}


async def ask(system: str, prompt: str) -> str:
    """Your model's client goes here: one call, which returns the text."""
    # client = ...
    # answer = await client.complete(system=system, prompt=prompt)
    # return answer.text
    raise NotImplementedError("put your model's client into `ask`")


async def think(name: str, heard: list[str]) -> str:
    """What this agent says next."""
    system = f"{ROLES[name]} You are {name}, on a panel of {len(panel.NAMES)}."
    minutes = "\n".join(f"{panel.NAMES[turn % len(panel.NAMES)]}: {words}" for turn, words in enumerate(heard))
    voting = len(heard) >= len(panel.NAMES)
    task = "Vote: answer with one word, north or south." if voting else "Say what you think, in one sentence."
    return (await ask(system, f"{panel.QUESTION}\n{minutes}\n{task}")).strip()


if __name__ == "__main__":
    asyncio.run(panel.panel(sys.argv[1] if len(sys.argv) > 1 else Hub(), think))
