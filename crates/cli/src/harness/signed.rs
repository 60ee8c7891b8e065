//! The message of a signature request.

use super::Result_;
use super::request::{Code, Fields, Refusal};
use gambeson::mldsa::{ContextTooLong, Digest, PreHash};

/// The message that a request signs or verifies.
pub(super) enum Input {
    Pure { message: Vec<u8>, context: Vec<u8> },
    PreHashed { digest: Digest, context: Vec<u8> },
    Internal(Vec<u8>),
    Mu([u8; 64]),
}

impl Input {
    pub(super) fn read(fields: Fields<'_>) -> Result_<Self> {
        let internal = match fields.text("signatureInterface")? {
            None | Some("external") => false,
            Some("internal") => true,
            Some(_) => return Err(Refusal::unsupported("unknown `signatureInterface`")),
        };
        let hashed = match fields.text("preHash")? {
            None | Some("pure") => false,
            Some("preHash") => true,
            Some("none") if internal => false,
            Some(_) => return Err(Refusal::unsupported("unknown `preHash`")),
        };
        let external_mu = fields.flag("externalMu")?;
        let context = fields.optional("context")?.unwrap_or_default();
        if context.len() > 255 {
            return Err(Refusal::new(
                Code::BadContext,
                format!("`context` has {} bytes, more than 255", context.len()),
            ));
        }
        if external_mu != fields.has("mu") {
            return Err(Refusal::bad_request("`mu` is given exactly when `externalMu` is true"));
        }
        if external_mu {
            if fields.has("message") {
                return Err(Refusal::bad_request("both `message` and `mu` are given"));
            }
            return fields.array("mu").map(Self::Mu);
        }
        let message = fields.bytes("message")?;
        match (internal, hashed) {
            (false, false) => Ok(Self::Pure { message, context }),
            (true, false) => Ok(Self::Internal(message)),
            (true, true) => Err(Refusal::bad_request("the internal interface has no `preHash`")),
            (false, true) => {
                let name =
                    fields.text("hashAlg")?.ok_or_else(|| Refusal::bad_request("`hashAlg` is missing"))?;
                let hash: PreHash = name.parse().map_err(|_| Refusal::unsupported("unknown `hashAlg`"))?;
                Ok(Self::PreHashed { digest: hash.digest(&message), context })
            }
        }
    }
}

pub(super) fn too_long(_: ContextTooLong) -> Refusal {
    Refusal::new(Code::BadContext, "`context` has more than 255 bytes")
}
