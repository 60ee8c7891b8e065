export { Dsa, SigningKey, VerifyingKey, mldsa44, mldsa65, mldsa87, type Message, type MessageStream, type SignatureOptions } from "./dsa.js";
export { GambesonError } from "./error.js";
export type { PrivateJwk, PublicJwk } from "./jwk.js";
export { sha3_256, sha3_384, sha3_512, shake128, shake256 } from "./hash.js";
export type { ModuleSource } from "./init.js";
export {
  DecapsulationKey,
  EncapsulationKey,
  Kem,
  mlkem1024,
  mlkem512,
  mlkem768,
  xwing,
  type Encapsulation,
} from "./kem.js";
export { init } from "./primitives.js";
