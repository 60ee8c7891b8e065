import { bytesOf, tagOf } from "./bytes.js";
import { GambesonError, untrapped } from "./error.js";
import { Held } from "./held.js";
import { wasm } from "./identity.js";
import type { Handle } from "./wasm/identity.js";
import { written } from "./written.js";

/** What the module answers: JSON, and bytes that go with it. */
export interface Said<T> {
  said: T;
  bytes: Uint8Array;
}

/** Bytes that go with a question: as a whole, or in pieces. */
export type Bytes = Uint8Array | readonly Uint8Array[];

const NONE = new Uint8Array();

/** What a list has, or a map by any names. */
export function valuesOf(items: Iterable<Uint8Array> | ReadonlyMap<string, Uint8Array>): Uint8Array[] {
  return tagOf(items) === "Map" ? [...(items as ReadonlyMap<string, Uint8Array>).values()] : [...(items as Iterable<Uint8Array>)];
}

/** A question as it crosses. */
function question(input: object, bytes: Bytes): [string, Uint8Array] {
  if (!Array.isArray(bytes)) return [written(input), bytesOf(bytes as Uint8Array)];
  const [whole, pieces] = [joined(bytes), bytes.map(({ length }: Uint8Array) => length)];
  return [written({ ...input, pieces }), whole];
}

/** A question crosses as JSON with bytes beside it, and so does the answer: a line, and what follows it. */
function cross<T>(call: (input: string, bytes: Uint8Array) => Uint8Array, input: object, bytes: Bytes): Said<T> {
  const [text, beside] = question(input, bytes);
  const answer = untrapped(() => call(text, beside));
  const end = answer.indexOf(10);
  const line = end < 0 ? answer : answer.subarray(0, end);
  const said = JSON.parse(new TextDecoder().decode(line)) as T;
  const rest = end < 0 ? NONE : answer.slice(end + 1);
  answer.fill(0);
  return { said, bytes: rest };
}

/** Asks the module for what needs no object. */
export function ask<T>(verb: string, input: object = {}, bytes: Bytes = NONE): Said<T> {
  return cross((text, beside) => wasm().call(verb, text, beside), input, bytes);
}

/** An object that lives in the module. */
export abstract class Living extends Held<Handle> {
  protected ask<T>(verb: string, input: object = {}, bytes: Bytes = NONE): Said<T> {
    return cross((text, beside) => this.secret.call(verb, text, beside), input, bytes);
  }

  /** Asks whether somebody may do what costs this, which is asked for once it is certain who they are. */
  protected askPriced<T>(verb: string, input: object, price: () => object | undefined): Said<T> {
    const cost = (): string | undefined => {
      const amount = price();
      return amount && written(amount);
    };
    return cross((text, beside) => this.secret.callPriced(verb, text, beside, cost), input, NONE);
  }

  /** Asks for what needs an agent too. */
  protected askWith<T>(agent: Living, verb: string, input: object, bytes: Bytes = NONE): Said<T> {
    if (agent.secret.constructor !== this.secret.constructor) {
      const message = 'one of the two objects was made before `init("whole")` loaded another module: make it again';
      throw new GambesonError("other-module", message);
    }
    return cross((text, beside) => this.secret.callWith(agent.secret, verb, text, beside), input, bytes);
  }

  /** What comes from this object. @internal */
  derive(verb: string, input: object, bytes: Bytes = NONE): Handle {
    const [text, beside] = question(input, bytes);
    return untrapped(() => this.secret.derive(verb, text, beside));
  }
}

/** One string of bytes. @throws GambesonError `bad-form` if a piece is something else */
export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const length = pieces.reduce((length, piece) => length + bytesOf(piece).length, 0);
  if (length > 1 << 30) throw new GambesonError("too-large", `${length} bytes together; at most ${1 << 30} are taken at once`);
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** The bytes cut into pieces of these lengths. */
export function cut(bytes: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  let at = 0;
  return lengths.map((length) => bytes.slice(at, (at += length)));
}

/** JSON that is given as a text, or as what is to be one. */
export function textOf(json: string | object): string {
  return typeof json === "string" ? json : written(json);
}
