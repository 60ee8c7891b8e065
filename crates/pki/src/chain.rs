//! Chains: from a certificate to a root that is trusted (RFC 5280, §6).

use std::fmt;
use std::time::{Duration, SystemTime};

use crate::certificate::Certificate;
use crate::error::Error;
use crate::extensions::{KeyUsage, Purpose};
use crate::name::{AltName, Name};
use crate::revocation::{Reason, RevocationList};

/// Certificates in a chain, both ends included.
const MAX_LENGTH: usize = 10;
/// Signatures of one verification: a maze of authorities with one name costs no more.
const MAX_SIGNATURES: usize = 64;

/// Verifies chains of certificates.
///
/// Checked are, for each certificate: its time, its signature, that it has no critical extension that is unknown here, that its
/// key usage is possible for its key, and revocation; for each authority also that it is one, that it may sign certificates, its path
/// length and its purposes; for the first certificate the name and the purpose that the caller expects. Roots are checked like
/// other authorities, but for their signature. A certificate that is itself among the roots is its own chain.
///
/// Distinguished names are compared by their meaning ([`Name`]). The common name is never taken for the name of a machine. Policies are not processed, and a
/// chain with name constraints is refused: nothing is passed over that would restrict it.
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
#[derive(Clone, Debug)]
pub struct Verifier<'a> {
    roots: &'a [Certificate],
    lists: &'a [RevocationList],
    lists_required: bool,
    at: Option<SystemTime>,
    name: Option<AltName>,
    purpose: Option<Purpose>,
}

impl<'a> Verifier<'a> {
    /// Trusts these roots, now, for any purpose and any name.
    #[must_use]
    pub const fn new(roots: &'a [Certificate]) -> Self {
        Self { roots, lists: &[], lists_required: false, at: None, name: None, purpose: None }
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

    /// Finds a chain from `certificate` over some of `others`, in any order, to a root, and returns it, the root last.
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
        self.check_first(certificate, at)?;
        if self.roots.contains(certificate) {
            return Ok(vec![certificate]);
        }
        let mut search = Search { verifier: self, others, at, signatures: 0 };
        let mut path = vec![certificate];
        match search.extend(&mut path) {
            Ok(()) => Ok(path),
            Err((_, error)) => Err(error),
        }
    }

    /// Checks a path that another verifier has found, by all rules but those about signatures and the order of names.
    ///
    /// `path` begins with the certificate and ends below the root; without `root` that is a bare key. What authorities say about the names below
    /// them is left to the other verifier.
    ///
    /// # Errors
    /// [`ChainError`]: which certificate failed which check.
    pub fn check_path(&self, path: &[&Certificate], root: Option<&Certificate>) -> Result<(), ChainError> {
        let at = self.at.unwrap_or_else(SystemTime::now);
        let Some((first, last)) = path.first().zip(path.last()) else { return Ok(()) };
        self.check_first(first, at)?;
        let authorities = path.iter().skip(1).copied().chain(root);
        for (below, authority) in authorities.enumerate() {
            self.check_authority(&path[..=below], authority, at, Constraints::Checked)?;
        }
        // A list of a bare key: nothing here can have signed it.
        let is_its_own = path.len() == 1 && self.roots.contains(first);
        let lists_it = |list: &RevocationList| list.issuer() == last.issuer();
        if root.is_none() && !is_its_own && self.lists.iter().any(lists_it) {
            return Err(ChainError::new(last, Failure::RevocationListSignature));
        }
        Ok(())
    }

    /// Checks that `issuer` may stand above `path`, signatures and names aside.
    fn check_authority(
        &self,
        path: &[&Certificate],
        issuer: &Certificate,
        at: SystemTime,
        constraints: Constraints,
    ) -> Result<(), ChainError> {
        let fails = |failure| Err(ChainError::new(issuer, failure));
        check_any(issuer, at, constraints)?;
        if !issuer.is_authority() {
            return fails(Failure::NotAnAuthority);
        }
        if issuer.key_usage().is_some_and(|usage| !usage.contains(&KeyUsage::KeyCertSign)) {
            return fails(Failure::MaySignNoCertificates);
        }
        // Those that sign themselves do not count (RFC 5280, §4.2.1.9).
        let between =
            path.iter().skip(1).filter(|authority| authority.subject() != authority.issuer()).count();
        if issuer.path_length().is_some_and(|longest| between > usize::from(longest)) {
            return fails(Failure::PathLength);
        }
        self.check_purpose(issuer)?;
        path.last().map_or(Ok(()), |last| self.check_revocation(last, issuer, at))
    }

    fn check_first(&self, certificate: &Certificate, at: SystemTime) -> Result<(), ChainError> {
        let fails = |failure| Err(ChainError::new(certificate, failure));
        check_any(certificate, at, Constraints::Refused)?;
        self.check_purpose(certificate)?;
        // Handshakes are signed (RFC 8446, §4.4.2.2); a key of a KEM takes part in its own way.
        let needed = match certificate.public_key() {
            Ok(key) if !key.algorithm().signs() => KeyUsage::KeyEncipherment,
            _ => KeyUsage::DigitalSignature,
        };
        if let Some(purpose @ (Purpose::ServerAuth | Purpose::ClientAuth)) = &self.purpose
            && certificate.key_usage().is_some_and(|usage| !usage.contains(&needed))
        {
            return fails(Failure::Purpose { expected: purpose.clone() });
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
            (Some(expected), Some(purposes))
                if !purposes.contains(expected) && !purposes.contains(&Purpose::Any) =>
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
            match check_list(list, issuer, at) {
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
}

/// Whether a list can be believed now.
fn check_list(list: &RevocationList, issuer: &Certificate, at: SystemTime) -> Result<(), Failure> {
    let may = issuer.key_usage().is_none_or(|usage| usage.contains(&KeyUsage::CrlSign));
    let key = issuer.public_key().map_err(|_| Failure::RevocationListSignature)?;
    if !may || list.verify_signature(&key).is_err() {
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

/// The treatment of name constraints.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Constraints {
    /// They are not supported here.
    Refused,
    /// Another verifier has checked them.
    Checked,
}

/// What every certificate of a chain must fulfil.
fn check_any(certificate: &Certificate, at: SystemTime, constraints: Constraints) -> Result<(), ChainError> {
    let fails = |failure| Err(ChainError::new(certificate, failure));
    let extensions = certificate.extensions();
    if let Some(oid) = extensions.unknown_critical {
        return fails(Failure::CriticalExtension { oid: oid.to_string() });
    }
    if extensions.constrains_names && constraints == Constraints::Refused {
        return fails(Failure::NameConstraints);
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
        let roots: &'a [Certificate] = self.verifier.roots;
        let roots = roots.iter().map(|root| (root, true));
        let others = self.others.iter().map(|other| (other, false));
        for (candidate, is_root) in roots.chain(others) {
            if candidate.subject() != issuer || path.contains(&candidate) {
                continue;
            }
            let found = self.accept(path, candidate).and_then(|()| {
                path.push(candidate);
                let rest = if is_root { Ok(()) } else { self.extend(path) };
                if rest.is_err() {
                    path.pop();
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
    fn accept(&mut self, path: &[&Certificate], issuer: &'c Certificate) -> Result<(), Farthest> {
        let last = path.last().expect("a path begins with a certificate");
        let at_issuer = |failure| (path.len(), ChainError::new(issuer, failure));
        let at_last = |failure| (path.len(), ChainError::new(last, failure));
        let counted = |error: ChainError| (path.len(), error);
        if self.signatures == MAX_SIGNATURES {
            return Err(at_last(Failure::TooMuchWork));
        }
        self.signatures += 1;
        let key = issuer.public_key().map_err(|error| at_issuer(Failure::Key(error)))?;
        last.verify_signature(&key).map_err(|error| match error {
            Error::Signature => at_last(Failure::Signature),
            error => at_last(Failure::Key(error)),
        })?;
        self.verifier.check_authority(path, issuer, self.at, Constraints::Refused).map_err(counted)
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
    /// It constrains names, which is not supported.
    NameConstraints,
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
            Self::NameConstraints => "name-constraints",
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
            Self::NameConstraints => f.write_str("it constrains names, which is not supported"),
            Self::KeyUsage => f.write_str("its key usage is not possible for a key of its algorithm"),
            Self::NotAnAuthority => f.write_str("it has signed a certificate and is no authority"),
            Self::MaySignNoCertificates => f.write_str("its key may not sign certificates"),
            Self::PathLength => f.write_str("more authorities stand below it than its path length allows"),
            Self::Purpose { expected } => write!(f, "it is not for {expected}"),
            Self::Name { expected } => write!(f, "it is not the certificate of {expected}"),
            Self::Revoked { reason, .. } => write!(f, "it was revoked ({reason})"),
            Self::NoRevocationList => f.write_str("its issuer has no revocation list"),
            Self::RevocationListSignature => f.write_str("the revocation list is not signed by its issuer"),
            Self::RevocationListTime => f.write_str("the revocation list of its issuer is not current"),
            Self::RevocationListExtension { oid } => {
                write!(f, "the revocation list of its issuer has an unknown critical extension ({oid})")
            }
            Self::TooLong => write!(f, "the chain has more than {MAX_LENGTH} certificates"),
            Self::TooMuchWork => f.write_str("too many certificates have names that fit"),
        }
    }
}
