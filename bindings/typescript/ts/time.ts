import { ask } from "./border.js";
import { tagOf } from "./bytes.js";
import { GambesonError } from "./error.js";

/** A moment: a `Date`, or seconds since 1970. */
export type Time = Date | number;

/** Whether it is a moment, or something else that says one among other things. */
export const isTime = (given: unknown): given is Time => typeof given === "number" || tagOf(given) === "Date";

/** Whole seconds since 1970; now by default. @throws GambesonError `bad-time` */
export function seconds(time: Time = new Date()): number {
  const seconds = Math.floor(typeof time === "number" ? time : isTime(time) ? Number(time) / 1000 : Number.NaN);
  if (!Number.isSafeInteger(seconds) || seconds < 0) throw new GambesonError("bad-time", "a time must be a valid Date or seconds since 1970");
  return seconds;
}

/** When something begins and ends. */
export function span(from: Time | undefined, validFor: number): { from: number; until: number } {
  const begin = seconds(from);
  return { from: begin, until: seconds(begin + validFor) };
}

/** A time as texts have it: RFC 3339, in whole seconds of UTC. */
export function rfc3339(time: number): string {
  return new Date(time * 1000).toISOString().replace(/\.\d+Z$/, "Z");
}

/**
 * Reads a time of a credential or a card, RFC 3339 as the data model allows it: seconds since 1970, and the same as it is written here.
 * @throws GambesonError `bad-time`
 */
export function parseTime(text: string): { seconds: number; text: string } {
  return ask<{ seconds: number; text: string }>("time", { text }).said;
}
