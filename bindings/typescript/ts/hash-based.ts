export { GambesonError } from "./error.js";
export { init } from "./hash-module.js";
export type { ModuleSource } from "./init.js";
export { HssVerifyingKey, LmsVerifyingKey, hss, lms } from "./lms.js";
export {
  SlhDsa,
  SigningKey,
  VerifyingKey,
  slhdsa,
  type Message,
  type ParameterSet,
  type PreHash,
  type SignatureOptions,
  type SigningOptions,
} from "./slhdsa.js";
export { XmssVerifyingKey, xmss, xmssmt } from "./xmss.js";
