/** A moment: a `Date`, or seconds since 1970. */
export type Time = Date | number;

/** Whole seconds since 1970; now by default. */
export function seconds(time: Time = new Date()): number {
  return Math.floor(typeof time === "number" ? time : time.getTime() / 1000);
}
