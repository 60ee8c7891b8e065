"""A stock agent of SLIM: does what it is told by a line of JSON, and answers with one.

agent.py ENDPOINT ORGANISATION/NAMESPACE/SERVICE SECRET
"""

import asyncio
import base64
import datetime
import json
import os
import sys

import slim_bindings as slim


def name_of(text):
    return slim.Name(*text.split("/"))


def text_of(name):
    return "/".join(name.components())


class Agent:
    def __init__(self, service, endpoint, name, secret):
        self.service, self.name, self.secret, self.session = service, name_of(name), secret, None
        self.endpoint = endpoint

    async def connect(self):
        self.connection = await self.service.connect_async(slim.new_insecure_client_config(self.endpoint))
        self.app = self.service.create_app_with_secret(self.name, self.secret)
        await self.app.subscribe_async(self.name, self.connection)

    async def create(self, channel, invite):
        config = slim.SessionConfig(
            session_type=slim.SessionType.GROUP,
            max_retries=5,
            interval=datetime.timedelta(seconds=1),
            metadata={},
            mls_settings=slim.MlsSettings(
                header_integrity_validation_percent=100, max_seen_control_message_ids_size=None
            ),
        )
        self.session = await self.app.create_session_and_wait_async(config, name_of(channel))
        for client in invite:
            await self.invite(client)

    async def invite(self, client):
        await self.app.set_route_async(name_of(client), self.connection)
        await self.session.invite_and_wait_async(name_of(client))

    async def accept(self):
        self.session = await self.app.listen_for_session_async(datetime.timedelta(seconds=30))

    async def send(self, payload, kind=None, metadata=None):
        await self.session.publish_async(base64.b64decode(payload), kind, metadata)

    async def receive(self, seconds=30):
        try:
            message = await self.session.get_message_async(datetime.timedelta(seconds=seconds))
        except slim.SlimError as error:
            return {"nothing": str(error)}
        return {
            "from": text_of(message.context.source_name),
            "kind": message.context.payload_type,
            "metadata": message.context.metadata,
            "payload": base64.b64encode(message.payload).decode(),
        }

    async def members(self):
        return sorted(text_of(client.name) for client in await self.session.participants_list_async())

    async def leave(self):
        await self.app.delete_session_and_wait_async(self.session)


# SLIM writes what it does to the standard output.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


async def main(endpoint, name, secret):
    slim.initialize_with_defaults()
    agent = Agent(slim.get_global_service(), endpoint, name, secret)
    await agent.connect()
    print(json.dumps({"ready": slim.get_version()}), file=answers, flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        call = json.loads(line)
        try:
            answer = {"done": await getattr(agent, call.pop("do"))(**call)}
        except Exception as error:  # whatever it is, the test shall see it
            answer = {"failed": repr(error)}
        print(json.dumps(answer), file=answers, flush=True)


asyncio.run(main(*sys.argv[1:]))
