//! Chains of ours for peers to verify, and how a peer's chain is judged.

use std::time::{Duration, SystemTime};

use gambeson_pki::{
    Algorithm, Certificate, Failure, PrivateKey, Purpose, Reason, Request, RevocationList, Revoked, Template,
    Verifier,
};

use crate::tools::{Result, check};

/// What peers know.
pub const ALGORITHMS: [Algorithm; 7] = [
    Algorithm::MlDsa44,
    Algorithm::MlDsa65,
    Algorithm::MlDsa87,
    Algorithm::Ed25519,
    Algorithm::Ed448,
    Algorithm::EcdsaP256,
    Algorithm::EcdsaP384,
];

/// A root, an authority, a server that is revoked, and the server's request.
pub struct Chain {
    /// It has a path length of 1.
    pub root: Certificate,
    /// It has a path length of 0.
    pub middle: Certificate,
    /// `example.com`, for servers.
    pub leaf: Certificate,
    /// Of the authority; the server is in it.
    pub list: RevocationList,
    /// With the server's key.
    pub request: Request,
}

impl Chain {
    /// Makes one, all of one algorithm.
    ///
    /// # Errors
    /// None that is expected.
    pub fn new(algorithm: Algorithm) -> Result<Self> {
        let generate = || PrivateKey::generate(algorithm).map_err(text);
        let name = |name: &str| name.parse().map_err(text);
        let (root_key, middle_key, key) = (generate()?, generate()?, generate()?);
        let root = root(&root_key)?;
        let middle = Template::authority(name("CN=Middle,O=Gambeson")?).path_length(0);
        let middle = middle.issue(&middle_key.public_key(), &root, &root_key).map_err(text)?;
        let leaf = Template::new(name("CN=Leaf,O=Gambeson")?)
            .alt_name("example.com".parse().map_err(text)?)
            .alt_name("192.0.2.7".parse().map_err(text)?)
            .alt_name("did:web:example.com".parse().map_err(text)?)
            .purpose(Purpose::ServerAuth);
        let request = Request::new(&leaf, &key).map_err(text)?;
        let leaf = leaf.issue(request.public_key(), &middle, &middle_key).map_err(text)?;
        let now = SystemTime::now();
        let times = (now, now + Duration::from_secs(86_400));
        let revoked = Revoked { serial: leaf.serial().to_vec(), at: now, reason: Reason::KeyCompromise };
        let list = RevocationList::new(&middle, &middle_key, 7, times, &[revoked]).map_err(text)?;
        Ok(Self { root, middle, leaf, list, request })
    }
}

/// The root of a chain, which has a path length of 1.
///
/// # Errors
/// None that is expected.
pub fn root(key: &PrivateKey) -> Result<Certificate> {
    let root = Template::authority("CN=Root,O=Gambeson".parse().map_err(text)?).path_length(1);
    Ok(root.self_signed(key).map_err(text)?)
}

/// Judges a peer's chain: of `example.com`, for servers, with a leaf that its list number 7 revokes.
///
/// # Errors
/// What did not hold, or held and should not.
pub fn judge(
    algorithm: Algorithm,
    root: &[u8],
    middle: &[u8],
    leaf: &[u8],
    list: &[u8],
    request: &[u8],
) -> Result {
    let read = |file| Certificate::read(file).map_err(text);
    let (roots, others, leaf) = ([read(root)?], [read(middle)?], read(leaf)?);
    check(leaf.public_key().map_err(text)?.algorithm() == algorithm, "the algorithm")?;
    let verifier =
        Verifier::new(&roots).purpose(Purpose::ServerAuth).name("example.com".parse().map_err(text)?);
    check(verifier.verify(&leaf, &others).map_err(text)?.len() == 3, "a path of three")?;
    let issuer = |error: gambeson_pki::ChainError| matches!(error.failure(), Failure::UnknownIssuer { .. });
    check(verifier.verify(&leaf, &[]).is_err_and(issuer), "a truncated path is refused")?;
    let other = verifier.clone().name("example.org".parse().map_err(text)?);
    let name = |error: gambeson_pki::ChainError| matches!(error.failure(), Failure::Name { .. });
    check(other.verify(&leaf, &others).is_err_and(name), "another name is refused")?;
    let lists = [RevocationList::read(list).map_err(text)?];
    check(lists[0].number() == Some(&[7]), "the number of the list")?;
    let revoked = |error: gambeson_pki::ChainError| matches!(error.failure(), Failure::Revoked { .. });
    check(verifier.revocation(&lists).verify(&leaf, &others).is_err_and(revoked), "it is revoked")?;
    let request = Request::read(request).map_err(text)?;
    check(request.public_key().algorithm() == algorithm, "the algorithm of the request")?;
    check(request.alt_names() == ["example.com".parse().map_err(text)?], "the name in the request")
}

fn text(error: impl ToString) -> String {
    error.to_string()
}
