// What is promised of speed and of size: each is judged by itself, so that one that is missed hides no other.

/** At most 80 KB by gzip for primitives and identity together: what the package promised before it was built. */
export const PROMISED = 80_000;

/** By how many bytes what is loaded is above that; `whole` stands in the place of `identity`. */
export function over(loaded) {
  return loaded.filter(({ name }) => name !== "whole").reduce((sum, { size }) => sum + size, 0) - PROMISED;
}

/** The rows in which the second, liboqs-js, is faster than the first. */
export function slower(rows) {
  return rows.filter(({ times: [ours, theirs] }) => !(ours <= theirs)).map(({ name }) => name);
}
