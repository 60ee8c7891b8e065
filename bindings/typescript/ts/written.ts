import { GambesonError } from "./error.js";

/**
 * A value as JSON, for the module. `JSON.stringify` writes `null` for a number that is none, such as `1e999` is when it was parsed:
 * what is signed or verified would be another value than the one that is used.
 *
 * @throws GambesonError `bad-json`
 */
export function written(value: unknown): string {
  const text = JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === "number" && !Number.isFinite(part)) throw new GambesonError("bad-json", `${part} is no number of JSON`);
    return part;
  }) as string | undefined;
  if (text === undefined) throw new GambesonError("bad-json", `${typeof value} is no value of JSON`);
  return text;
}
