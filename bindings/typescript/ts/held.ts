import { GambesonError } from "./error.js";

/** A secret that lies in the module's memory. */
interface Freed {
  free(): void;
}

/**
 * Holds a secret of the module: it has no bytes to print, copy or serialise here, and is overwritten by `wipe`, at the end of
 * a `using` block, or when the object is collected.
 */
export abstract class Held<T extends Freed> implements Disposable {
  #secret: T | undefined;

  protected constructor(secret: T) {
    this.#secret = secret;
  }

  /** The secret, unless it was wiped. */
  protected get secret(): T {
    if (this.#secret === undefined) throw new GambesonError("wiped", "the key was wiped");
    return this.#secret;
  }

  /** Overwrites the secret; nothing works with the object after this. */
  wipe(): void {
    this.#secret?.free();
    this.#secret = undefined;
  }

  [Symbol.dispose](): void {
    this.wipe();
  }
}
