"""The official A2A SDK over a channel: its own client and request handler pass calls; who is called is who has the DID."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from a2a.client import Client, ClientCallContext, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientError, A2AClientTimeoutError, AgentCardResolutionError
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    CancelTaskRequest,
    GetExtendedAgentCardRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskPushNotificationConfig,
    TaskState,
    TaskStatus,
)
from a2a.utils.errors import (
    A2AError,
    InvalidParamsError,
    MethodNotFoundError,
    PushNotificationNotSupportedError,
    TaskNotFoundError,
)
from channels import channel, run

import gambeson
import gambeson.a2a
from gambeson.channel import Channel
from gambeson.channel.a2a import BINDING, ChannelTransport, fetch_card, identity, register, serve


class Teller(AgentExecutor):
    """Answers by a task with an artifact, or by a message, or not at all."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.call_context is not None
        words, caller = context.get_user_input(), context.call_context.user.user_name
        if words == "hello":
            await event_queue.enqueue_event(message(f"hello {caller}", Role.ROLE_AGENT))
            return
        if words == "fail":
            raise RuntimeError("a secret of the teller")
        assert context.task_id is not None and context.context_id is not None
        status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
        await event_queue.enqueue_event(Task(id=context.task_id, context_id=context.context_id, status=status))
        updates = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updates.start_work()
        if words == "wait":
            await asyncio.sleep(60)
        await updates.add_artifact([Part(text=f"{caller} has {words}")])
        await updates.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.task_id is not None and context.context_id is not None
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def message(words: str, role: Any = Role.ROLE_USER) -> Message:
    return Message(message_id=f"m-{words}", role=role, parts=[Part(text=words)])


def card() -> AgentCard:
    return AgentCard(
        name="Teller",
        description="Counts",
        version="1.0.0",
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        supported_interfaces=[AgentInterface(url="https://bank.example", protocol_binding="JSONRPC", protocol_version="1.0")],
        skills=[AgentSkill(id="count", name="Count", description="Counts", tags=["money"])],
    )


def client(channel: Channel, card: AgentCard, streaming: bool = True) -> Client:
    config = ClientConfig(streaming=streaming, supported_protocol_bindings=[BINDING])
    return register(ClientFactory(config), channel).create(card)


@asynccontextmanager
async def banking(link: str | None = None, **how: Any) -> AsyncIterator[tuple[Channel, Channel, Channel]]:
    async with channel(3, link) as (ada, ben, cem):
        own = identity(card(), ben.did)
        async with serve(ben, DefaultRequestHandler(Teller(), InMemoryTaskStore(), own), own, **how):
            yield ada, ben, cem


@pytest.mark.parametrize("over", ["memory", "a stock node"])
@pytest.mark.parametrize("streaming", [True, False])
def test_calls_pass_and_the_handler_knows_its_caller(streaming: bool, over: str, request: pytest.FixtureRequest) -> None:
    link = None if over == "memory" else request.getfixturevalue("node")

    async def main() -> None:
        async with banking(link) as (ada, ben, cem):
            for member in (ada, cem):
                fetched = await fetch_card(member, ben.did)
                assert fetched == identity(card(), ben.did)
                assert [it.url for it in fetched.supported_interfaces] == [ben.did, "https://bank.example"]
                async with client(member, fetched, streaming) as calls:
                    answers = [it async for it in calls.send_message(SendMessageRequest(message=message("hello")))]
                    assert [it.message.parts[0].text for it in answers] == [f"hello {member.did}"]
                    answers = [it async for it in calls.send_message(SendMessageRequest(message=message("five")))]
                    kinds = [it.WhichOneof("payload") for it in answers]
                    assert kinds == (["task", "status_update", "artifact_update", "status_update"] if streaming else ["task"])
                    id = answers[0].task.id
                    task = await calls.get_task(GetTaskRequest(id=id))
                    assert task.status.state == TaskState.TASK_STATE_COMPLETED
                    assert task.artifacts[0].parts[0].text == f"{member.did} has five"
                    assert [it.id for it in (await calls.list_tasks(ListTasksRequest())).tasks] == [id]
                    assert await calls.get_extended_agent_card(GetExtendedAgentCardRequest()) == fetched

    run(main)


def test_a_member_has_so_many_connections() -> None:
    async def main() -> None:
        async with banking(max_connections=2, max_per_member=1) as (ada, ben, cem):
            async with client(ada, await fetch_card(ada, ben.did)) as calls:
                assert [it async for it in calls.send_message(SendMessageRequest(message=message("hello")))]
                with pytest.raises(A2AClientError) as refused:
                    await fetch_card(ada, ben.did)
                assert "busy" in str(refused.value)
                assert await fetch_card(cem, ben.did) == identity(card(), ben.did)

    run(main)


def test_tasks_of_one_member_are_not_anothers() -> None:
    async def main() -> None:
        async with banking() as (ada, ben, cem):
            fetched = await fetch_card(ada, ben.did)
            async with client(ada, fetched, False) as owner, client(cem, fetched, False) as other:
                (answer,) = [it async for it in owner.send_message(SendMessageRequest(message=message("five")))]
                with pytest.raises(TaskNotFoundError):
                    await other.get_task(GetTaskRequest(id=answer.task.id))

    run(main)


def test_refusals_come_as_the_sdks_own_errors() -> None:
    async def main() -> None:
        async with banking() as (ada, ben, _), client(ada, await fetch_card(ada, ben.did), False) as calls:
            with pytest.raises(TaskNotFoundError):
                await calls.get_task(GetTaskRequest(id="none"))
            with pytest.raises(PushNotificationNotSupportedError):
                await calls.create_task_push_notification_config(
                    TaskPushNotificationConfig(task_id="none", id="1", url="https://a.example")
                )
            async with ChannelTransport(ada, ben.did) as transport:
                with pytest.raises(TaskNotFoundError):
                    async for _ in transport.subscribe(SubscribeToTaskRequest(id="none")):
                        pass
                with pytest.raises(MethodNotFoundError):
                    await transport._call("Steal", {}, None)
                with pytest.raises(InvalidParamsError):
                    await transport._call("GetTask", {"id": {"not": "text"}}, None)

    run(main)


def test_what_a_handler_raises_stays_with_it() -> None:
    async def main() -> None:
        async with banking() as (ada, ben, _), client(ada, await fetch_card(ada, ben.did), False) as calls:
            try:
                said = str([it async for it in calls.send_message(SendMessageRequest(message=message("fail")))])
            except A2AError as error:
                said = str(error)
            assert "secret" not in said

    run(main)


def test_a_call_has_a_deadline_and_a_task_can_be_cancelled() -> None:
    async def main() -> None:
        async with banking() as (ada, ben, _), client(ada, await fetch_card(ada, ben.did)) as calls:
            id = ""
            with pytest.raises(A2AClientTimeoutError):
                waiting = calls.send_message(
                    SendMessageRequest(message=message("wait")), context=ClientCallContext(timeout=5)
                )
                async for answer in waiting:
                    id = answer.task.id or id
            assert id
            cancelled = await calls.cancel_task(CancelTaskRequest(id=id))
            assert cancelled.status.state == TaskState.TASK_STATE_CANCELED

    run(main)


def test_a_card_that_is_not_the_members_own_is_neither_served_nor_taken() -> None:
    async def main() -> None:
        async with channel(3) as (ada, ben, cem):
            theirs = identity(card(), cem.did)
            handler = DefaultRequestHandler(Teller(), InMemoryTaskStore(), theirs)
            with pytest.raises(ValueError):
                await serve(ben, handler, theirs).__aenter__()
            # One who shows another's card all the same is not believed.
            service = gambeson.channel.a2a._Service(handler, theirs)

            async def lie() -> None:
                async with ben.listen("a2a") as listener:
                    await service.converse(await listener.accept())

            lying = asyncio.create_task(lie())
            with pytest.raises(AgentCardResolutionError):
                await fetch_card(ada, ben.did)
            await lying

    run(main)


def test_a_signed_card_is_verified_when_it_is_fetched() -> None:
    async def main() -> None:
        signer, stranger = gambeson.Agent.generate(), gambeson.Agent.generate()
        trust = gambeson.CardStore(signer.first_card(valid_for=3600))
        async with channel(2) as (ada, ben):
            for by, ok in ((signer, True), (stranger, False)):
                signed = gambeson.a2a.sign(by, identity(card(), ben.did))
                verifier = gambeson.a2a.verifier(resolver=trust, expected=signer.did)
                async with serve(ben, DefaultRequestHandler(Teller(), InMemoryTaskStore(), signed), signed):
                    if ok:
                        assert await fetch_card(ada, ben.did, verifier=verifier) == signed
                        continue
                    with pytest.raises(gambeson.VerificationError):
                        await fetch_card(ada, ben.did, verifier=verifier)

    run(main)


def test_who_is_not_admitted_or_has_no_agent_there_is_told() -> None:
    async def main() -> None:
        async with banking(admit=lambda did: False) as (ada, ben, cem):
            for other in (ben, cem):
                with pytest.raises(A2AClientError) as refused:
                    await fetch_card(ada, other.did, timeout=2)
                assert ("not-permitted" in str(refused.value)) == (other is ben)

    run(main)


def test_words_that_are_no_call_end_the_connection_alone_and_those_that_are_no_answer_end_nothing() -> None:
    async def mumble(member: Channel) -> None:
        async with member.listen("a2a") as listener, await listener.accept() as connection:
            id = json.loads(await connection.receive())["id"]
            for words in (b"{", b"[]", b'{"id": []}', b'{"id": {}}'):
                await connection.send(words)
            await connection.send(json.dumps({"id": id, "result": {"heard": True}}).encode())

    async def main() -> None:
        async with banking() as (ada, ben, cem):
            mumbling = asyncio.create_task(mumble(cem))
            async with ChannelTransport(ada, cem.did) as transport:
                assert await transport._call("Say", {}, None) == {"heard": True}
            await mumbling
            for words in (b"", b"[]", b"{", b"\xff", b"[" * 100_000):
                async with await ada.connect(ben.did, "a2a") as connection:
                    await connection.send(words)
                    assert [it async for it in connection] == []
            async with await ada.connect(ben.did, "a2a") as connection:
                for id, method in enumerate((b"5", b"[]", b"{}")):
                    await connection.send(b'{"id": %d, "method": %s}' % (id, method))
                    async with asyncio.timeout(60):
                        assert b"-32600" in await connection.receive()
            assert (await fetch_card(ada, ben.did)).name == "Teller"

    run(main)
