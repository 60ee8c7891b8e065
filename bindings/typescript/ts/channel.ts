/**
 * Channels of agents, end-to-end encrypted with post-quantum MLS, by a gateway on this machine that holds the agent's keys
 * (`gambeson slim up --websocket`). Works in browsers and in Node 22; in Node 20 with `--experimental-websocket` or `{ WebSocket }`.
 *
 * ```ts
 * const agent = await connect("ws://127.0.0.1:4680/", { token });
 * const channel = await agent.create();
 * await channel.invite(["did:gambeson:…"]);
 * await channel.send("hello");
 * for await (const event of channel.events()) {
 *   if (event.kind === "message") console.log(event.from, event.text);
 * }
 * ```
 */
import { bytesOf } from "./bytes.js";
import { GambesonError } from "./error.js";
import { known, listOf, type Names } from "./known.js";

export { GambesonError } from "./error.js";

/** The subprotocol of WebSocket, with its version. */
const SUBPROTOCOL = "gambeson.channel.1";
/** Codes with which the gateway ends a connection for good, and what they are as errors. */
const FINAL: Readonly<Record<number, string>> = { 4400: "bad-frame", 4401: "unauthorized", 4409: "replaced" };
/** How many calls may wait for their answers at the gateway; more wait here. */
const MAX_OPEN = 64;
/** Pauses between attempts to come back, in milliseconds. */
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 5_000;
/** How long a call waits at the gateway if its signal does not end it before, in milliseconds: a day, the gateway's own limit. */
const LONGEST_WAIT = 24 * 3_600_000;

/** How to reach the gateway. */
export interface ConnectOptions {
  /** The bearer token of the agent. Who has it is the agent. */
  token: string;
  /** Gives up the first connection. */
  signal?: AbortSignal;
  /** A WebSocket with the interface of browsers, where the platform has none. */
  WebSocket?: typeof WebSocket;
  /** Told whenever the connection is lost or back. Nothing is lost with it. */
  onconnection?: (connected: boolean) => void;
}

/** A deadline or another reason to give up, such as `AbortSignal.timeout(5_000)`. */
export interface Deadline {
  signal?: AbortSignal;
}

/** Which message: of whom, and the how manieth. */
export interface MessageId {
  readonly sender: string;
  readonly born: number;
  readonly counter: number;
  readonly index: number;
}

/** What is behind a bridge: a session of stock SLIM clients, whose cryptography is classical. */
export interface FarEnd {
  readonly session: string;
  /** Whether it has SLIM's own MLS. If not, SLIM's nodes can read all that is carried. */
  readonly encrypted: boolean;
  readonly clients: readonly string[];
}

/** A member of a channel. */
export interface Member {
  readonly did: string;
  readonly role: string;
  /** How many of the agent's own bundles it has given no receipt for. */
  readonly behind: number;
  /** When it was last heard of, in milliseconds since 1970; 0: never. */
  readonly heard: number;
  /** What is behind it, if it is a bridge. */
  readonly bridge: FarEnd | null;
}

/** How a channel stands. */
export interface Status {
  readonly epoch: number;
  /** The same at all members of an epoch, in hexadecimal digits. */
  readonly authenticator: string;
  readonly suite: number;
  readonly members: number;
  readonly unsent: number;
  readonly forked: boolean;
  readonly over: boolean;
}

/** An invitation that waits. Who invites is proven when it is taken, and not before. */
export interface Invitation {
  readonly channel: string;
  readonly inviter: string;
}

interface Happened {
  /** Its place in the agent's history of the channel: grows, and is the same for all clients of the agent. */
  readonly position: number;
  /** Milliseconds since 1970, by the gateway's clock. */
  readonly at: number;
}

interface Payload {
  readonly bytes: Uint8Array;
  /** The bytes as UTF-8. */
  readonly text: string;
}

/** Somebody said something; the agent itself too. */
export interface Said extends Happened, Payload {
  readonly kind: "message" | "request" | "reply";
  readonly id: MessageId;
  readonly from: string;
  /** The request that is replied to. */
  readonly to?: MessageId;
}

/** News of a bridge, and what classical clients behind it say. */
export type BridgeNews = Happened & { readonly kind: "bridge"; readonly id: MessageId; readonly by: string; readonly classical: true } & (
    | { readonly says: "open"; readonly end: FarEnd }
    | ({ readonly says: "said"; readonly client: string; readonly type: string } & Payload)
    | { readonly says: "missed" | "closed"; readonly reason: string }
  );

/** Who belongs to the channel, or what it stands on, has changed. */
export interface Changed extends Happened {
  readonly kind: "joined" | "left" | "removed" | "returned" | "policy" | "rotated";
  readonly epoch: number;
  readonly members?: readonly string[];
  readonly by?: string;
}

/** Something that nobody should overlook. */
export interface Warned extends Happened {
  readonly kind: "warning";
  readonly code: string;
  readonly members: readonly string[];
  readonly message: string;
}

/** Two states of one channel were seen: nothing is said in it before somebody decided, by {@link Channel.rejoin}. */
export interface Forked extends Happened {
  readonly kind: "fork";
  readonly epoch: number;
  readonly ours: string;
  readonly theirs: string;
  readonly by: string | null;
}

/** What happens in a channel. */
export type ChannelEvent = Said | BridgeNews | Changed | Warned | Forked;

/** From where on events are wanted, and until when. */
export interface EventOptions extends Deadline {
  /** After which position; without it, after the last that a client of the agent has dealt with. */
  after?: number;
}

const CONNECT: Names<ConnectOptions> = { token: true, signal: true, WebSocket: true, onconnection: true };
const DEADLINE: Names<Deadline> = { signal: true };
const EVENTS: Names<EventOptions> = { ...DEADLINE, after: true };

/** Connects to a gateway as the agent of a token. @throws GambesonError `unauthorized`, `unreachable` */
export async function connect(url: string | URL, options: ConnectOptions): Promise<ChannelAgent> {
  const given = known(options, "connect", CONNECT);
  const found = given.WebSocket ?? globalThis.WebSocket;
  if (found === undefined) {
    throw new GambesonError("no-websocket", "this platform has no WebSocket: give one, or start Node with --experimental-websocket");
  }
  const line = new Line(String(url), given, found);
  return new ChannelAgent(line, await line.begin(given.signal));
}

/** An agent whose keys the gateway holds. */
export class ChannelAgent {
  readonly #line: Line;
  readonly did: string;

  /** @internal */
  constructor(line: Line, did: string) {
    this.#line = line;
    this.did = did;
  }

  /** Creates a channel that the agent owns. */
  async create(deadline: Deadline = {}): Promise<Channel> {
    const { channel } = (await this.#line.call("create", {}, deadline)) as Invitation;
    return new Channel(this.#line, channel);
  }

  /** The channels that the agent is in. */
  async channels(deadline: Deadline = {}): Promise<Channel[]> {
    const ids = (await this.#line.call("channels", {}, deadline)) as string[];
    return ids.map((id) => new Channel(this.#line, id));
  }

  /** A channel by its id, which the agent is in. */
  channel(id: string): Channel {
    return new Channel(this.#line, id);
  }

  /** Takes the invitation to a channel, waiting for it if it has not come. */
  async join(id: string, deadline: Deadline = {}): Promise<Channel> {
    await this.#line.join(id, deadline);
    return new Channel(this.#line, id);
  }

  /** The invitations that nobody decided on: those that wait, and those that come. */
  invitations(deadline: Deadline = {}): AsyncGenerator<Invitation, void, undefined> {
    return this.#line.invitations(known(deadline, "invitations", DEADLINE).signal);
  }

  /** Ends the connection. The agent stays in its channels. */
  close(): void {
    this.#line.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** A channel that the agent is a member of. */
export class Channel {
  readonly #line: Line;
  readonly id: string;

  /** @internal */
  constructor(line: Line, id: string) {
    this.#line = line;
    this.id = id;
  }

  #call(what: string, more: object, deadline: Deadline): Promise<unknown> {
    return this.#line.call(what, { channel: this.id, ...more }, deadline);
  }

  /** Says something to all members: at most 49,152 bytes, or as many as the policy allows. @throws GambesonError `too-large` */
  async send(said: string | Uint8Array, deadline: Deadline = {}): Promise<MessageId> {
    return (await this.#call("send", { bytes: encode(said) }, deadline)) as MessageId;
  }

  /** Says something, at most 49,152 bytes, and waits for the first reply, which all members see. Without a signal, for a day. */
  async request(said: string | Uint8Array, deadline: Deadline = {}): Promise<Payload & { readonly from: string; readonly id: MessageId }> {
    const reply = await this.#call("request", { bytes: encode(said), wait: LONGEST_WAIT }, deadline);
    return payload(reply as { from: string; id: MessageId; bytes: string });
  }

  /** Replies to a request. */
  async reply(to: Said | MessageId, said: string | Uint8Array, deadline: Deadline = {}): Promise<MessageId> {
    const { sender, born, counter, index } = "id" in to ? to.id : to;
    return (await this.#call("reply", { to: { sender, born, counter, index }, bytes: encode(said) }, deadline)) as MessageId;
  }

  /** Invites agents, who need not be there. */
  async invite(dids: readonly string[], deadline: Deadline = {}): Promise<void> {
    await this.#call("invite", { dids: listOf(dids, "invite") }, deadline);
  }

  /** Removes members. */
  async remove(dids: readonly string[], deadline: Deadline = {}): Promise<void> {
    await this.#call("remove", { dids: listOf(dids, "remove") }, deadline);
  }

  /** Who is in the channel. */
  async members(deadline: Deadline = {}): Promise<Member[]> {
    return (await this.#call("members", {}, deadline)) as Member[];
  }

  /** How the channel stands. */
  async status(deadline: Deadline = {}): Promise<Status> {
    return (await this.#call("status", {}, deadline)) as Status;
  }

  /** Gives the agent new keys: after this, what leaked before helps nobody. */
  async rotate(deadline: Deadline = {}): Promise<void> {
    await this.#call("rotate", {}, deadline);
  }

  /**
   * After a fork, decides for what the log shows: who is on its side stays, who is not comes back from outside. Otherwise comes back from
   * outside. @throws GambesonError `no-checkpoint` while no member on the log's side is there to help
   */
  async rejoin(deadline: Deadline = {}): Promise<void> {
    await this.#call("rejoin", {}, deadline);
  }

  /** Leaves the channel. */
  async leave(deadline: Deadline = {}): Promise<void> {
    await this.#call("leave", {}, deadline);
  }

  /** Ends the channel for everybody: removes all others, and leaves. */
  async close(deadline: Deadline = {}): Promise<void> {
    await this.#call("close", {}, deadline);
  }

  /**
   * What happens, each event once, also when the connection is lost between. An event counts as dealt with when the next one is asked
   * for, or the loop is left; one that was not is given again to who begins after a crash. One loop a channel at a time.
   */
  events(options: EventOptions = {}): AsyncGenerator<ChannelEvent, void, undefined> {
    return this.#line.events(this.id, options);
  }
}

interface Call {
  readonly what: object;
  /** Nobody waits for its answer any more. */
  cancelled: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

interface Feed {
  /** What the gateway says with all that comes of it. What is still on its way of an earlier feed has another. */
  readonly number: number;
  readonly queue: Queue<ChannelEvent>;
  /** The newest position that arrived here. */
  position: number | undefined;
  /** Up to which position all was dealt with. */
  acknowledged: number;
}

interface Invited {
  readonly queue: Queue<Invitation>;
  /** The channels whose invitations were given, so that one that is told of again is not. */
  readonly given: Set<string>;
}

type FromGateway = {
  welcome?: { did: string; resumed: boolean };
  answer?: { id: number; done?: unknown; failed?: Failed };
  occurrence?: { channel: string; feed?: number; position: number; at: number; event: Record<string, unknown> };
  stopped?: { channel: string; feed?: number; failed: Failed };
  invitation?: Invitation;
};
type Failed = { code: string; message: string };

/** What goes to the gateway and comes from it, through all of its connections. */
class Line {
  readonly #session = hex(crypto.getRandomValues(new Uint8Array(16)));
  readonly #open = new Map<number, Call>();
  readonly #waiting: Call[] = [];
  readonly #feeds = new Map<string, Feed>();
  readonly #invited = new Set<Invited>();
  /** The number of the newest feed. */
  #newestFeed = 0;
  /** The number of the newest call that has one. */
  #newest = 0;
  #socket: WebSocket | undefined;
  #welcomed = false;
  #closed: GambesonError | undefined;
  #pause = FIRST_PAUSE;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #first: { resolve: (did: string) => void; reject: (reason: unknown) => void } | undefined;

  constructor(
    private readonly url: string,
    private readonly options: ConnectOptions,
    private readonly Socket: typeof WebSocket,
  ) {}

  async begin(signal: AbortSignal | undefined): Promise<string> {
    signal?.throwIfAborted();
    const abort = (): void => this.#first?.reject(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    try {
      return await new Promise<string>((resolve, reject) => {
        this.#first = { resolve, reject };
        this.#connect();
      });
    } catch (error) {
      this.close();
      throw error;
    } finally {
      this.#first = undefined;
      signal?.removeEventListener("abort", abort);
    }
  }

  #connect(): void {
    let socket: WebSocket;
    try {
      socket = new this.Socket(this.url, SUBPROTOCOL);
    } catch (error) {
      this.#fail(new GambesonError("unreachable", `${this.url} is no address of a gateway: ${String(error)}`));
      return;
    }
    this.#socket = socket;
    socket.onopen = () => socket.send(JSON.stringify({ hello: { token: this.options.token, session: this.#session } }));
    socket.onmessage = ({ data }) => {
      if (this.#socket === socket && typeof data === "string") this.#take(JSON.parse(data) as FromGateway);
    };
    // Node 20 tells of a connection that did not come about by this alone.
    socket.onerror = () => {
      if (this.#socket === socket && socket.readyState !== socket.OPEN) this.#lost(1006, "");
    };
    socket.onclose = ({ code, reason }) => {
      if (this.#socket === socket) this.#lost(code, reason);
    };
  }

  #lost(code: number, reason: string): void {
    this.#socket = undefined;
    const final = FINAL[code];
    if (final !== undefined) return this.#fail(new GambesonError(final, reason || "the gateway ended the connection"));
    if (this.#first !== undefined) return this.#fail(new GambesonError("unreachable", `no gateway answers at ${this.url}, or it does not let this page in`));
    const told = this.#welcomed;
    this.#welcomed = false;
    this.#timer = setTimeout(() => this.#connect(), this.#pause * (0.5 + Math.random()));
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
    // Last: who is told may call, or close.
    if (told) this.options.onconnection?.(false);
  }

  /** Ends everything with an error. */
  #fail(error: GambesonError): void {
    if (this.#closed !== undefined) return;
    this.#closed = error;
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
    this.#first?.reject(error);
    for (const call of [...this.#open.values(), ...this.#waiting]) call.reject(error);
    this.#open.clear();
    this.#waiting.length = 0;
    for (const { queue } of this.#feeds.values()) queue.fail(error);
    for (const { queue } of this.#invited) queue.fail(error);
  }

  close(): void {
    this.#fail(new GambesonError("closed", "the connection to the gateway was closed here"));
  }

  /** Says something, if there is somebody to hear it. */
  #send(frame: object): void {
    if (this.#welcomed) this.#socket?.send(JSON.stringify(frame));
  }

  #take(frame: FromGateway): void {
    const { welcome, answer, occurrence, stopped, invitation } = frame;
    if (welcome) this.#welcome(welcome);
    if (answer) {
      const call = this.#open.get(answer.id);
      this.#open.delete(answer.id);
      this.#begin();
      if (answer.failed) call?.reject(new GambesonError(answer.failed.code, answer.failed.message));
      else call?.resolve(answer.done);
    }
    if (occurrence) {
      const { position, at, event } = occurrence;
      const feed = this.#feed(occurrence);
      // What arrived before is not given again.
      if (feed && position > (feed.position ?? -1)) {
        feed.position = position;
        feed.queue.push({ ...("bytes" in event ? payload(event as { bytes: string }) : event), position, at } as ChannelEvent);
      }
    }
    if (stopped) this.#feed(stopped)?.queue.fail(new GambesonError(stopped.failed.code, stopped.failed.message));
    if (invitation) for (const invited of this.#invited) invite(invited, invitation);
  }

  /** The feed that a frame is of, if it is still wanted. */
  #feed({ channel, feed: number }: { channel: string; feed?: number }): Feed | undefined {
    const feed = this.#feeds.get(channel);
    return feed?.number === number ? feed : undefined;
  }

  #welcome({ did, resumed }: { did: string; resumed: boolean }): void {
    const again = this.#first === undefined;
    this.#welcomed = true;
    this.#pause = FIRST_PAUSE;
    this.#first?.resolve(did);
    if (again && !resumed) {
      // The gateway does not know what was asked: it may have been done, or not.
      const error = new GambesonError("unknown-outcome", "the gateway was started anew before it answered");
      for (const call of this.#open.values()) call.reject(error);
      this.#open.clear();
    }
    for (const [id, { cancelled }] of this.#open) {
      if (!cancelled) continue;
      // The gateway may not have heard that it was given up, nor of the call itself: so it is not made again.
      this.#open.delete(id);
      this.#send({ cancel: { id } });
    }
    for (const [id, call] of this.#open) this.#make(id, call);
    for (const [channel, feed] of this.#feeds) {
      this.#receive(channel, feed);
      if (feed.acknowledged >= 0) this.#send({ acknowledge: { channel, position: feed.acknowledged } });
    }
    this.#begin();
    this.options.onconnection?.(true);
  }

  /** Says a call, up to which call all answers have arrived, and of which others before it they have not. */
  #make(id: number, { what }: Call): void {
    const open = [...this.#open.keys()].filter((other) => other < id);
    this.#send({ call: { id, settled: (open[0] ?? id) - 1, open, do: what } });
  }

  /** Makes calls that waited for room, or for the gateway: what never left this place has no unknown outcome. */
  #begin(): void {
    if (!this.#welcomed) return;
    while (this.#waiting.length > 0 && this.#open.size < MAX_OPEN) {
      const call = this.#waiting.shift()!;
      this.#open.set(++this.#newest, call);
      this.#make(this.#newest, call);
    }
  }

  /** Gives a call up. */
  #cancel(call: Call): void {
    const at = this.#waiting.indexOf(call);
    if (at >= 0) this.#waiting.splice(at, 1);
    call.cancelled = true;
    // Its answer still comes, and settles it.
    for (const [id, open] of this.#open) if (open === call) this.#send({ cancel: { id } });
  }

  async call(what: string, fields: object, deadline: Deadline): Promise<unknown> {
    const { signal } = known(deadline, what, DEADLINE);
    if (this.#closed) return Promise.reject(this.#closed);
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    return new Promise((resolve, reject) => {
      const done = (): void => signal?.removeEventListener("abort", abort);
      const call: Call = {
        what: { [what]: fields },
        cancelled: false,
        resolve: (value) => (done(), resolve(value)),
        reject: (reason) => (done(), reject(reason)),
      };
      const abort = (): void => {
        this.#cancel(call);
        call.reject(signal?.reason);
      };
      signal?.addEventListener("abort", abort, { once: true });
      this.#waiting.push(call);
      this.#begin();
    });
  }

  async join(channel: string, deadline: Deadline): Promise<void> {
    await this.call("join", { channel, wait: LONGEST_WAIT }, deadline);
    // Who leaves may be invited again.
    for (const { given } of this.#invited) given.delete(channel);
  }

  #receive(channel: string, { number: feed, position: after }: Feed): void {
    this.#send({ receive: after === undefined ? { channel, feed } : { channel, feed, after } });
  }

  #acknowledge(channel: string, feed: Feed, position: number): void {
    if (position <= feed.acknowledged) return;
    feed.acknowledged = position;
    this.#send({ acknowledge: { channel, position } });
  }

  async *events(channel: string, options: EventOptions): AsyncGenerator<ChannelEvent, void, undefined> {
    const { after, signal } = known(options, "events", EVENTS);
    if (this.#closed) throw this.#closed;
    if (this.#feeds.has(channel)) throw new GambesonError("busy", "another loop reads the events of this channel");
    const feed: Feed = { number: ++this.#newestFeed, queue: new Queue(), position: after, acknowledged: -1 };
    this.#feeds.set(channel, feed);
    this.#receive(channel, feed);
    try {
      for (;;) {
        const event = await feed.queue.next(signal);
        try {
          yield event;
        } finally {
          this.#acknowledge(channel, feed, event.position);
        }
      }
    } finally {
      this.#feeds.delete(channel);
      this.#send({ stop: { channel } });
    }
  }

  async *invitations(signal: AbortSignal | undefined): AsyncGenerator<Invitation, void, undefined> {
    if (this.#closed) throw this.#closed;
    const invited: Invited = { queue: new Queue(), given: new Set() };
    this.#invited.add(invited);
    try {
      const waiting = (await this.call("invitations", {}, signal ? { signal } : {})) as Invitation[];
      for (const invitation of waiting) invite(invited, invitation);
      for (;;) yield await invited.queue.next(signal);
    } finally {
      this.#invited.delete(invited);
    }
  }
}

/** Puts an invitation where it is asked for, unless it is there: the gateway tells of it again after each connection. */
function invite({ queue, given }: Invited, invitation: Invitation): void {
  if (given.has(invitation.channel)) return;
  given.add(invitation.channel);
  queue.push(invitation);
}

/** What has arrived and was not asked for yet. */
class Queue<T> {
  readonly #items: T[] = [];
  #error: unknown;
  #wake: (() => void) | undefined;

  push(item: T): void {
    this.#items.push(item);
    this.#wake?.();
  }

  fail(error: unknown): void {
    this.#error ??= error;
    this.#wake?.();
  }

  async next(signal: AbortSignal | undefined): Promise<T> {
    for (;;) {
      signal?.throwIfAborted();
      if (this.#items.length > 0) return this.#items.shift()!;
      if (this.#error !== undefined) throw this.#error;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          signal?.removeEventListener("abort", wake);
          this.#wake = undefined;
          resolve();
        };
        this.#wake = wake;
        signal?.addEventListener("abort", wake, { once: true });
      });
    }
  }
}

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

function encode(said: string | Uint8Array): string {
  const bytes = typeof said === "string" ? new TextEncoder().encode(said) : bytesOf(said);
  let text = "";
  // In parts: a call takes only so many arguments.
  for (let i = 0; i < bytes.length; i += 0x2000) text += String.fromCharCode(...bytes.subarray(i, i + 0x2000));
  return btoa(text);
}

function payload<T extends { bytes: string }>(said: T): Omit<T, "bytes"> & Payload {
  const bytes = Uint8Array.from(atob(said.bytes), (character) => character.charCodeAt(0));
  return {
    ...said,
    bytes,
    get text() {
      return new TextDecoder().decode(bytes);
    },
  };
}
