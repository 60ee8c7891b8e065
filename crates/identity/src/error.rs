//! The one error of this crate: a reason with a stable code, and a sentence.

use crate::text::one_line;
use core::fmt;

/// Lists the reasons with their codes; a module's reasons stand together.
macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        /// Why something was refused.
        ///
        /// The codes are the same in every language and in the test vectors; they never change their meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Reason {
            $($(#[$doc])* $name,)*
        }

        impl Reason {
            /// Every reason, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The code, in words with hyphens between them.
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }
        }
    };
}

reasons! {
    // Forms and bytes.
    /// More bytes than this kind of object may have.
    TooLarge = "too-large",
    /// Not JSON, or JSON that RFC 7493 (I-JSON) does not allow: a key twice, a number that is not exact, too deep.
    BadJson = "bad-json",
    /// Not base64url without padding.
    BadEncoding = "bad-encoding",
    /// A member is missing, has the wrong type, or says something that its format does not allow.
    BadForm = "bad-form",
    /// Not a time in the form that is asked for.
    BadTime = "bad-time",

    // Keys and signatures.
    /// Not a key of the algorithm that is named.
    BadKey = "bad-key",
    /// An algorithm that is not among those allowed here.
    BadAlgorithm = "bad-algorithm",
    /// The signature does not fit the key and the bytes.
    BadSignature = "bad-signature",
    /// The object is of another type than asked for.
    BadType = "bad-type",
    /// A context that applications may not sign in: the empty one, or one of this crate's formats.
    BadContext = "bad-context",
    /// A context of more than 255 bytes.
    ContextTooLong = "context-too-long",
    /// The operating system gave no random bytes.
    NoRandomness = "no-randomness",

    // Time.
    /// Its time has not come.
    NotYetValid = "not-yet-valid",
    /// Its time is over.
    Expired = "expired",

    // Actions, signed HTTP, delegation and approval.
    /// What may be used once was used before.
    Replayed = "replayed",
    /// The memory of what was used is full, and nothing in it has expired.
    CacheFull = "cache-full",
    /// It may be used for longer than is allowed here.
    LongLived = "long-lived",
    /// The signature leaves out what must be signed.
    Uncovered = "uncovered",
    /// Signed by another than the one who was asked for.
    OtherSigner = "other-signer",
    /// The body is not the one whose hash is stated.
    WrongDigest = "wrong-digest",
    /// The chain begins with somebody whom nobody here trusts for this.
    UntrustedRoot = "untrusted-root",
    /// The link grants more than its parent has.
    Widened = "widened",
    /// More links than are allowed.
    TooDeep = "too-deep",
    /// Somebody acts with a grant that is another's.
    WrongDelegate = "wrong-delegate",
    /// Nothing that was granted permits this.
    NotPermitted = "not-permitted",
    /// More calls than were granted.
    OverCount = "over-count",
    /// More cost than was granted, or a cost that nobody stated.
    OverBudget = "over-budget",
    /// It needs an approval that is not there.
    NotApproved = "not-approved",

    // Actions, delegation and credentials.
    /// The issuer that is named is not the one whose key signed.
    WrongIssuer = "wrong-issuer",
    /// Made for another verifier.
    WrongAudience = "wrong-audience",
    /// Nothing secures the object: no envelope and no proof.
    Unsecured = "unsecured",
    /// Nobody here can look up the status.
    UnknownStatus = "unknown-status",
    /// Revoked.
    Revoked = "revoked",

    // Seeds and derivation.
    /// Not a path of the hierarchy.
    BadPath = "bad-path",

    // DIDs, documents and cards.
    /// Not a DID or DID URL of a method that is known here.
    BadDid = "bad-did",
    /// Nobody here knows the document of that DID.
    UnknownDid = "unknown-did",
    /// The document has no such key.
    UnknownKey = "unknown-key",
    /// The key exists, but not for this purpose.
    WrongPurpose = "wrong-purpose",
    /// The key was revoked.
    KeyRevoked = "key-revoked",
    /// The card's first DID key does not hash to the DID.
    NotBound = "not-bound",
    /// A card, or a link of a delegation, does not follow from the one before it.
    BrokenChain = "broken-chain",
    /// A newer card is known.
    StaleCard = "stale-card",
    /// The card and the seed do not belong together.
    WrongSeed = "wrong-seed",

    // Signed files.
    /// The hash is not that of the bytes.
    BadDigest = "bad-digest",

    // Sealed payloads, backups, memory objects.
    /// None of the keys that were tried opens it: it is for another agent, or was changed.
    CannotOpen = "cannot-open",
    /// The signed part names another recipient than the agent that opened it.
    OtherRecipient = "other-recipient",
    /// The archive of a backup is not in its form.
    BadArchive = "bad-archive",
    /// The bytes do not have the hash that names them.
    WrongHash = "wrong-hash",

    // Recovery of the seed.
    /// Not 24 words of BIP-39 with a checksum that fits.
    BadWords = "bad-words",
    /// Not enough shares, or shares of different seeds.
    BadShares = "bad-shares",
    /// The passphrase is another one, or the file's header was changed.
    WrongPassphrase = "wrong-passphrase",
    /// The passphrase would take more work than is allowed.
    TooMuchWork = "too-much-work",

    // Logs.
    /// Not a checkpoint, or one of another log.
    BadCheckpoint = "bad-checkpoint",
    /// The proof does not show that the entry is in the log.
    NotIncluded = "not-included",
    /// A newer state of a log does not begin with an older one, or may not begin with it.
    Inconsistent = "inconsistent",
    /// The log has no such entry.
    NotInLog = "not-in-log",
    /// The files of the log are not those of its checkpoint.
    DamagedLog = "damaged-log",
    /// Files could not be read or written.
    StorageFailed = "storage-failed",

    // Credentials, presentations and status lists.
    /// The holder that is named is not the one whose key signed, or not the one whom the credential is about.
    WrongHolder = "wrong-holder",
    /// Made for another request: the nonce or challenge is another.
    WrongNonce = "wrong-nonce",
    /// A newer status list is known, or one with revocations that this one takes back.
    StaleStatus = "stale-status",
    /// Suspended.
    Suspended = "suspended",
    /// What was done for good cannot be undone.
    Irreversible = "irreversible",
    /// A number beyond its range.
    OutOfRange = "out-of-range",
    /// A disclosure that the issuer's token does not refer to, or refers to twice, or that may not be one.
    BadDisclosure = "bad-disclosure",
}

/// The longest sentence, in characters.
const MAX_DETAIL: usize = 256;

/// Something was refused: a [`Reason`] for programs and a sentence for people, without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    reason: Reason,
    detail: Box<str>,
}

/// A result of this crate.
pub type Result<T, E = Error> = core::result::Result<T, E>;

impl Error {
    /// Returns an error with a sentence that names the caller's mistake. After 256 characters it is cut, and it is one line
    /// ([`one_line`]): text that it quotes may come from anybody.
    pub fn new(reason: Reason, detail: impl fmt::Display) -> Self {
        let mut detail = detail.to_string();
        if let Some((end, _)) = detail.char_indices().nth(MAX_DETAIL) {
            detail.truncate(end);
            detail.push('…');
        }
        Self { reason, detail: one_line(detail).into_boxed_str() }
    }

    /// The reason, with its stable code.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// The sentence.
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

/// A [`Reason::BadForm`] with this sentence.
pub(crate) fn bad(what: impl fmt::Display) -> Error {
    Error::new(Reason::BadForm, what)
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason, self.detail)
    }
}

impl core::error::Error for Error {}

impl From<gambeson::RngError> for Error {
    fn from(error: gambeson::RngError) -> Self {
        Self::new(Reason::NoRandomness, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_sentence_that_quotes_much_is_cut_between_characters() {
        let cut = Error::new(Reason::BadForm, "é".repeat(100_000));
        assert_eq!(cut.detail(), "é".repeat(MAX_DETAIL) + "…");
        let whole = "é".repeat(MAX_DETAIL);
        assert_eq!(Error::new(Reason::BadForm, &whole).detail(), whole);
    }

    #[test]
    fn a_sentence_that_quotes_lines_is_one() {
        let error = Error::new(Reason::BadForm, "no type \"a\nverified: all\"");
        assert_eq!(error.to_string().lines().count(), 1);
    }

    #[test]
    fn every_code_is_its_own_and_in_words_with_hyphens() {
        let codes: HashSet<_> = Reason::ALL.iter().map(|reason| reason.code()).collect();
        assert_eq!(codes.len(), Reason::ALL.len());
        assert!(
            codes.iter().all(|code| code.bytes().all(|byte| byte == b'-' || byte.is_ascii_alphanumeric()))
        );
    }
}
