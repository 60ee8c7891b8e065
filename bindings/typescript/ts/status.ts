import type { Agent, Json } from "./agent.js";
import { Living } from "./border.js";
import { GambesonError } from "./error.js";
import { wasm } from "./identity.js";
import { known } from "./known.js";
import { span, type Time } from "./time.js";
import { written } from "./written.js";

/** What a bit of a status list means. A suspension can be taken back. */
export type StatusPurpose = "revocation" | "suspension";

/** A list of bits, one a credential, that says which were revoked, or suspended (Bitstring Status List v1.0). */
export class StatusList extends Living {
  /** An empty list of at least 131,072 entries, which is the default, so that nobody learns from an index who is meant. */
  constructor(purpose: StatusPurpose = "revocation", entries?: number) {
    super(wasm().Handle.statusList(written({ purpose, entries })));
  }

  /** Sets the bit of a credential, or clears it. @throws GambesonError `irreversible`, `out-of-range` */
  set(index: number, value = true): void {
    this.ask("set", { index, value });
  }

  /** Whether the bit of a credential is set. @throws GambesonError `out-of-range` */
  isSet(index: number): boolean {
    return this.ask<boolean>("isSet", { index }).said;
  }

  /** The bits as the standard has them in `encodedList`. */
  encode(): string {
    return this.ask<string>("encode").said;
  }

  /** How many entries there are. */
  get length(): number {
    return this.ask<number>("entries").said;
  }

  /**
   * Issues the list as a credential of its own, which stands at `url`: `vc+jwt`, good for a day by default. `ttl` is the number of
   * seconds after which readers should fetch it again.
   */
  issue(agent: Agent, url: string, options: { from?: Time; validFor?: number; ttl?: number } = {}): string {
    const { from, validFor = 86_400, ttl } = known(options, "issue", { from: true, validFor: true, ttl: true });
    return this.askWith<string>(agent, "issue", { url, ...span(from, validFor), ttl }).said;
  }
}

/** Where the status of a credential stands: what goes into `status` of a credential or of a delegation. */
export function statusEntry(list: string, index: number, purpose: StatusPurpose = "revocation"): Json {
  if (!Number.isSafeInteger(index) || index < 0) throw new GambesonError("bad-form", "statusEntry: an index must be an integer, 0 or more");
  if (purpose !== "revocation" && purpose !== "suspension") throw new GambesonError("bad-form", 'statusEntry: a purpose must be "revocation" or "suspension"');
  return {
    type: "BitstringStatusListEntry",
    statusPurpose: purpose,
    statusListIndex: String(index),
    statusListCredential: list,
  };
}
