// The files of vectors that Rust wrote, and how they are held against the package.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { GambesonError } from "gambeson/agent";

/** How many vectors each file has. */
export const FILES = {
  a2a: 50, action: 102, backup: 75, "card-log": 84, "data-integrity": 39, delegation: 349, did: 265, httpsig: 214, json: 105, jws: 99,
  kdf: 218, log: 77, memory: 27, recovery: 55, "sd-jwt": 77, sealed: 67, "signed-file": 48, state: 32, status: 53, vc: 269, "vc-jwt": 120,
};

/** Those that ask for what the package must not have, a derived key or a signature without randomness: `derived.test.mjs` judges them. */
export const DERIVED = { kdf: ["key", "path"], log: ["tree"] };

export function read(name) {
  const file = JSON.parse(readFileSync(new URL(`../../../vectors/${name}.json`, import.meta.url), "utf8"));
  assert.deepEqual([file.version, file.subject, file.count, file.vectors.length], [1, name, FILES[name], FILES[name]]);
  return file.vectors;
}

export const unhex = (digits) => new Uint8Array(Buffer.from(digits, "hex"));
export const hex = (bytes) => Buffer.from(bytes).toString("hex");

/**
 * Judges the vectors of these kinds. `judges` has a function a kind: it throws, or returns what is compared with the vector by name.
 * `expected` has, a kind, how many hold and how many are refused for their reason.
 */
export function judge(name, expected, judges) {
  test(`${name}.json: ${Object.keys(expected).join(", ")}`, () => {
    const vectors = read(name);
    const counts = Object.fromEntries(Object.keys(expected).map((kind) => [kind, [0, 0]]));
    for (const vector of vectors) {
      const kind = vector.kind ?? name;
      if (!(kind in expected)) continue;
      const refused = vector.result === "reject" || vector.reason !== undefined;
      let found;
      let error;
      try {
        found = judges[kind](vector, vectors);
      } catch (caught) {
        if (!(caught instanceof GambesonError)) throw caught;
        error = caught;
      }
      assert.equal(error?.code, vector.reason, `${vector.id}: ${error?.message ?? "it holds"}`);
      assert.equal(error !== undefined, refused, vector.id);
      for (const [member, value] of Object.entries(found ?? {})) assert.deepEqual(value, vector[member], `${vector.id}: ${member}`);
      counts[kind][refused ? 1 : 0] += 1;
    }
    assert.deepEqual(counts, expected);
  });
}
