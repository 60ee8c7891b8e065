"""What every key has in common: no way out for the private ones, values for the public ones, no panic for anybody."""

from __future__ import annotations

import array
import copy
import inspect
import io
import itertools
import multiprocessing.reduction
import pickle
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import PRIVATE, PUBLIC, VERIFYING, sets

import gambeson
from gambeson import _native, tlog
from gambeson.mldsa import MLDSA65PrivateKey


def test_the_lists_name_every_class() -> None:
    classes = {value for _, value in inspect.getmembers(_native, inspect.isclass)}
    assert {key for key in classes if key.__name__.endswith("PrivateKey")} == set(PRIVATE)
    assert {key for key in classes if "__getstate__" in vars(key)} == {*PRIVATE, gambeson.Agent}
    assert {key for key in classes if key.__name__.endswith("PublicKey")} == {*PUBLIC, *VERIFYING}
    assert len(PRIVATE) == len(PUBLIC) == 8


WAYS_OUT: list[Callable[[Any], object]] = [
    copy.copy,
    copy.deepcopy,
    lambda key: copy.deepcopy([key]),
    lambda key: key.__reduce__(),
    lambda key: key.__reduce_ex__(4),
    lambda key: key.__getstate__(),
    multiprocessing.reduction.ForkingPickler.dumps,
    *(lambda key, protocol=protocol: pickle.dumps(key, protocol) for protocol in range(6)),
]


@pytest.mark.parametrize("private", [*PRIVATE, gambeson.Agent])
@pytest.mark.parametrize("way", WAYS_OUT)
def test_no_private_key_is_copied_or_pickled(private: Any, way: Callable[[Any], object]) -> None:
    with pytest.raises(gambeson.NotExportable) as refused:
        way(private.generate(*sets(private)))
    assert refused.value.code == "not-exportable"
    assert isinstance(refused.value, TypeError)


@pytest.mark.parametrize("private", [*PRIVATE, gambeson.Agent])
def test_a_private_key_shows_nothing(private: Any) -> None:
    key = private.generate(*sets(private))
    assert repr(key) == str(key) == f"{private.__name__}(…)"
    with pytest.raises(TypeError):
        bytes(key)
    with pytest.raises(TypeError):
        memoryview(key)
    assert not hasattr(key, "__dict__")
    with pytest.raises(TypeError):
        private()
    with pytest.raises(TypeError):
        type("Sub", (private,), {})


@pytest.mark.parametrize("private", PRIVATE)
def test_a_wiped_key_works_no_more(private: Any) -> None:
    with private.generate(*sets(private)) as key:
        public = key.public_key()
    key.wipe()
    work = (lambda: key.sign(b"")) if hasattr(key, "sign") else (lambda: key.decapsulate(bytes(_length(public))))
    for use in (key.public_key, key.private_bytes_raw, work):
        with pytest.raises(gambeson.Wiped) as refused:
            use()
        assert refused.value.code == "wiped"


def _length(public: Any) -> int:
    return len(public.encapsulate()[1])


def test_an_exception_inside_with_wipes_too_and_is_not_swallowed() -> None:
    key = MLDSA65PrivateKey.generate()
    with pytest.raises(KeyError), key:
        raise KeyError
    with pytest.raises(gambeson.Wiped):
        key.sign(b"")


@pytest.mark.parametrize("public", PUBLIC)
def test_a_public_key_is_a_value(public: Any) -> None:
    private = PRIVATE[PUBLIC.index(public)]
    key, other = (private.generate(*sets(private)).public_key() for _ in range(2))
    same = public.from_public_bytes(key.public_bytes_raw(), *sets(public))
    assert key == same and hash(key) == hash(same) and key != other and key != key.public_bytes_raw()
    assert copy.copy(key) is key and copy.deepcopy(key) is key
    assert pickle.loads(pickle.dumps(key)) == key
    assert repr(key).startswith(f"{public.__name__}({key.public_bytes_raw()[:8].hex()}")


WRONG: list[Any] = [
    None, 0, -1, 1.5, "text", [], [1, 2], {}, object(), b"", bytes(31), bytes(33), bytes(10_000),
    bytearray(5), memoryview(bytes(7))[::2], array.array("i", [1, 2]), array.array("d", [0.5]),
    memoryview(bytes(16)).cast("Q"), memoryview(bytes(16)).cast("B", (4, 4)), type, ...,
]  # fmt: skip


@pytest.mark.parametrize("kind", [*PRIVATE, *PUBLIC])
def test_no_argument_makes_a_panic(kind: Any) -> None:
    """Every method with every wrong argument, up to three: an `Exception` or an answer, and never a panic."""
    private = PRIVATE[[*PRIVATE, *PUBLIC].index(kind) % 8]
    key = private.generate(*sets(private))
    target = key if kind in PRIVATE else key.public_key()
    calls = 0
    names = [name for name in dir(target) if not name.startswith("__") and name != "wipe"]
    for name, count in itertools.product(names, (0, 1, 2)):
        for arguments in itertools.product(WRONG, repeat=count):
            calls += 1
            try:
                getattr(target, name)(*arguments)
            except Exception as error:
                assert isinstance(error, (gambeson.Error, TypeError, ValueError, BufferError)), repr(error)
    assert calls > 1000


def test_wiping_lets_work_in_other_threads_end() -> None:
    key = MLDSA65PrivateKey.generate()
    public = key.public_key()
    outcomes: list[str] = []

    def sign() -> None:
        try:
            for _ in range(200):
                public.verify(key.sign(b"message"), b"message")
        except gambeson.Wiped:
            outcomes.append("wiped")
        else:
            outcomes.append("signed")

    threads = [threading.Thread(target=sign) for _ in range(4)]
    for thread in threads:
        thread.start()
    key.wipe()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 4


def test_errors_carry_their_code_through_pickle() -> None:
    with pytest.raises(gambeson.UsageError) as refused:
        MLDSA65PrivateKey.from_seed_bytes(b"short")
    again = pickle.loads(pickle.dumps(refused.value))
    assert (again.code, again.detail) == ("bad-length", "an ML-DSA seed has 32 bytes, not 5")
    assert str(again) == "an ML-DSA seed has 32 bytes, not 5 (bad-length)"
    assert isinstance(again, ValueError) and isinstance(again, gambeson.Error)


def test_no_argument_makes_the_identity_layer_panic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every function and method with wrong arguments in every place, by position and by name."""
    monkeypatch.chdir(tmp_path)
    agent = gambeson.Agent.generate()
    cards = agent.first_card(valid_for=60)
    store = gambeson.CardStore(cards)
    public: Any = gambeson.resolve_key(agent.key_url("log"), "log", resolver=store)
    log = gambeson.AuditLog.create(agent, tmp_path / "log", "agent.example/log")
    good: list[Any] = [
        agent, cards, store, gambeson.ReplayCache(), gambeson.Policy(), gambeson.Ledger(), gambeson.StatusStore(),
        gambeson.StatusList(), agent.did, agent.key_url(), "signing", "{}", {}, b"{}", 60, str(tmp_path), -1, 2**64,
        1e300, "\ud800", "\0", [agent.did], [{}], [("a", "b")], None, object(), "a.b.c", ["a.b.c"], float("nan"),
        bytes(32), [bytes(32)], (1, bytes(32)), tlog.leaf_hash(b""), public, public.to_jwk(), public.to_multikey(),
        public.to_did(), gambeson.generate_words(), "log", "authentication", "age-mlkem768x25519",
        io.BytesIO(b"file"), io.StringIO("text"),
    ]  # fmt: skip
    targets: list[Any] = [
        agent, cards, store, gambeson.StatusList(), gambeson.StatusStore(), gambeson.Action, gambeson.CardLog,
        gambeson.Agent, gambeson.AuditLog, log, gambeson.CardDirectory(tmp_path), gambeson.ReplayCache(), public,
        gambeson.ObjectStore(), gambeson.ObjectDirectory(tmp_path / "objects"),
    ]  # fmt: skip
    work: list[tuple[str, Any]] = []
    for target in targets:
        names = [name for name in dir(target) if not name.startswith("_") and name not in ("wipe", "generate")]
        work += [(name, getattr(target, name)) for name in names if callable(getattr(target, name))]
    work += [(name, getattr(gambeson, name)) for name in gambeson.__all__ if not hasattr(getattr(gambeson, name), "code")]
    work += [(name, getattr(tlog, name)) for name in tlog.__all__]
    work = [(name, call) for name, call in work if not (isinstance(call, type) and issubclass(call, Exception))]
    rng, calls = random.Random(1), 0
    for name, call in work:
        try:
            keywords = [it.name for it in inspect.signature(call).parameters.values() if it.kind is it.KEYWORD_ONLY]
        except ValueError:
            keywords = []
        for _ in range(150):
            arguments = [rng.choice(good) for _ in range(rng.randrange(4))]
            named = {key: rng.choice(good) for key in keywords if rng.random() < 0.8}
            calls += 1
            try:
                call(*arguments, **named)
            except Exception as error:
                fine = (gambeson.Error, TypeError, ValueError, OverflowError, OSError, BufferError, RecursionError)
                assert isinstance(error, fine), f"{name}: {error!r}"
    assert len(work) > 130 and calls == 150 * len(work)
