"""Three agents discuss on an encrypted channel, and vote.

    python panel.py                             in one process, without a network
    python panel.py http://127.0.0.1:46357      over a node of SLIM (python -m gambeson.channel up)

The agents' model is scripted: no keys, no network. `panel_with_a_model.py` has room for yours.
"""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Awaitable, Callable

import gambeson
from gambeson.channel import Channel, ChannelAgent, Hub

QUESTION = "Which bridge is repaired first, the north one or the south one?"
SCRIPT = {
    "Ada": ["The south bridge carries the trains.", "south"],
    "Ben": ["The north one is older, and closed since May.", "north"],
    "Cem": ["Trains can wait a year, ambulances cannot.", "north"],
}
ROUNDS = 2  # one to speak, one to vote
NAMES = list(SCRIPT)

Think = Callable[[str, list[str]], Awaitable[str]]


async def scripted(name: str, heard: list[str]) -> str:
    """A model: from what was said, what this agent says next."""
    return SCRIPT[name][len(heard) // len(NAMES)]


async def sit(name: str, channel: Channel, think: Think) -> list[str]:
    """One agent on the panel: speaks when it is its turn, and hears the others."""
    said: dict[int, str] = {}
    for turn in range(ROUNDS * len(NAMES)):
        if NAMES[turn % len(NAMES)] == name:
            said[turn] = await think(name, [said[before] for before in range(turn)])
            await channel.send(json.dumps([turn, said[turn]]).encode())
        while turn not in said:
            message = await channel.receive()
            number, words = json.loads(message.data)
            said[number] = words
    return [said[turn] for turn in sorted(said)]


async def panel(link: str | Hub, think: Think) -> None:
    """Brings the agents together, and prints what the first of them heard."""
    people = [gambeson.Agent.generate() for _ in NAMES]
    cards = [person.first_card(valid_for=3600, groups=["group-ml-dsa-65"]) for person in people]
    chair = people[0].did
    async with (
        ChannelAgent(people[0], cards[0], link) as ada,
        ChannelAgent(people[1], cards[1], link) as ben,
        ChannelAgent(people[2], cards[2], link) as cem,
    ):
        first = await ada.create()
        await first.invite(ben.did, cem.did)
        channels = [first, await ben.join(by=chair), await cem.join(by=chair)]
        heard = await asyncio.gather(*(sit(*it, think) for it in zip(NAMES, channels)))
        assert heard[0] == heard[1] == heard[2]
        print(QUESTION)
        for turn, words in enumerate(heard[0]):
            print(f"{NAMES[turn % len(NAMES)]}: {words}")
        votes = Counter(heard[0][-len(NAMES) :])
        print("The panel votes:", ", ".join(f"{votes[it]} for {it}" for it in sorted(votes)))


if __name__ == "__main__":
    asyncio.run(panel(sys.argv[1] if len(sys.argv) > 1 else Hub(), scripted))
