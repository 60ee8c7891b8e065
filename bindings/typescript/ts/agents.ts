export { GambesonError } from "./error.js";
export { init } from "./identity.js";
export type { ModuleSource } from "./init.js";
export {
  Agent,
  type Amount,
  type Capability,
  type CardOptions,
  type CredentialInput,
  type DelegationInput,
  type Evidence,
  type HttpOptions,
  type HttpRequest,
  type Json,
} from "./agent.js";
export type { Time } from "./time.js";
export {
  Verifier,
  type CallOptions,
  type Opened,
  type VerifiedCall,
  type VerifiedCredential,
  type VerifiedDelegation,
  type VerifiedLink,
  type VerifiedPresentation,
} from "./verifier.js";
