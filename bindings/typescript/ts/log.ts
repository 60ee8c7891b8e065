import type { Agent } from "./agent.js";
import { cut, Living } from "./border.js";
import type { TreeHead } from "./forms.js";
import { known } from "./known.js";
import { seconds, type Time } from "./time.js";

/** The state of a log, signed. */
export interface Checkpoint extends TreeHead {
  /** The file `checkpoint`: a signed note (c2sp.org/tlog-checkpoint). */
  note: string;
}

/**
 * An append-only log of an agent, in the files of C2SP tlog-tiles, with proofs that need no network. The files lie in memory: keep what
 * `files({ changed: true })` gives after each `append`, the file `checkpoint` last.
 */
export class AuditLog extends Living {
  /** Begins a log; `origin` is its name, such as `agent.example/log`. */
  static create(agent: Agent, origin: string, now?: Time): AuditLog {
    return new AuditLog(agent.derive("createLog", { origin, now: seconds(now) }));
  }

  /** Opens the agent's log, and checks that its newest tiles are what the agent signed. @throws GambesonError `damaged-log`, `bad-checkpoint`, … */
  static open(agent: Agent, origin: string, files: Iterable<readonly [string, Uint8Array]>, now?: Time): AuditLog {
    const all = [...files];
    const names = all.map(([name]) => name);
    const contents = all.map(([, bytes]) => bytes);
    return new AuditLog(agent.derive("openLog", { origin, names, now: seconds(now) }, contents));
  }

  /** Appends entries, signs the longer log, and gives the number of the first of them. */
  append(agent: Agent, entries: readonly Uint8Array[], now?: Time): bigint {
    return BigInt(this.askWith<string>(agent, "append", { now: seconds(now) }, entries).said);
  }

  /** The bytes of an entry. @throws GambesonError `not-in-log` */
  entry(index: bigint | number): Uint8Array {
    return this.ask("entry", { index: String(index) }).bytes;
  }

  /** A proof that an entry is in the log: a text to keep beside the entry. @throws GambesonError `not-in-log` */
  prove(index: bigint | number): string {
    return this.ask<string>("prove", { index: String(index) }).said;
  }

  /** A proof that the log begins with all entries that it had at an older size: hashes, for `verifyConsistency`. */
  proveConsistency(oldSize: bigint | number): Uint8Array[] {
    const { bytes } = this.ask("proveConsistency", { oldSize: String(oldSize) });
    return cut(bytes, new Array<number>(bytes.length / 32).fill(32));
  }

  /** The state that the agent signed last. */
  checkpoint(): Checkpoint {
    const { said, bytes } = this.ask<{ size: string; note: string }>("checkpoint");
    return { size: BigInt(said.size), root: bytes, note: said.note };
  }

  /** How many entries there are. */
  get size(): bigint {
    return this.checkpoint().size;
  }

  /** Reads the whole log, and throws unless every entry is where the signature has it. @throws GambesonError `damaged-log` */
  audit(): void {
    this.ask("audit");
  }

  /** The files by their names, or those that were written since this was last asked. */
  files(options: { changed?: boolean } = {}): Map<string, Uint8Array> {
    const { said, bytes } = this.ask<[string, number][]>("files", known(options, "files", { changed: true }));
    const contents = cut(bytes, said.map(([, length]) => length));
    return new Map(said.map(([name], i) => [name, contents[i] as Uint8Array]));
  }
}
