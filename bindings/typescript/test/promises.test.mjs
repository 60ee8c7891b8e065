// What the benches hold: a row that is slower than liboqs-js, and bytes above the promise.
import assert from "node:assert/strict";
import { test } from "node:test";
import { over, PROMISED, slower } from "../bench/promises.mjs";

test("a row that is slower than liboqs-js is named, whatever the others are", () => {
  const rows = [
    { name: "equal", times: [2, 2, 1] },
    { name: "faster", times: [1, 2] },
    { name: "slower", times: [2.1, 2, 9] },
    { name: "not measured", times: [NaN, 2] },
  ];
  assert.deepEqual(slower(rows), ["slower", "not measured"]);
});

test("primitives and identity are held to the promise together, and the whole module is not", () => {
  const sizes = (identity) => [
    { name: "gambeson", size: 50_000 },
    { name: "identity", size: identity },
    { name: "whole", size: 400_000 },
  ];
  assert.equal(over(sizes(PROMISED - 50_000)), 0);
  assert.equal(over(sizes(PROMISED - 49_999)), 1);
});
