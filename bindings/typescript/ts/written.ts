import { GambesonError } from "./error.js";

/**
 * A value as JSON, for the module. `JSON.stringify` writes `null` for a number that is none, such as `1e999` is when it was parsed:
 * what is signed or verified would be another value than the one that is used.
 *
 * @throws GambesonError `bad-json`
 */
export function written(value: unknown): string {
  const text = stringified(value);
  if (text === undefined) throw new GambesonError("bad-json", `a value of the type ${typeof value} is not JSON`);
  return text;
}

function stringified(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_, part: unknown) => {
      if (typeof part === "number" && !Number.isFinite(part)) throw new GambesonError("bad-json", `${part} is not a number of JSON`);
      return part;
    }) as string | undefined;
  } catch (cause) {
    if (cause instanceof GambesonError) throw cause;
    // It refers to itself, has a `bigint` in it, is too deep or too long.
    throw new GambesonError("bad-json", `this cannot be written as JSON: ${String(cause)}`, { cause });
  }
}
