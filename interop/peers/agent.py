"""An agent of the official A2A SDK, and a client that talks to it, over HTTP without TLS.

    agent.py serve ADDRESS      the agent, whose card says that it is at ADDRESS; prints its port
    agent.py ask ADDRESS TEXT   fetches the card there, sends TEXT, prints each answer on a line
"""

import asyncio
import socket
import sys

import httpx
import uvicorn
from a2a.client import ClientConfig, create_client
from a2a.client.card_resolver import A2ACardResolver
from a2a.helpers.proto_helpers import get_message_text, new_text_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes.agent_card_routes import create_agent_card_routes
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Role, SendMessageRequest
from starlette.applications import Starlette


class Echo(AgentExecutor):
    async def execute(self, context, event_queue):
        await event_queue.enqueue_event(new_text_message("you said " + context.get_user_input()))

    async def cancel(self, context, event_queue):
        raise NotImplementedError


def serve(address: str) -> None:
    card = AgentCard(
        name="Echo",
        description="Says what was said",
        version="1.0.0",
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        supported_interfaces=[
            AgentInterface(url=address + "/a2a", protocol_binding="JSONRPC", protocol_version="1.0")
        ],
        skills=[AgentSkill(id="echo", name="Echo", description="Says what was said", tags=["echo"])],
    )
    handler = DefaultRequestHandler(agent_executor=Echo(), task_store=InMemoryTaskStore(), agent_card=card)
    app = Starlette(routes=create_agent_card_routes(card) + create_jsonrpc_routes(handler, "/a2a"))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="error")).run([listener])


async def ask(address: str, text: str) -> None:
    async with httpx.AsyncClient() as http:
        card = await A2ACardResolver(http, address).get_agent_card()
        print(card.name)
        for streaming in (False, True):
            config = ClientConfig(httpx_client=http, streaming=streaming)
            client = await create_client(card, client_config=config)
            request = SendMessageRequest(message=new_text_message(text, role=Role.ROLE_USER))
            async for answer in client.send_message(request):
                print(get_message_text(answer.message))


if sys.argv[1] == "serve":
    serve(sys.argv[2])
else:
    asyncio.run(ask(sys.argv[2], sys.argv[3]))
