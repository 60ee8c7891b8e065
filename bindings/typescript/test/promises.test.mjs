// What the benches hold: a row that is slower than liboqs-js or node:crypto, and bytes above the promise.
import assert from "node:assert/strict";
import { test } from "node:test";
import { over, PROMISED, slower } from "../bench/promises.mjs";

test("a row that is slower than liboqs-js is named, whatever the others are", () => {
  const row = (name, gambeson, theirs, noble = 1) => ({ name, times: { gambeson, "liboqs-js": theirs, noble } });
  const rows = [row("equal", 2, 2), row("faster", 1, 2), row("slower", 2.1, 2, 9), row("not measured", NaN, 2)];
  assert.deepEqual(slower(rows).map(({ name }) => name), ["slower", "not measured"]);
});

test("a row that is slower than node:crypto is named, and one that has no node:crypto is not", () => {
  const rows = [
    { name: "slower than both", times: { gambeson: 3, "liboqs-js": 2, "node:crypto": 2 } },
    { name: "slower than one", times: { gambeson: 3, "liboqs-js": 4, "node:crypto": 2 } },
    { name: "faster", times: { gambeson: 1, "node:crypto": 2 } },
    { name: "not run", times: { gambeson: 3, "liboqs-js": 4 } },
  ];
  assert.deepEqual(slower(rows), [
    { name: "slower than both", peer: "liboqs-js" },
    { name: "slower than both", peer: "node:crypto" },
    { name: "slower than one", peer: "node:crypto" },
  ]);
});

test("primitives and identity are held to the promise together, and the other modules are not", () => {
  const sizes = (identity) => [
    { name: "gambeson", size: 50_000 },
    { name: "identity", size: identity },
    { name: "whole", size: 400_000 },
    { name: "hash", size: 50_000 },
  ];
  assert.equal(over(sizes(PROMISED - 50_000)), 0);
  assert.equal(over(sizes(PROMISED - 49_999)), 1);
});
