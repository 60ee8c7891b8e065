"""A program that waits for a message until somebody presses Control-C."""

import asyncio
import signal

from channels import channel

# A program that a script began in the background ignores it from the start.
signal.signal(signal.SIGINT, signal.default_int_handler)


async def main() -> None:
    async with channel(2) as (_, ben):
        print("waiting", flush=True)
        await ben.receive()


try:
    asyncio.run(main())
finally:
    print("closed in order", flush=True)
