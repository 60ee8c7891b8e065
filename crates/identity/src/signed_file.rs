//! Signatures of files of any size: a JWS over the file's hash, whose signer is a DID.
//!
//! `docs/spec/signed-file.md` has the format. The file is hashed piece by piece and never held; the hash is that of the
//! signer's suite: BLAKE3 (`b3`), or SHA-384 (`sha384`) for suite `cnsa2`.

use crate::jose::Jws;
use crate::{
    Agent, Error, Kind, Reason, Relationship, Resolver, Result, Role, Suite, Timestamp, Verified, json,
};
use serde_json::{Map, Value};
use sha2::{Digest, Sha384};

/// The media type in `typ`, without `application/`.
const TYPE: &str = "gambeson-file+jws";

/// The longest signature that is read, in characters: one of ML-DSA-87 has about 6,800.
const MAX_TOKEN: usize = 16 << 10;

/// By how much the clock of a signer may be ahead, in seconds.
const SKEW: u64 = 60;

/// Hashes a file piece by piece.
#[derive(Clone, Debug)]
pub struct FileHasher {
    hash: Hash,
    size: u64,
}

#[derive(Clone, Debug)]
enum Hash {
    Blake3(Box<blake3::Hasher>),
    Sha384(Sha384),
}

impl FileHasher {
    /// The hash that signers of this suite use.
    #[must_use]
    pub fn new(suite: Suite) -> Self {
        let hash = match suite {
            Suite::Default => Hash::Blake3(Box::default()),
            Suite::Cnsa2 => Hash::Sha384(Sha384::new()),
        };
        Self { hash, size: 0 }
    }

    /// Takes the next piece.
    pub fn update(&mut self, piece: &[u8]) {
        match &mut self.hash {
            Hash::Blake3(hasher) => drop(hasher.update(piece)),
            Hash::Sha384(hasher) => hasher.update(piece),
        }
        self.size += piece.len() as u64;
    }

    fn finish(self) -> (String, u64) {
        let hash = match self.hash {
            Hash::Blake3(hasher) => format!("b3:{}", hasher.finalize().to_hex()),
            Hash::Sha384(hasher) => hasher
                .finalize()
                .iter()
                .fold(String::from("sha384:"), |text, byte| text + &format!("{byte:02x}")),
        };
        (hash, self.size)
    }
}

/// What the signature of a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedFile {
    /// `b3:` or `sha384:`, and the hash in hexadecimal.
    pub hash: String,
    /// Length of the file in bytes.
    pub size: u64,
    /// When it was signed, as the signer says.
    pub issued: Timestamp,
}

/// A signature of a file that was read, and that nothing vouches for yet.
#[derive(Clone, Debug)]
pub struct FileSignature {
    jws: Jws,
    claims: SignedFile,
    suite: Suite,
}

impl FileSignature {
    /// Signs a file that was hashed, with the signing key (`m/1'`).
    ///
    /// ```
    /// use gambeson_identity::{Agent, CardContent, CardLog, CardStore, FileHasher, FileSignature, Timestamp};
    ///
    /// let (agent, now) = (Agent::generate()?, Timestamp(1_795_330_800));
    /// let mut hasher = FileHasher::new(agent.suite());
    /// hasher.update(b"report");
    /// let token = FileSignature::sign(&agent, hasher, now)?;
    ///
    /// let mut store = CardStore::default();
    /// store.add(CardLog::new(agent.first_card(now, now.after(3600), &CardContent::default())?)?)?;
    /// let signature = FileSignature::parse(&token)?;
    /// let mut hasher = signature.hasher();
    /// hasher.update(b"report");
    /// assert_eq!(signature.verify(hasher, &store, now)?.signer().did(), agent.did());
    /// # Ok::<(), gambeson_identity::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Reason::NoRandomness`]; [`Reason::BadForm`] if the hash is that of another suite, [`Reason::BadJson`] beyond
    /// 2^53 bytes.
    pub fn sign(agent: &Agent, file: FileHasher, now: Timestamp) -> Result<String> {
        if matches!(file.hash, Hash::Sha384(_)) != (agent.suite() == Suite::Cnsa2) {
            return Err(Error::new(
                Reason::BadForm,
                "the file was hashed for a suite other than the signer's",
            ));
        }
        let (hash, size) = file.finish();
        let payload = serde_json::json!({"v": 1, "hash": hash, "size": size, "iat": now.0});
        let header = Map::from_iter([
            ("typ".to_owned(), Value::from(TYPE)),
            ("kid".to_owned(), agent.key_url(Role::Signing).to_string().into()),
        ]);
        Jws::sign(agent.key(Role::Signing), header, &json::canonicalize(&payload)?)
    }

    /// Reads a signature.
    ///
    /// # Errors
    ///
    /// [`Reason::BadType`], [`Reason::BadForm`], or what is wrong with the JWS.
    pub fn parse(token: &str) -> Result<Self> {
        let jws = Jws::parse(token, MAX_TOKEN)?;
        jws.expect_type(TYPE)?;
        let bad = || Error::new(Reason::BadForm, "the claims must be v: 1, hash, size and iat and no other");
        let claims = json::parse_object(jws.payload_unverified(), MAX_TOKEN)?;
        let number = |name: &str| claims.get(name).and_then(Value::as_u64).ok_or_else(bad);
        let hash = claims.get("hash").and_then(Value::as_str).ok_or_else(bad)?;
        let digits = |digits: &str, len: usize| {
            digits.len() == len && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
        };
        let suite = match hash.split_once(':') {
            Some(("b3", hex)) if digits(hex, 64) => Suite::Default,
            Some(("sha384", hex)) if digits(hex, 96) => Suite::Cnsa2,
            _ => return Err(bad()),
        };
        if number("v")? != 1 || claims.len() != 4 {
            return Err(bad());
        }
        let claims =
            SignedFile { hash: hash.to_owned(), size: number("size")?, issued: Timestamp(number("iat")?) };
        Ok(Self { jws, claims, suite })
    }

    /// What hashes the file as the signer did.
    #[must_use]
    pub fn hasher(&self) -> FileHasher {
        FileHasher::new(self.suite)
    }

    /// Verifies that the holder of a DID signed the file that was hashed.
    ///
    /// # Errors
    ///
    /// [`Reason::BadDigest`] if it is another file, [`Reason::NotYetValid`] for a signature from the future,
    /// [`Reason::BadSignature`], or why the key is not to be believed.
    pub fn verify(
        &self,
        file: FileHasher,
        resolver: &dyn Resolver,
        now: Timestamp,
    ) -> Result<Verified<SignedFile>> {
        let url = self.jws.key_id()?;
        let document = resolver.resolve(url.did(), now)?;
        let key = document.key_for(&url, Kind::JsonWebKey, Relationship::AssertionMethod, now)?;
        self.jws.verify(key)?;
        now.not_before(self.claims.issued, SKEW, "the signature")?;
        if file.finish() != (self.claims.hash.clone(), self.claims.size) {
            return Err(Error::new(Reason::BadDigest, "the file is not the one that was signed"));
        }
        Ok(Verified::new(self.claims.clone(), url))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CardContent, CardLog, CardStore, MasterSeed};

    const NOW: Timestamp = Timestamp(1_795_330_800);

    fn hashed(suite: Suite, bytes: &[u8]) -> FileHasher {
        let mut hasher = FileHasher::new(suite);
        bytes.chunks(3).for_each(|piece| hasher.update(piece));
        hasher
    }

    fn known(agent: &Agent) -> CardStore {
        let mut store = CardStore::default();
        let card = agent.first_card(NOW, NOW.after(3600), &CardContent::default()).unwrap();
        store.add(CardLog::new(card).unwrap()).unwrap();
        store
    }

    #[test]
    fn a_signed_file_verifies_and_any_other_does_not() {
        for suite in [Suite::Default, Suite::Cnsa2] {
            let agent = Agent::with_suite(MasterSeed::from_bytes(&[5; 32]), suite);
            let store = known(&agent);
            let token = FileSignature::sign(&agent, hashed(suite, b"a report"), NOW).unwrap();
            let signature = FileSignature::parse(&token).unwrap();
            let judge = |bytes: &[u8], now| signature.verify(hashed(suite, bytes), &store, now);
            let verified = judge(b"a report", NOW).unwrap();
            assert_eq!((verified.size, verified.issued), (8, NOW));
            assert_eq!(*verified.signer(), agent.key_url(Role::Signing));
            let reason = |bytes: &[u8], now| judge(bytes, now).unwrap_err().reason();
            assert_eq!(reason(b"a Report", NOW), Reason::BadDigest);
            assert_eq!(reason(b"", NOW), Reason::BadDigest);
            assert_eq!(reason(b"a report", NOW.after(7200)), Reason::Expired);
            let nobody = signature.verify(hashed(suite, b"a report"), &CardStore::default(), NOW);
            assert_eq!(nobody.unwrap_err().reason(), Reason::UnknownDid);
            let early = FileSignature::sign(&agent, hashed(suite, b"x"), NOW.after(SKEW + 1)).unwrap();
            let early = FileSignature::parse(&early).unwrap().verify(hashed(suite, b"x"), &store, NOW);
            assert_eq!(early.unwrap_err().reason(), Reason::NotYetValid);
            let other = if suite == Suite::Default { Suite::Cnsa2 } else { Suite::Default };
            let mixed = FileSignature::sign(&agent, hashed(other, b"x"), NOW);
            assert_eq!(mixed.unwrap_err().reason(), Reason::BadForm);
        }
    }

    #[test]
    fn claims_have_one_form() {
        let agent = Agent::from_seed(MasterSeed::from_bytes(&[5; 32]));
        let parsed = |typ: &str, claims: Value| {
            let header = Map::from_iter([
                ("typ".to_owned(), Value::from(typ)),
                ("kid".to_owned(), agent.key_url(Role::Signing).to_string().into()),
            ]);
            let token = Jws::sign(agent.key(Role::Signing), header, claims.to_string().as_bytes()).unwrap();
            FileSignature::parse(&token).map_err(|error| error.reason())
        };
        let hash = format!("b3:{}", "0".repeat(64));
        let good = serde_json::json!({"v": 1, "hash": hash, "size": 0, "iat": 0});
        assert!(parsed(TYPE, good.clone()).is_ok());
        assert_eq!(parsed("vc+jwt", good.clone()).unwrap_err(), Reason::BadType);
        for (name, value) in [
            ("v", 2.into()),
            ("hash", "b3:00".into()),
            ("hash", format!("md5:{}", "0".repeat(64)).into()),
            ("hash", format!("b3:{}", "A".repeat(64)).into()),
            ("size", (-1).into()),
            ("iat", "0".into()),
            ("more", Value::Null),
        ] {
            let mut bad = good.clone();
            bad[name] = value;
            assert_eq!(parsed(TYPE, bad).unwrap_err(), Reason::BadForm, "{name}");
        }
    }

    #[test]
    fn the_key_of_another_purpose_signs_no_file() {
        let agent = Agent::from_seed(MasterSeed::from_bytes(&[5; 32]));
        let header = Map::from_iter([
            ("typ".to_owned(), Value::from(TYPE)),
            ("kid".to_owned(), agent.key_url(Role::Identity).to_string().into()),
        ]);
        let hash = format!("b3:{}", blake3::hash(b"x").to_hex());
        let claims = serde_json::json!({"v": 1, "hash": hash, "size": 1, "iat": NOW.0}).to_string();
        let token = Jws::sign(agent.key(Role::Identity), header, claims.as_bytes()).unwrap();
        let signature = FileSignature::parse(&token).unwrap();
        let judged = signature.verify(hashed(Suite::Default, b"x"), &known(&agent), NOW);
        assert_eq!(judged.unwrap_err().reason(), Reason::WrongPurpose);
    }
}
