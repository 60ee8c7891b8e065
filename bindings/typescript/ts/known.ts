import { tagOf } from "./bytes.js";
import { GambesonError } from "./error.js";

/** The names of all members that an interface has. */
export type Names<T> = Readonly<Record<keyof T, true>>;

/**
 * The members of an argument, inherited ones too. One that is not in `names` is refused: it may be a limit that is misspelt, and whoever wrote
 * it believes that it holds.
 *
 * @throws GambesonError `bad-form`; `what` names the argument
 */
export function known<T extends object>(given: T, what: string, names: Names<T>): T {
  if (tagOf(given) !== "Object") throw new GambesonError("bad-form", `${what}: an object is needed, not a value of the kind ${tagOf(given)}`);
  const all = Object.keys(names);
  for (const name in given) {
    if (all.includes(name)) continue;
    const meant = all.find((it) => it.toLowerCase() === name.toLowerCase());
    const hint = meant === undefined ? `its members are ${all.join(", ")}` : `did you mean "${meant}"?`;
    throw new GambesonError("bad-form", `${what} has an unknown member "${name}": ${hint}`);
  }
  const members = all.map((name) => [name, given[name as keyof T]] as const);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined)) as T;
}

/** Whether an argument has a member, if it has members at all. */
export function has<T extends object, N extends string>(given: T, name: N): given is Extract<T, { [_ in N]: unknown }> {
  return tagOf(given) === "Object" && name in given;
}

/** As `known`, of an argument that may be missing. */
export function knownIf<T extends object>(given: T | undefined, what: string, names: Names<T>): T | undefined {
  return given === undefined ? undefined : known(given, what, names);
}

/** A list, and not a text, which would be taken for its characters. @throws GambesonError `bad-form` */
export function listOf<T>(items: readonly T[], what: string): readonly T[] {
  if (!Array.isArray(items)) throw new GambesonError("bad-form", `${what}: a list is needed, not a value of the kind ${tagOf(items)}`);
  return items;
}
