//! JSON Web Signatures (RFC 7515) with ML-DSA (RFC 9964): compact, and with a detached payload.

use crate::{Algorithm, DidUrl, Error, Reason, Result, SigningKey, VerifyingKey, encoding, json};
use serde_json::{Map, Value};

/// The longest protected header that is read, in bytes.
const MAX_HEADER: usize = 16 << 10;

/// A JWS that was read, and whose signature nobody has looked at yet.
///
/// The header is hints; the payload is bytes. [`Jws::verify`] checks the signature; who calls it decides by whose key.
#[derive(Clone)]
pub struct Jws {
    header: Map<String, Value>,
    algorithm: Algorithm,
    payload: Vec<u8>,
    signing_input: String,
    signature: Vec<u8>,
}

impl Jws {
    /// Signs a payload: the compact serialization (RFC 7515, §7.1). `alg` is set to that of the key.
    ///
    /// # Errors
    ///
    /// [`Reason::NoRandomness`], [`Reason::BadJson`] for a header without canonical form.
    pub fn sign(key: &SigningKey, header: Map<String, Value>, payload: &[u8]) -> Result<String> {
        let input = format!("{}.{}", protected(key, header)?, encoding::encode(payload));
        let signature = key.sign(b"", input.as_bytes())?;
        Ok(format!("{input}.{}", encoding::encode(&signature)))
    }

    /// Signs a payload that travels elsewhere: `header..signature` (RFC 7515, Appendix F).
    ///
    /// # Errors
    ///
    /// As [`Jws::sign`].
    pub fn sign_detached(key: &SigningKey, header: Map<String, Value>, payload: &[u8]) -> Result<String> {
        let compact = Self::sign(key, header, payload)?;
        let (input, signature) = compact.rsplit_once('.').expect("a compact JWS must have two dots");
        let (header, _) = input.split_once('.').expect("a compact JWS must have two dots");
        Ok(format!("{header}..{signature}"))
    }

    /// Reads a compact JWS of at most `max_len` characters.
    ///
    /// # Errors
    ///
    /// [`Reason::TooLarge`], [`Reason::BadForm`], [`Reason::BadEncoding`], [`Reason::BadJson`], and
    /// [`Reason::BadAlgorithm`] unless `alg` is one of ML-DSA.
    pub fn parse(token: &str, max_len: usize) -> Result<Self> {
        let (header, payload, signature) = split(token, max_len)?;
        let payload = encoding::decode(payload, max_len)?;
        let input = &token[..token.len() - signature.len() - 1];
        Self::read(header, payload, input.to_owned(), signature)
    }

    /// Reads a JWS with a detached payload, which the caller has.
    ///
    /// # Errors
    ///
    /// As [`Jws::parse`].
    pub fn parse_detached(token: &str, payload: &[u8], max_len: usize) -> Result<Self> {
        let (header, empty, signature) = split(token, max_len)?;
        if !empty.is_empty() {
            return Err(Error::new(Reason::BadForm, "the payload of a detached JWS must be supplied"));
        }
        let input = format!("{header}.{}", encoding::encode(payload));
        Self::read(header, payload.to_vec(), input, signature)
    }

    fn read(header: &str, payload: Vec<u8>, signing_input: String, signature: &str) -> Result<Self> {
        let header = json::parse_object(&encoding::decode(header, MAX_HEADER)?, MAX_HEADER)?;
        let name = header.get("alg").and_then(Value::as_str);
        let algorithm = Algorithm::from_jose(
            name.ok_or_else(|| Error::new(Reason::BadAlgorithm, "a JWS must name its algorithm in alg"))?,
        )?;
        for name in ["crit", "b64", "jwk", "jku", "x5u", "x5c"] {
            if header.contains_key(name) {
                return Err(Error::new(
                    Reason::BadForm,
                    format_args!("the header parameter {name:?} is not permitted"),
                ));
            }
        }
        let signature = encoding::decode(signature, algorithm.signature_len())?;
        if signature.len() != algorithm.signature_len() {
            return Err(Error::new(
                Reason::BadSignature,
                "the length of the signature is not that of its algorithm",
            ));
        }
        Ok(Self { header, algorithm, payload, signing_input, signature })
    }

    /// The protected header.
    pub fn header(&self) -> &Map<String, Value> {
        &self.header
    }

    /// A header parameter that is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.header.get(name).and_then(Value::as_str)
    }

    /// The key that the header names: an absolute DID URL (VC-JOSE-COSE, §3.3.2).
    ///
    /// # Errors
    ///
    /// [`Reason::BadForm`] without `kid`, [`Reason::BadDid`] if it is something else.
    pub fn key_id(&self) -> Result<DidUrl> {
        DidUrl::of_key(
            self.text("kid").ok_or_else(|| Error::new(Reason::BadForm, "the header names no key (kid)"))?,
        )
    }

    /// Refuses a header whose `typ` is another. `application/` may be left out (RFC 7515, §4.1.9).
    ///
    /// # Errors
    ///
    /// [`Reason::BadType`].
    pub fn expect_type(&self, expected: &str) -> Result<()> {
        let found = self.text("typ").unwrap_or_default();
        let bare = found
            .get(..12)
            .filter(|start| start.eq_ignore_ascii_case("application/"))
            .map_or(found, |_| &found[12..]);
        match bare.eq_ignore_ascii_case(expected) {
            true => Ok(()),
            false => {
                Err(Error::new(Reason::BadType, format_args!("typ is {found:?}, expected {expected:?}")))
            }
        }
    }

    /// Refuses a header that is not that of a token of this crate's profile: `typ` and `cty` as said, and an algorithm of
    /// category 3 or 5.
    pub(crate) fn expect_profile(&self, typ: &str, cty: &str) -> Result<()> {
        self.expect_type(typ)?;
        match self.header.get("cty") {
            None => {}
            Some(Value::String(found)) if found.eq_ignore_ascii_case(cty) => {}
            Some(found) => {
                let found = found.as_str().unwrap_or("not a text");
                return Err(Error::new(Reason::BadType, format_args!("cty is {found:?}, expected {cty:?}")));
            }
        }
        match self.algorithm {
            Algorithm::MlDsa65 | Algorithm::MlDsa87 => Ok(()),
            Algorithm::MlDsa44 => {
                Err(Error::new(Reason::BadAlgorithm, "tokens must be signed with ML-DSA-65 or ML-DSA-87"))
            }
        }
    }

    /// The algorithm that the header names.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The payload, which nothing vouches for before [`Jws::verify`].
    pub fn payload_unverified(&self) -> &[u8] {
        &self.payload
    }

    /// Verifies the signature; the key decides on the algorithm, and the header must name the same.
    ///
    /// # Errors
    ///
    /// [`Reason::BadAlgorithm`], [`Reason::BadSignature`].
    pub fn verify(&self, key: &VerifyingKey) -> Result<()> {
        if key.algorithm() != self.algorithm {
            return Err(Error::new(
                Reason::BadAlgorithm,
                format_args!("the header names {}, but the key is of {}", self.algorithm, key.algorithm()),
            ));
        }
        key.verify(b"", self.signing_input.as_bytes(), &self.signature)
    }
}

impl core::fmt::Debug for Jws {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Jws").field("header", &self.header).finish_non_exhaustive()
    }
}

fn protected(key: &SigningKey, mut header: Map<String, Value>) -> Result<String> {
    header.insert("alg".into(), key.algorithm().jose().into());
    Ok(encoding::encode(&json::canonicalize_object(&header)?))
}

fn split(token: &str, max_len: usize) -> Result<(&str, &str, &str)> {
    if token.len() > max_len {
        return Err(Error::new(
            Reason::TooLarge,
            format_args!("the JWS has {} characters; the limit is {max_len}", token.len()),
        ));
    }
    let mut parts = token.split('.');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(header), Some(payload), Some(signature), None) => Ok((header, payload, signature)),
        _ => Err(Error::new(Reason::BadForm, "a compact JWS must have three parts with dots between them")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Agent, MasterSeed, Role};
    use serde_json::json;

    fn header(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn agent() -> Agent {
        Agent::from_seed(MasterSeed::from_bytes(&[3; 32]))
    }

    #[test]
    fn a_token_verifies_and_any_other_character_does_not() {
        let agent = agent();
        let key = agent.key(Role::Signing);
        let token = Jws::sign(
            key,
            header(json!({"typ": "vc+jwt", "kid": agent.key_url(Role::Signing).to_string()})),
            b"{}",
        )
        .unwrap();
        let jws = Jws::parse(&token, 8192).unwrap();
        assert_eq!(jws.verify(&key.verifying_key()), Ok(()));
        assert_eq!(jws.key_id(), Ok(agent.key_url(Role::Signing)));
        assert!(jws.expect_type("vc+jwt").is_ok() && jws.expect_type("vp+jwt").is_err());
        for at in (0..token.len()).step_by(17) {
            let mut bytes = token.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let tampered = String::from_utf8(bytes).unwrap();
            let verdict = Jws::parse(&tampered, 8192).and_then(|jws| jws.verify(&key.verifying_key()));
            assert!(verdict.is_err(), "character {at}");
        }
    }

    #[test]
    fn a_detached_token_needs_its_payload() {
        let agent = agent();
        let key = agent.key(Role::Signing);
        let token = Jws::sign_detached(key, header(json!({"typ": "x"})), b"payload").unwrap();
        let verdict =
            |payload: &[u8]| Jws::parse_detached(&token, payload, 8192)?.verify(&key.verifying_key());
        assert_eq!(verdict(b"payload"), Ok(()));
        assert_eq!(verdict(b"Payload").unwrap_err().reason(), Reason::BadSignature);
        let whole = Jws::sign(key, Map::new(), b"payload").unwrap();
        assert_eq!(Jws::parse_detached(&whole, b"payload", 8192).unwrap_err().reason(), Reason::BadForm);
    }

    #[test]
    fn headers_that_ask_for_trust_are_refused() {
        let signature = encoding::encode(&[0; 3309]);
        let refused = |header: Value| {
            let token = format!("{}.e30.{signature}", encoding::encode(header.to_string().as_bytes()));
            Jws::parse(&token, 8192).unwrap_err().reason()
        };
        assert_eq!(refused(json!({"alg": "none"})), Reason::BadAlgorithm);
        assert_eq!(refused(json!({"alg": "ES256"})), Reason::BadAlgorithm);
        assert_eq!(refused(json!({})), Reason::BadAlgorithm);
        assert_eq!(refused(json!({"alg": "ML-DSA-87"})), Reason::BadSignature);
        for name in ["crit", "b64", "jwk", "jku", "x5u", "x5c"] {
            assert_eq!(refused(json!({"alg": "ML-DSA-65", name: []})), Reason::BadForm);
        }
        let twice = encoding::encode(br#"{"alg":"ML-DSA-65","alg":"ML-DSA-65"}"#);
        assert_eq!(
            Jws::parse(&format!("{twice}.e30.{signature}"), 8192).unwrap_err().reason(),
            Reason::BadJson
        );
        assert_eq!(Jws::parse("a.b", 8192).unwrap_err().reason(), Reason::BadForm);
        assert_eq!(Jws::parse("a.b.c.d", 8192).unwrap_err().reason(), Reason::BadForm);
        assert_eq!(Jws::parse("a.b.c", 4).unwrap_err().reason(), Reason::TooLarge);
    }

    #[test]
    fn the_key_decides_on_the_algorithm() {
        let agent = agent();
        let token = Jws::sign(agent.key(Role::Signing), Map::new(), b"{}").unwrap();
        let other = agent.key(Role::Log).verifying_key();
        assert_eq!(
            Jws::parse(&token, 8192).unwrap().verify(&other).unwrap_err().reason(),
            Reason::BadAlgorithm
        );
    }
}
