// What is promised of speed and of size: each is judged by itself, so that one that is missed hides no other.

/** At most 80 KB by gzip for primitives and identity together: what the package promised before it was built. */
export const PROMISED = 80_000;

/** By how many bytes what is loaded is above that; `whole` stands in the place of `identity`, and `hash` is loaded apart. */
export function over(loaded) {
  return loaded.filter(({ name }) => name === "gambeson" || name === "identity").reduce((sum, { size }) => sum + size, 0) - PROMISED;
}

/** The peers than which this package is promised to be no slower. */
export const JUDGED = ["liboqs-js", "node:crypto"];

/** The rows in which one of these is faster, each with that peer. `times` has the median of each peer that was measured. */
export function slower(rows) {
  const peersOf = ({ times }) => JUDGED.filter((peer) => peer in times && !(times.gambeson <= times[peer]));
  return rows.flatMap((row) => peersOf(row).map((peer) => ({ name: row.name, peer })));
}
