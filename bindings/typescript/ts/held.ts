import { GambesonError } from "./error.js";

/** A secret that lies in the module's memory. */
interface Freed {
  free(): void;
}

/** One for all objects: with a getter of its own, each would be of a hidden class of its own. */
const UNCLONEABLE = {
  enumerable: true,
  get: (): never => {
    throw new TypeError("this object cannot be cloned or posted: send what its methods write");
  },
};

/**
 * Has `structuredClone` and `postMessage` refuse the object: what they would make has none of its methods, and nothing of what it holds. They
 * read every property, and this one throws.
 */
export function uncloneable(object: object): void {
  Object.defineProperty(object, "uncloneable", UNCLONEABLE);
}

/** The error of a constructor that is not for callers. */
export function notMade(name: string): GambesonError {
  return new GambesonError("usage", `${name} is made by the functions of this package, and not by new`);
}

/**
 * Holds a secret of the module: it has no bytes to print, copy or serialise here, and is overwritten by `wipe`, at the end of
 * a `using` block, or when the object is collected.
 */
export abstract class Held<T extends Freed> implements Disposable {
  #secret: T | undefined;

  protected constructor(secret: T) {
    if (typeof secret?.free !== "function") throw notMade(new.target.name);
    this.#secret = secret;
    uncloneable(this);
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

  /** What `JSON.stringify` writes of it: nothing that is secret. */
  toJSON(): object {
    return {};
  }
}
