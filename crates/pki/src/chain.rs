//! Chains: from a certificate to a root that is trusted (RFC 5280, §6).

use std::borrow::Cow;
use std::fmt;
use std::time::{Duration, SystemTime};

use der::asn1::{AnyRef, BitStringRef};
use der::{Decode, Reader, SliceReader};
use spki::AlgorithmIdentifierRef;

use crate::certificate::Certificate;
use crate::constraints::{NameConstraints, Violation};
use crate::error::Error;
use crate::extensions::{self, KeyUsage, Purpose};
use crate::name::{AltName, Name};
use crate::public::PublicKey;
use crate::revocation::{Reason, RevocationList};
use crate::signed::Signed;

/// Certificates in a chain, both ends included.
const MAX_LENGTH: usize = 10;
/// Signatures of one verification: a maze of authorities with one name costs no more.
const MAX_SIGNATURES: usize = 64;
/// Comparisons of names with constraints: certificates with thousands of both cost no more.
const MAX_COMPARISONS: usize = 250_000;

/// Verifies chains of certificates.
///
/// Checked are, for each certificate: its time, its signature, that it has no critical extension that is unknown here, that its
/// key usage is possible for its key, and revocation; for each authority also that it is one, that it may sign certificates, its path
/// length, its purposes and its name constraints; for the first certificate the name and the purpose that the caller expects, with the
/// key usages that fit the purpose. Roots are checked like
/// other authorities, but for their signature. A certificate that names itself as its issuer and is among the roots is its own chain.
///
/// Distinguished names are compared by their meaning ([`Name`]). The common name is never taken for the name of a machine. Policies are not processed, and a
/// names that authorities constrain are compared for DNS names, addresses, mail, URIs and directories; a certificate with a name of another form below an
/// authority that constrains this form is refused.
///
/// ```
/// use gambeson_pki::{Algorithm, PrivateKey, Purpose, Template, Verifier};
///
/// let root_key = PrivateKey::generate(Algorithm::MlDsa87Ed448)?;
/// let root = Template::authority("CN=Example Root".parse()?).self_signed(&root_key)?;
/// let key = PrivateKey::generate(Algorithm::MlDsa65)?.public_key();
/// let server = Template::new("CN=Example".parse()?).alt_name("example.com".parse()?).issue(&key, &root, &root_key)?;
///
/// let roots = [root];
/// let verifier = Verifier::new(&roots).purpose(Purpose::ServerAuth).name("example.com".parse()?);
/// assert_eq!(verifier.verify(&server, &[])?.len(), 2);
///
/// let elsewhere = verifier.name("example.org".parse()?).verify(&server, &[]).unwrap_err();
/// assert_eq!(elsewhere.failure().code(), "name");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Verifier<'a> {
    roots: &'a [Certificate],
    keys: &'a [TrustedKey],
    signatures: Option<&'a SignatureCheck<'a>>,
    lists: &'a [RevocationList],
    lists_required: bool,
    at: Option<SystemTime>,
    name: Option<AltName>,
    purpose: Option<Purpose>,
}

/// Verifies signatures in place of the algorithms of this crate.
pub type SignatureCheck<'a> = dyn Fn(&SignedData<'_>) -> Result<(), Error> + 'a;

/// A signature of an authority, and what was signed.
#[derive(Clone, Copy, Debug)]
pub struct SignedData<'a> {
    /// The key of the authority: `SubjectPublicKeyInfo` in DER.
    pub key: &'a [u8],
    /// The algorithm of the signature: `AlgorithmIdentifier` in DER.
    pub algorithm: &'a [u8],
    /// What was signed.
    pub message: &'a [u8],
    /// The signature.
    pub signature: &'a [u8],
}

impl<'a> SignedData<'a> {
    /// The kind of the key, as the contents of its `AlgorithmIdentifier`, and the bytes of the key itself.
    ///
    /// # Errors
    /// [`Error::Der`].
    pub fn key_parts(&self) -> Result<(&'a [u8], &'a [u8]), Error> {
        let parts = AnyRef::from_der(self.key).and_then(|spki| {
            let mut reader = SliceReader::new(spki.value())?;
            let kind: AnyRef<'_> = reader.decode()?;
            let key: BitStringRef<'_> = reader.decode()?;
            Ok((kind.value(), key.as_bytes()))
        });
        match parts {
            Ok((kind, Some(key))) => Ok((kind, key)),
            _ => Err(Error::Der),
        }
    }

    /// The kind of the signature, as the contents of its `AlgorithmIdentifier`.
    ///
    /// # Errors
    /// [`Error::Der`].
    pub fn algorithm_contents(&self) -> Result<&'a [u8], Error> {
        AnyRef::from_der(self.algorithm).map(|kind| kind.value()).map_err(|_| Error::Der)
    }

    /// The object identifier of the signature's kind, in dots.
    #[must_use]
    pub fn algorithm_name(&self) -> String {
        AlgorithmIdentifierRef::from_der(self.algorithm).map(|kind| kind.oid.to_string()).unwrap_or_default()
    }
}

/// A key that is trusted under a name, without a certificate: it has no time and no usage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedKey {
    name: Name,
    spki: Vec<u8>,
    constraints: Option<NameConstraints>,
}

impl TrustedKey {
    /// Takes the parts in DER: `Name`, `SubjectPublicKeyInfo`, and `NameConstraints` if it has some.
    ///
    /// # Errors
    /// [`Error::Name`]; [`Error::Extension`] for the constraints.
    pub fn from_der(name: &[u8], spki: &[u8], constraints: Option<&[u8]>) -> Result<Self, Error> {
        let unreadable = || Error::Extension { oid: extensions::NAME_CONSTRAINTS.to_string() };
        let constraints =
            constraints.map(|der| NameConstraints::read(der).ok_or_else(unreadable)).transpose()?;
        let name = Decode::from_der(name).map(Name).map_err(|_| Error::Name)?;
        Ok(Self { name, spki: spki.to_vec(), constraints })
    }
}

impl fmt::Debug for Verifier<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier")
            .field("roots", &self.roots)
            .field("keys", &self.keys.len())
            .field("lists", &self.lists)
            .field("at", &self.at)
            .field("name", &self.name)
            .field("purpose", &self.purpose)
            .finish_non_exhaustive()
    }
}

impl<'a> Verifier<'a> {
    /// Trusts these roots, now, for any purpose and any name.
    #[must_use]
    pub const fn new(roots: &'a [Certificate]) -> Self {
        Self {
            roots,
            keys: &[],
            signatures: None,
            lists: &[],
            lists_required: false,
            at: None,
            name: None,
            purpose: None,
        }
    }

    /// Trusts these keys too.
    #[must_use]
    pub const fn keys(mut self, keys: &'a [TrustedKey]) -> Self {
        self.keys = keys;
        self
    }

    /// Verifies the signatures of certificates and of revocation lists with `check`, which may know other algorithms than this crate, and returns
    /// [`Error::Signature`] for one that does not hold.
    #[must_use]
    pub const fn signatures(mut self, check: &'a SignatureCheck<'a>) -> Self {
        self.signatures = Some(check);
        self
    }

    /// Verifies as of another time.
    #[must_use]
    pub const fn at(mut self, time: SystemTime) -> Self {
        self.at = Some(time);
        self
    }

    /// Expects a name among the other names of the certificate.
    #[must_use]
    pub fn name(mut self, name: AltName) -> Self {
        self.name = Some(name);
        self
    }

    /// Expects a purpose, of the certificate and of all authorities that limit theirs.
    #[must_use]
    pub fn purpose(mut self, purpose: Purpose) -> Self {
        self.purpose = Some(purpose);
        self
    }

    /// Looks up each certificate in the lists of its issuer, where there are some.
    #[must_use]
    pub const fn revocation(mut self, lists: &'a [RevocationList]) -> Self {
        self.lists = lists;
        self
    }

    /// Refuses a certificate whose issuer has no list, roots excepted.
    #[must_use]
    pub const fn require_revocation(mut self) -> Self {
        self.lists_required = true;
        self
    }

    /// Finds a chain from `certificate` over some of `others`, in any order, to a root, and returns it: the root last, or if that is a key without
    /// a certificate, what it has signed.
    ///
    /// # Errors
    /// [`ChainError`]: which certificate failed which check, on the way that came farthest.
    pub fn verify<'c>(
        &self,
        certificate: &'c Certificate,
        others: &'c [Certificate],
    ) -> Result<Vec<&'c Certificate>, ChainError>
    where
        'a: 'c,
    {
        let at = self.at.unwrap_or_else(SystemTime::now);
        let is_its_own = is_self_issued(certificate) && self.roots.contains(certificate);
        if self.is_for_tls() && certificate.is_authority() && !is_its_own {
            return Err(ChainError::new(certificate, Failure::Authority));
        }
        self.check_first(certificate, at)?;
        if is_its_own {
            // No list has to be there for a root; one that is there counts.
            let lists = self.lists.iter().any(|list| list.issuer() == certificate.subject());
            if lists {
                self.check_revocation(certificate, certificate, at)?;
            }
            return Ok(vec![certificate]);
        }
        let mut search = Search { verifier: self, others, at, signatures: 0, comparisons: MAX_COMPARISONS };
        let mut path = vec![certificate];
        match search.extend(&mut path) {
            Ok(()) => Ok(path),
            Err((_, error)) => Err(error),
        }
    }

    /// Checks that `issuer` may stand above `path`, signatures and names aside.
    fn check_authority(
        &self,
        path: &[&Certificate],
        issuer: &Certificate,
        at: SystemTime,
    ) -> Result<(), ChainError> {
        let fails = |failure| Err(ChainError::new(issuer, failure));
        check_any(issuer, at)?;
        if !issuer.is_authority() {
            return fails(Failure::NotAnAuthority);
        }
        if issuer.key_usage().is_some_and(|usage| !usage.contains(&KeyUsage::KeyCertSign)) {
            return fails(Failure::MaySignNoCertificates);
        }
        // Those that sign themselves do not count (RFC 5280, §4.2.1.9).
        let between = path.iter().skip(1).filter(|authority| !is_self_issued(authority)).count();
        if issuer.path_length().is_some_and(|longest| between > usize::from(longest)) {
            return fails(Failure::PathLength);
        }
        self.check_purpose(issuer)?;
        path.last().map_or(Ok(()), |last| self.check_revocation(last, issuer, at))
    }

    const fn is_for_tls(&self) -> bool {
        matches!(self.purpose, Some(Purpose::ServerAuth | Purpose::ClientAuth))
    }

    fn check_first(&self, certificate: &Certificate, at: SystemTime) -> Result<(), ChainError> {
        let fails = |failure| Err(ChainError::new(certificate, failure));
        check_any(certificate, at)?;
        if certificate.extensions().constraints.is_some() && !certificate.is_authority() {
            return fails(Failure::ConstrainsNothing);
        }
        self.check_purpose(certificate)?;
        // Handshakes are signed (RFC 8446, §4.4.2.2); a key of a KEM takes part in its own way.
        let needed = match certificate.public_key() {
            Ok(key) if !key.algorithm().signs() => KeyUsage::KeyEncipherment,
            _ => KeyUsage::DigitalSignature,
        };
        if let Some(purpose) = &self.purpose {
            let usages = if self.is_for_tls() { &[needed] } else { purpose.usages() };
            let usage = certificate.key_usage();
            let fits =
                usages.is_empty() || usage.is_none_or(|usage| usages.iter().any(|fit| usage.contains(fit)));
            if !fits || !has_purpose_in_full(certificate, purpose) {
                return fails(Failure::Purpose { expected: purpose.clone() });
            }
        }
        match &self.name {
            Some(expected) if !certificate.alt_names().iter().any(|name| name.covers(expected)) => {
                fails(Failure::Name { expected: expected.clone() })
            }
            _ => Ok(()),
        }
    }

    fn check_purpose(&self, certificate: &Certificate) -> Result<(), ChainError> {
        match (&self.purpose, certificate.purposes()) {
            // Any purpose is not one of TLS, for other verifiers as for this one (RFC 5280, §4.2.1.12).
            (Some(expected), Some(purposes))
                if !purposes.contains(expected)
                    && (self.is_for_tls() || !purposes.contains(&Purpose::Any)) =>
            {
                Err(ChainError::new(certificate, Failure::Purpose { expected: expected.clone() }))
            }
            _ => Ok(()),
        }
    }

    /// `issuer` has signed `certificate`.
    fn check_revocation(
        &self,
        certificate: &Certificate,
        issuer: &Certificate,
        at: SystemTime,
    ) -> Result<(), ChainError> {
        let fails = |failure| Err(ChainError::new(certificate, failure));
        let lists = self.lists.iter().filter(|list| list.issuer() == certificate.issuer());
        let (mut current, mut wrong) = (false, None);
        for list in lists {
            match self.check_list(list, issuer, at) {
                Ok(()) => current = true,
                Err(failure) => {
                    wrong.get_or_insert(failure);
                    continue;
                }
            }
            if let Some(entry) = list.find(certificate.serial()) {
                return fails(Failure::Revoked { at: entry.at, reason: entry.reason });
            }
        }
        match (current, wrong) {
            (true, _) => Ok(()),
            (false, Some(failure)) => fails(failure),
            (false, None) if self.lists_required => fails(Failure::NoRevocationList),
            (false, None) => Ok(()),
        }
    }

    /// Whether a list can be believed now.
    fn check_list(&self, list: &RevocationList, issuer: &Certificate, at: SystemTime) -> Result<(), Failure> {
        let may = issuer.key_usage().is_none_or(|usage| usage.contains(&KeyUsage::CrlSign));
        if !may || self.check_signature(list.signed(), &issuer.spki_der()).is_err() {
            return Err(Failure::RevocationListSignature);
        }
        if let Some(oid) = list.unknown_critical() {
            return Err(Failure::RevocationListExtension { oid: oid.to_owned() });
        }
        if at < list.this_update() || list.next_update().is_none_or(|next| next < at) {
            return Err(Failure::RevocationListTime);
        }
        Ok(())
    }

    fn check_signature(&self, signed: &Signed, spki: &[u8]) -> Result<(), Error> {
        match self.signatures {
            Some(check) => check(&signed.data(spki)?),
            None => signed.verify(&PublicKey::from_spki_der(spki)?),
        }
    }
}

/// Returns true unless the purpose is one that a certificate must name in a form of its own.
fn has_purpose_in_full(certificate: &Certificate, purpose: &Purpose) -> bool {
    let named = certificate.purposes().unwrap_or_default();
    match purpose {
        // RFC 3161, §2.3: alone, and critical; as for others, no usage of the key but these two.
        Purpose::TimeStamping => {
            let usage = certificate.key_usage().unwrap_or_default();
            named == [Purpose::TimeStamping]
                && certificate.extensions().purposes_are_critical
                && usage.iter().all(|usage| purpose.usages().contains(usage))
        }
        // RFC 6960, §4.2.2.2; an authority answers for itself.
        Purpose::OcspSigning => named.contains(purpose) || certificate.is_authority(),
        _ => true,
    }
}

/// Whether it names itself as its issuer.
fn is_self_issued(certificate: &Certificate) -> bool {
    certificate.subject() == certificate.issuer()
}

/// What every certificate of a chain must fulfil.
fn check_any(certificate: &Certificate, at: SystemTime) -> Result<(), ChainError> {
    let fails = |failure| Err(ChainError::new(certificate, failure));
    let extensions = certificate.extensions();
    if let Some(oid) = &extensions.unknown_critical {
        return fails(Failure::CriticalExtension { oid: oid.to_string() });
    }
    if at < certificate.not_before() {
        return fails(Failure::NotYetValid { from: certificate.not_before() });
    }
    // The end of validity is a second that still belongs to it.
    if at.duration_since(certificate.not_after()).is_ok_and(|since| since >= Duration::from_secs(1)) {
        return fails(Failure::Expired { until: certificate.not_after() });
    }
    if let (Some(usage), Ok(key)) = (certificate.key_usage(), certificate.public_key()) {
        let algorithm = key.algorithm();
        // What the documents of these algorithms say of their keys; those of ECDSA may agree on keys as well.
        let bound = !matches!(algorithm, crate::Algorithm::EcdsaP256 | crate::Algorithm::EcdsaP384);
        if bound && !usage.iter().all(|usage| usage.fits(algorithm.signs())) {
            return fails(Failure::KeyUsage);
        }
    }
    Ok(())
}

struct Search<'v, 'a, 'c> {
    verifier: &'v Verifier<'a>,
    others: &'c [Certificate],
    at: SystemTime,
    signatures: usize,
    /// Comparisons of names with constraints that are left.
    comparisons: usize,
}

/// How many certificates had been accepted, and what then failed.
type Farthest = (usize, ChainError);

impl<'a: 'c, 'c> Search<'_, 'a, 'c> {
    /// Extends a path of accepted certificates to a root.
    fn extend(&mut self, path: &mut Vec<&'c Certificate>) -> Result<(), Farthest> {
        let last = *path.last().expect("a path begins with a certificate");
        let fails = |failure| (path.len(), ChainError::new(last, failure));
        if path.len() == MAX_LENGTH {
            return Err(fails(Failure::TooLong));
        }
        let issuer = last.issuer();
        let mut farthest = fails(Failure::UnknownIssuer { issuer: issuer.clone() });
        let verifier: &Verifier<'a> = self.verifier;
        let (roots, keys) = (verifier.roots, verifier.keys);
        let roots = roots.iter().map(|root| (Issuer::Certificate(root), true));
        let keys = keys.iter().map(|key| (Issuer::Key(key), true));
        let others = self.others.iter().map(|other| (Issuer::Certificate(other), false));
        for (candidate, is_root) in roots.chain(keys).chain(others) {
            let certificate = match candidate {
                Issuer::Certificate(certificate) if path.contains(&certificate) => continue,
                Issuer::Certificate(certificate) => Some(certificate),
                Issuer::Key(_) => None,
            };
            if !candidate.has_name(&issuer) {
                continue;
            }
            let found = self.accept(path, candidate).and_then(|()| {
                let before = path.len();
                path.extend(certificate);
                let rest = if is_root { Ok(()) } else { self.extend(path) };
                if rest.is_err() {
                    path.truncate(before);
                }
                rest
            });
            match found {
                Ok(()) => return Ok(()),
                Err(error) if error.1.failure == Failure::TooMuchWork => return Err(error),
                // One that was looked at says more than that there is none.
                Err(error)
                    if error.0 > farthest.0
                        || matches!(farthest.1.failure, Failure::UnknownIssuer { .. })
                            && error.0 == farthest.0 =>
                {
                    farthest = error;
                }
                Err(_) => {}
            }
        }
        Err(farthest)
    }

    /// Whether `issuer` can be the next of the path.
    fn accept(&mut self, path: &[&Certificate], issuer: Issuer<'c>) -> Result<(), Farthest> {
        let last = path.last().expect("a path begins with a certificate");
        let at_last = |failure| (path.len(), ChainError::new(last, failure));
        if self.signatures == MAX_SIGNATURES {
            return Err(at_last(Failure::TooMuchWork));
        }
        self.signatures += 1;
        let spki = match issuer {
            Issuer::Certificate(certificate) => {
                if self.verifier.signatures.is_none() {
                    certificate
                        .public_key()
                        .map_err(|error| (path.len(), ChainError::new(certificate, Failure::Key(error))))?;
                }
                Cow::Owned(certificate.spki_der())
            }
            Issuer::Key(key) => Cow::Borrowed(&key.spki[..]),
        };
        self.verifier.check_signature(last.signed(), &spki).map_err(|error| match error {
            Error::Signature => at_last(Failure::Signature),
            error => at_last(Failure::Key(error)),
        })?;
        let constraints = match issuer {
            Issuer::Certificate(certificate) => {
                let checked = self.verifier.check_authority(path, certificate, self.at);
                checked.map_err(|error| (path.len(), error))?;
                certificate.extensions().constraints.as_ref()
            }
            Issuer::Key(key) => {
                // A list of a key without a certificate: nothing says that the key may sign it.
                if self.verifier.lists.iter().any(|list| list.issuer() == last.issuer()) {
                    return Err(at_last(Failure::RevocationListSignature));
                }
                key.constraints.as_ref()
            }
        };
        constraints.map_or(Ok(()), |constraints| self.check_names(path, constraints))
    }

    /// Checks the names of a path against those that its next authority permits; authorities between that sign themselves are passed over (RFC 5280,
    /// §6.1.3 (b)).
    fn check_names(&mut self, path: &[&Certificate], constraints: &NameConstraints) -> Result<(), Farthest> {
        for (index, certificate) in path.iter().enumerate() {
            if index > 0 && is_self_issued(certificate) {
                continue;
            }
            constraints.check(certificate, &mut self.comparisons).map_err(|violation| {
                let failure = match violation {
                    Violation::Name(name) => Failure::NameConstraints { name },
                    Violation::Unsupported(form) => Failure::UnsupportedConstraint { form },
                    Violation::TooMuchWork => Failure::TooMuchWork,
                };
                (path.len(), ChainError::new(certificate, failure))
            })?;
        }
        Ok(())
    }
}

/// What may have signed a certificate.
#[derive(Clone, Copy)]
enum Issuer<'c> {
    Certificate(&'c Certificate),
    Key(&'c TrustedKey),
}

impl Issuer<'_> {
    fn has_name(&self, name: &Name) -> bool {
        match self {
            Self::Certificate(certificate) => certificate.subject_ref() == name,
            Self::Key(key) => key.name == *name,
        }
    }
}

/// Which certificate failed which check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainError {
    subject: Name,
    failure: Failure,
}

impl ChainError {
    fn new(certificate: &Certificate, failure: Failure) -> Self {
        Self { subject: certificate.subject(), failure }
    }

    /// The subject of the certificate.
    #[must_use]
    pub const fn subject(&self) -> &Name {
        &self.subject
    }

    /// The check.
    #[must_use]
    pub const fn failure(&self) -> &Failure {
        &self.failure
    }
}

impl fmt::Display for ChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.failure)
    }
}

impl std::error::Error for ChainError {}

/// The check that a certificate failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// No root and no other certificate has the name of its issuer.
    UnknownIssuer {
        /// That name.
        issuer: Name,
    },
    /// The signature is not one of the issuer's key.
    Signature,
    /// The key of the issuer, or the signature's algorithm, cannot be used.
    Key(Error),
    /// It is too early for it.
    NotYetValid {
        /// From when on it is valid.
        from: SystemTime,
    },
    /// It is too late for it.
    Expired {
        /// Until when it was valid.
        until: SystemTime,
    },
    /// It has a critical extension that is not known here.
    CriticalExtension {
        /// Its object identifier.
        oid: String,
    },
    /// One of its names is outside of those that an authority above it permits.
    NameConstraints {
        /// That name.
        name: String,
    },
    /// It has a name of a form that an authority above it constrains, and that is not supported.
    UnsupportedConstraint {
        /// The form, such as `otherName`.
        form: &'static str,
    },
    /// It constrains names and is not that of an authority.
    ConstrainsNothing,
    /// It is that of an authority, and is shown for a server or a client.
    Authority,
    /// Its key usage is not possible for a key of its algorithm.
    KeyUsage,
    /// It has signed a certificate and is not that of an authority (basic constraints).
    NotAnAuthority,
    /// It is that of an authority which may not sign certificates (key usage).
    MaySignNoCertificates,
    /// There are more authorities below it than its path length allows.
    PathLength,
    /// It is not for that purpose.
    Purpose {
        /// What was expected.
        expected: Purpose,
    },
    /// It does not have that name.
    Name {
        /// What was expected.
        expected: AltName,
    },
    /// It was revoked.
    Revoked {
        /// When.
        at: SystemTime,
        /// Why.
        reason: Reason,
    },
    /// Its issuer has no list of revoked certificates, and one is required.
    NoRevocationList,
    /// The list of its issuer is not signed by it.
    RevocationListSignature,
    /// The list of its issuer is not current.
    RevocationListTime,
    /// The list of its issuer has a critical extension that is not known here.
    RevocationListExtension {
        /// Its object identifier.
        oid: String,
    },
    /// The chain has more than 10 certificates.
    TooLong,
    /// So many certificates have names that fit that the search was given up.
    TooMuchWork,
}

impl Failure {
    /// A word for programs, which does not change.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::UnknownIssuer { .. } => "unknown-issuer",
            Self::Signature => "signature",
            Self::Key(_) => "key",
            Self::NotYetValid { .. } => "not-yet-valid",
            Self::Expired { .. } => "expired",
            Self::CriticalExtension { .. } => "critical-extension",
            Self::NameConstraints { .. } => "name-constraints",
            Self::UnsupportedConstraint { .. } => "unsupported-name-constraints",
            Self::ConstrainsNothing => "constrains-nothing",
            Self::Authority => "authority",
            Self::KeyUsage => "key-usage",
            Self::NotAnAuthority => "not-an-authority",
            Self::MaySignNoCertificates => "may-sign-no-certificates",
            Self::PathLength => "path-length",
            Self::Purpose { .. } => "purpose",
            Self::Name { .. } => "name",
            Self::Revoked { .. } => "revoked",
            Self::NoRevocationList => "no-revocation-list",
            Self::RevocationListSignature => "revocation-list-signature",
            Self::RevocationListTime => "revocation-list-time",
            Self::RevocationListExtension { .. } => "revocation-list-extension",
            Self::TooLong => "too-long",
            Self::TooMuchWork => "too-much-work",
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownIssuer { issuer } => write!(f, "its issuer ({issuer}) is not known"),
            Self::Signature => f.write_str("its signature is not one of its issuer"),
            Self::Key(error) => write!(f, "its signature cannot be verified: {error}"),
            Self::NotYetValid { .. } => f.write_str("it is not valid yet"),
            Self::Expired { .. } => f.write_str("it has expired"),
            Self::CriticalExtension { oid } => write!(f, "it has an unknown critical extension ({oid})"),
            Self::NameConstraints { name } => {
                write!(f, "an authority above it does not permit its name {name} (name constraints)")
            }
            Self::UnsupportedConstraint { form } => {
                write!(f, "an authority above it constrains names of its form, which is not supported: {form}")
            }
            Self::ConstrainsNothing => f.write_str("it has name constraints and is no authority"),
            Self::Authority => f.write_str(
                "it is the certificate of an authority (CA:TRUE), which is taken for a server's or a client's only where it is itself \
                 among the roots; an authority issues another one for the server",
            ),
            Self::KeyUsage => f.write_str("its key usage is not possible for a key of its algorithm"),
            Self::NotAnAuthority => f.write_str("it has signed a certificate and is no authority"),
            Self::MaySignNoCertificates => f.write_str("its key may not sign certificates"),
            Self::PathLength => f.write_str("more authorities stand below it than its path length allows"),
            Self::Purpose { expected } => {
                write!(f, "it is not for {expected}: its key usage or its extended key usage does not allow this")?;
                f.write_str(match expected {
                    Purpose::TimeStamping => {
                        " (timeStamping must be its only extended key usage, in a critical extension: RFC 3161, section 2.3)"
                    }
                    Purpose::OcspSigning => " (OCSPSigning must be named: RFC 6960, section 4.2.2.2)",
                    _ => "",
                })
            }
            Self::Name { expected } => write!(f, "it is not the certificate of {expected}"),
            Self::Revoked { reason, .. } => write!(f, "it was revoked ({reason})"),
            Self::NoRevocationList => f.write_str("its issuer has no revocation list"),
            Self::RevocationListSignature => f.write_str("the revocation list is not signed by its issuer"),
            Self::RevocationListTime => f.write_str("the revocation list of its issuer is not current"),
            Self::RevocationListExtension { oid } => {
                write!(f, "the revocation list of its issuer has an unknown critical extension ({oid})")
            }
            Self::TooLong => write!(f, "the chain has more than {MAX_LENGTH} certificates"),
            Self::TooMuchWork => f.write_str("too many certificates have a matching name"),
        }
    }
}
