import { readIdentity, readWhole } from "#module";
import { GambesonError } from "./error.js";
import { Loader, type ModuleSource } from "./init.js";
import * as glue from "./wasm/identity.js";

const loader = /* @__PURE__ */ new Loader(glue, readIdentity);

/**
 * Loads the identity layer, once; call it before anything else here. Later calls wait for the first.
 *
 * `"whole"` loads the module that has all: words and files of seeds, backups and sealed state, signed files, memory objects that are
 * checked, cut and joined, logs and their proofs, SD-JWT, and status lists that are issued or read as well, which without it throw
 * `not-loaded`. It is half as large again.
 *
 * Without an argument the module is found beside this file. Where a bundler or a platform puts it elsewhere, give it: the package
 * exports `gambeson/identity.wasm` and `gambeson/whole.wasm`.
 * @throws GambesonError `already-loaded`, if the whole one is asked for where the other was loaded
 */
export async function init(source?: ModuleSource | Promise<ModuleSource> | "whole"): Promise<void> {
  await loader.init(source === "whole" ? readWhole : source);
  if (source === "whole" && !wasm().whole()) throw new GambesonError("already-loaded", "objects live in the module that was loaded first");
}

/** The functions of the module. */
export const wasm = (): typeof glue => loader.functions();
