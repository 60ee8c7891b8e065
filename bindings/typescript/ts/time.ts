import { GambesonError } from "./error.js";

/** A moment: a `Date`, or seconds since 1970. */
export type Time = Date | number;

/** Whole seconds since 1970; now by default. @throws GambesonError `bad-time` */
export function seconds(time: Time = new Date()): number {
  const seconds = Math.floor(typeof time === "number" ? time : time.getTime() / 1000);
  if (!Number.isSafeInteger(seconds) || seconds < 0) throw new GambesonError("bad-time", "a time is a valid Date or seconds since 1970");
  return seconds;
}
