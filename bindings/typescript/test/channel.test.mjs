// Channels by a gateway, in Node and in Chromium: the same client, from `dist`.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, connect as dial } from "node:net";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { GambesonError, connect } from "../dist/channel.js";
import { browser } from "./browser.mjs";
import { gateway } from "./gateway.mjs";
import { pages } from "./pages.mjs";

let served;
let origin;
let running;
before(async () => {
  served = await pages();
  origin = served.origin;
  running = await gateway(3, origin);
});
/** What keeps this process alive while it is open, if its test fails as well. */
const opened = new Set();
after(() => {
  for (const it of opened) it.close();
  running?.close();
  served?.close();
});

const soon = () => ({ signal: AbortSignal.timeout(20_000) });
async function as(index, { url = running.url, ...options } = {}) {
  const agent = await connect(url, { token: running.agents[index].token, ...soon(), ...options });
  opened.add(agent);
  return agent;
}
/** An agent learns a moment later than others that it was let go. */
async function gone(agent, channel) {
  const until = soon();
  while ((await agent.channels(until)).some(({ id }) => id === channel.id)) await pause(20);
}
const refused = (code) => (error) => error instanceof GambesonError && error.code === code;

/** The texts of messages, as many as asked. */
async function texts(events, count) {
  const found = [];
  for await (const event of events) {
    if (event.kind === "message") found.push(event.text);
    if (found.length === count) return found;
  }
}

/** A TCP connection that can be cut, between a client and the gateway. */
async function cuttable() {
  const open = new Set();
  const { hostname, port } = new URL(running.url);
  const between = createServer().listen(0, hostname);
  between.on("connection", (client) => {
    const far = dial(Number(port), hostname);
    for (const socket of [client, far]) {
      open.add(socket.on("error", () => {}));
      socket.on("close", () => (client.destroy(), far.destroy(), open.delete(socket)));
    }
    // The gateway asks whom a client means to reach.
    client.once("data", (head) => {
      far.write(head.toString("latin1").replace(/Host: .*\r\n/i, `Host: ${hostname}:${port}\r\n`), "latin1");
      client.pipe(far);
    });
    far.pipe(client);
  });
  await once(between, "listening");
  return {
    url: `ws://${hostname}:${between.address().port}/`,
    cut: () => open.forEach((socket) => socket.destroy()),
    close: () => (open.forEach((socket) => socket.destroy()), between.close()),
  };
}

test("agents meet in a channel, talk, ask and answer, and leave", async () => {
  const [alice, bob] = [await as(0), await as(1)];
  assert.equal(alice.did, running.agents[0].did);
  const channel = await alice.create(soon());
  await channel.invite([bob.did], soon());
  const joined = await bob.join(channel.id, soon());
  assert.deepEqual((await channel.members()).map(({ did }) => did).sort(), [alice.did, bob.did].sort());
  const [ours, theirs] = [await channel.status(), await joined.status()];
  assert.equal(ours.authenticator.length, 32);
  assert.equal(ours.members, 2);
  assert.equal(theirs.suite, 0xf00a);

  await channel.send("hello", soon());
  await channel.send(new Uint8Array([0xff, 0]), soon());
  const heard = [];
  for await (const event of joined.events(soon())) {
    if (event.kind !== "message") continue;
    heard.push([event.from, [...event.bytes]]);
    if (heard.length === 2) break;
  }
  assert.deepEqual(heard, [[alice.did, [...Buffer.from("hello")]], [alice.did, [0xff, 0]]]);

  const answering = (async () => {
    for await (const event of joined.events(soon())) {
      if (event.kind === "request") return joined.reply(event, `${event.text}? yes`, soon());
    }
  })();
  const reply = await channel.request("tea", soon());
  await answering;
  assert.deepEqual([reply.from, reply.text], [bob.did, "tea? yes"]);

  const { epoch } = await joined.status();
  await joined.rejoin(soon());
  assert.equal((await joined.status()).epoch, epoch + 1);
  for await (const event of channel.events(soon())) if (event.kind === "returned") break;

  await joined.leave(soon());
  for await (const event of channel.events(soon())) if (event.kind === "left") break;
  assert.deepEqual((await channel.members()).map(({ did }) => did), [alice.did]);
  await gone(bob, channel);
  await assert.rejects(joined.send("still here?", soon()), refused("unknown-channel"));
  alice.close();
  bob.close();
  await assert.rejects(channel.send("too late"), refused("closed"));
});

test("an agent asks before it joins: the invitation is shown, and taken", async () => {
  // The third agent takes no invitation of the second by itself.
  const [bob, carol] = [await as(1), await as(2)];
  const channel = await bob.create(soon());
  const coming = carol.invitations(soon());
  const first = coming.next();
  await channel.invite([carol.did], soon());
  assert.deepEqual((await first).value, { channel: channel.id, inviter: bob.did });
  await coming.return();
  const joined = await carol.join(channel.id, soon());
  await joined.send("here I am", soon());
  assert.deepEqual(await texts(channel.events(soon()), 1), ["here I am"]);
  await assert.rejects(joined.close(soon()), refused("not-permitted"));
  await channel.close(soon());
  await gone(carol, channel);
  for (const member of [channel, joined]) await assert.rejects(member.send("still here?", soon()), refused("unknown-channel"));
  bob.close();
  carol.close();
});

test("who joined, left and is invited again is shown the invitation again, in the same loop", async () => {
  const [bob, carol] = [await as(1), await as(2)];
  const channel = await bob.create(soon());
  const coming = carol.invitations(soon());
  for (let times = 0; times < 2; times++) {
    const next = coming.next();
    await channel.invite([carol.did], soon());
    assert.equal((await next).value.channel, channel.id);
    const joined = await carol.join(channel.id, soon());
    await joined.leave(soon());
    for await (const event of channel.events(soon())) if (event.kind === "left") break;
    await gone(carol, channel);
  }
  await coming.return();
  bob.close();
  carol.close();
});

test("connections that are cut lose nothing and repeat nothing, in either direction", async () => {
  const line = await cuttable();
  opened.add(line);
  const [alice, bob] = [await as(0), await as(1, { url: line.url })];
  const channel = await alice.create(soon());
  await channel.invite([bob.did], soon());
  const joined = await bob.join(channel.id, soon());
  const wanted = Array.from({ length: 60 }, (_, i) => `message ${i}`);
  const [atBob, atAlice] = [texts(joined.events(soon()), 120), texts(channel.events(soon()), 120)];
  for (const [i, text] of wanted.entries()) {
    if (i % 10 === 5) line.cut();
    await Promise.all([channel.send(`a ${text}`, soon()), joined.send(`b ${text}`, soon())]);
  }
  const heard = [await atBob, await atAlice];
  for (const texts of heard) {
    for (const from of ["a", "b"]) {
      assert.deepEqual(texts.filter((text) => text.startsWith(from)), wanted.map((text) => `${from} ${text}`));
    }
  }
  line.close();
  alice.close();
  bob.close();
});

test("a gateway that was started anew goes on where its clients were", async () => {
  const states = [];
  const alice = await as(0, { onconnection: (connected) => states.push(connected) });
  const channel = await alice.create(soon());
  const events = channel.events(soon());
  await channel.send("before", soon());
  assert.equal((await texts({ [Symbol.asyncIterator]: () => ({ next: () => events.next() }) }, 1))[0], "before");
  await running.restart();
  await channel.send("after", soon()).catch((error) => {
    // It was said before the end was seen: nobody knows what became of it.
    assert.ok(refused("unknown-outcome")(error), String(error));
    return channel.send("after", soon());
  });
  assert.deepEqual(await texts(events, 1), ["after"]);
  assert.deepEqual(states.slice(-2), [false, true]);
  alice.close();
});

test("calls that are made while the gateway is away wait for it, and are done when it is back", async () => {
  let lost;
  const away = new Promise((resolve) => (lost = resolve));
  const alice = await as(0, { onconnection: (connected) => connected || lost() });
  const channel = await alice.create(soon());
  const restarted = running.restart();
  await away;
  const given = new AbortController();
  const [said, never] = [channel.send("while away", soon()), channel.send("given up", { signal: given.signal })];
  given.abort();
  await assert.rejects(never, { name: "AbortError" });
  await restarted;
  await said;
  await channel.send("after", soon());
  assert.deepEqual(await texts(channel.events(soon()), 2), ["while away", "after"]);
  alice.close();
});

test("a loop that follows another at once gets all that the first left, each once and in order", async () => {
  const alice = await as(0);
  const wanted = Array.from({ length: 20 }, (_, i) => `message ${i}`);
  // The others are on their way when the first loop ends, or have come.
  for (const body of [() => Promise.resolve(), (channel) => channel.status(soon())]) {
    const channel = await alice.create(soon());
    for (const text of wanted) await channel.send(text, soon());
    const heard = [];
    const hear = (event) => event.kind === "message" && heard.push(event.text);
    for await (const event of channel.events(soon())) {
      hear(event);
      await body(channel);
      break;
    }
    for await (const event of channel.events(soon())) {
      hear(event);
      if (heard.length >= wanted.length) break;
    }
    assert.deepEqual(heard, wanted);
  }
  alice.close();
});

test("what was dealt with is not given again to who comes later, and all of it to who asks", async () => {
  const alice = await as(0);
  const channel = await alice.create(soon());
  for (const text of ["one", "two", "three"]) await channel.send(text, soon());
  assert.deepEqual(await texts(channel.events(soon()), 2), ["one", "two"]);
  alice.close();
  const again = await as(0);
  assert.deepEqual(await texts(again.channel(channel.id).events(soon()), 1), ["three"]);
  assert.deepEqual(await texts(again.channel(channel.id).events({ after: 0, ...soon() }), 3), ["one", "two", "three"]);
  const ahead = again.channel(channel.id).events({ after: 1_000_000, ...soon() });
  await assert.rejects(ahead.next(), refused("bad-position"));
  again.close();
});

test("calls end at their deadlines, and the connection goes on", async () => {
  const alice = await as(0);
  const channel = await alice.create(soon());
  await assert.rejects(channel.request("anybody?", { signal: AbortSignal.timeout(300) }), { name: "TimeoutError" });
  await assert.rejects(alice.join("0".repeat(64), { signal: AbortSignal.timeout(300) }), { name: "TimeoutError" });
  await assert.rejects(channel.events({ signal: AbortSignal.timeout(300), after: (await newest(channel)) }).next(), { name: "TimeoutError" });
  await assert.rejects(channel.send("never", { signal: AbortSignal.abort() }), { name: "AbortError" });
  await channel.send("still here", soon());
  alice.close();
});

test("a request that waits for its reply, and a join that waits for its invitation, keep no other call from being answered", async () => {
  const line = await cuttable();
  opened.add(line);
  const [alice, bob] = [await as(0), await as(1, { url: line.url })];
  const [first, second] = [await alice.create(soon()), await alice.create(soon())];
  await first.invite([bob.did], soon());
  const joined = await bob.join(first.id, soon());
  const [asked, joining] = [joined.request("tea"), bob.join(second.id)];
  const both = Promise.allSettled([asked, joining]);
  for (let calls = 0; calls < 220; calls++) {
    if (calls % 100 === 50) line.cut();
    await joined.status(soon());
  }
  // More than are open at once.
  await Promise.all(Array.from({ length: 150 }, () => joined.status(soon())));
  const heard = [];
  for await (const event of first.events(soon())) {
    if (event.kind === "request") {
      heard.push(event.text);
      await first.reply(event, "yes", soon());
      await first.send("no more", soon());
    }
    if (event.kind === "message") break;
  }
  assert.deepEqual(heard, ["tea"], "it was said once");
  await second.invite([bob.did], soon());
  const [reply, taken] = await both;
  assert.deepEqual([reply.value?.text, taken.value?.id], ["yes", second.id]);
  line.close();
  alice.close();
  bob.close();
});

test("what is given up while its connection dies is given up at the gateway once that is back", async () => {
  const answers = [];
  let socket;
  class Dying extends WebSocket {
    constructor(...to) {
      super(...to);
      socket = this;
      this.addEventListener("message", ({ data }) => answers.push(JSON.parse(data).answer));
    }
    send(frame) {
      if (!this.dead) super.send(frame);
    }
  }
  const line = await cuttable();
  opened.add(line);
  const alice = await as(0, { url: line.url, WebSocket: Dying });
  const given = new AbortController();
  const joining = alice.join("1".repeat(64), { signal: given.signal });
  // What is answered after it shows that it has arrived.
  await alice.channels(soon());
  socket.dead = true;
  const unheard = alice.join("2".repeat(64), { signal: given.signal });
  const channel = alice.create(soon());
  given.abort();
  await Promise.all([joining, unheard].map((call) => assert.rejects(call, { name: "AbortError" })));
  line.cut();
  await (await channel).send("still here", soon());
  const cancelled = () => answers.filter((answer) => answer?.failed?.code === "cancelled").map(({ id }) => id);
  for (const until = soon(); cancelled().length === 0; await pause(20)) until.signal.throwIfAborted();
  assert.deepEqual(cancelled(), [1], "the other one was never made");
  line.close();
  alice.close();
});

async function newest(channel) {
  let position = 0;
  for await (const event of channel.events({ after: 0, ...soon() })) {
    position = event.position;
    if (event.kind === "request") return position;
  }
}

test("what the gateway refuses has a code", async () => {
  await assert.rejects(connect(running.url, { token: "x".repeat(43), ...soon() }), refused("unauthorized"));
  await assert.rejects(connect("ws://127.0.0.1:9/", { token: "x".repeat(43), ...soon() }), refused("unreachable"));
  const [alice, bob] = [await as(0), await as(1)];
  const channel = await alice.create(soon());
  await assert.rejects(channel.send(new Uint8Array(64 << 10), soon()), refused("too-large"));
  await assert.rejects(channel.invite(["nobody"], soon()), refused("bad-did"));
  await assert.rejects(bob.channel(channel.id).send("I am no member", soon()), refused("unknown-channel"));
  const both = channel.events(soon());
  const first = both.next();
  await assert.rejects(channel.events(soon()).next(), refused("busy"));
  await channel.send("for the first loop", soon());
  await first;
  alice.close();
  bob.close();
});

test("Chromium speaks to the gateway from an origin that it knows, and from no other", async (t) => {
  const chromium = await browser();
  t.after(() => chromium.close());
  const page = await chromium.newPage();
  await page.goto(origin);
  const carol = await as(2);
  const id = await page.evaluate(
    async ({ url, token, carol }) => {
      const { connect } = await import("gambeson/channel");
      const signal = AbortSignal.timeout(20_000);
      const agent = await connect(url, { token, signal });
      window.channel = await agent.create({ signal });
      await window.channel.invite([carol], { signal });
      await window.channel.send("from Chromium", { signal });
      return window.channel.id;
    },
    { url: running.url, token: running.agents[0].token, carol: carol.did },
  );
  const joined = await carol.join(id, soon());
  assert.deepEqual(await texts(joined.events(soon()), 1), ["from Chromium"]);
  await joined.send("to Chromium", soon());
  const heard = await page.evaluate(async (carol) => {
    for await (const event of window.channel.events({ signal: AbortSignal.timeout(20_000) })) {
      if (event.kind === "message" && event.from === carol) return event.text;
    }
  }, carol.did);
  assert.equal(heard, "to Chromium");
  carol.close();

  const foreign = await chromium.newPage();
  await foreign.goto(origin.replace("127.0.0.1", "localhost"));
  const code = await foreign.evaluate(
    async ({ url, token }) => {
      const { connect } = await import("gambeson/channel");
      return connect(url, { token }).then(() => "let in", ({ code }) => code);
    },
    { url: running.url, token: running.agents[0].token },
  );
  assert.equal(code, "unreachable");
});
