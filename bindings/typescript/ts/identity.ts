import { readIdentity, readWhole } from "#module";
import { GambesonError } from "./error.js";
import { Loader, running, type ModuleSource } from "./init.js";
import * as glue from "./wasm/identity.js";

const smaller = /* @__PURE__ */ new Loader(() => glue, readIdentity);
/** What loads it is the same JavaScript once more, for its objects live in a memory of their own. */
const larger = /* @__PURE__ */ new Loader<typeof glue>(() => import("./wasm/whole.js"), readWhole);

/**
 * Loads the identity layer; call it before anything else here. It may be called again, by a library and the page that uses it, and grows: what
 * is loaded is not loaded again.
 *
 * `"whole"` loads the module that has all: words and files of seeds, backups and sealed state, signed files, memory objects that are
 * checked, cut and joined, logs and their proofs, SD-JWT, and status lists that are issued or read as well, which without it throw
 * `not-loaded`. It is half as large again. Where the other was loaded before, its objects go on as they are, and new ones are of the whole
 * module; one of each are no arguments of each other (`other-module`).
 *
 * The module is found beside this file. Where a bundler or a platform puts it elsewhere, give it, as the only argument or behind
 * `"whole"`: the package exports `gambeson/identity.wasm` and `gambeson/whole.wasm`.
 * @throws GambesonError `load-failed`
 */
export async function init(
  source?: ModuleSource | Promise<ModuleSource> | "whole",
  whole?: ModuleSource | Promise<ModuleSource>,
): Promise<void> {
  if (typeof source === "string" && source !== "whole") throw new GambesonError("bad-form", `there is no module "${String(source)}"`);
  // An argument that is not needed may fail.
  for (const given of [source, whole]) if (given instanceof Promise) given.catch(() => undefined);
  if (larger.asked) return larger.init();
  if (source !== "whole") return smaller.init(source);
  await (smaller.loaded?.whole() ? undefined : larger.init(whole));
}

/** The functions of the module. */
export const wasm = (): typeof glue => running(larger.loaded ?? smaller.loaded);
