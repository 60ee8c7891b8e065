//! Decentralized identifiers: `did:gambeson`, `did:key`, `did:web`.

use crate::{Algorithm, Error, Reason, Result, Suite, VerifyingKey, encoding};
use core::fmt;
use core::str::FromStr;
use sha2::{Digest, Sha384};

/// The longest DID that is read: a `did:key` of ML-DSA-87 has 3,467 characters.
const MAX_LEN: usize = 4096;

/// A DID (DID Core 1.0, §3.1) of one of the methods that are known here.
///
/// ```
/// use gambeson_identity::{Agent, Did, Method};
///
/// let agent = Agent::generate()?;
/// let did: Did = agent.did().to_string().parse()?;
/// assert_eq!(did.method(), Method::Gambeson);
/// assert_eq!(did.to_string().len(), 60);
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Did(Box<str>);

/// How a DID is resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// `did:gambeson`: the hash of a DID key, which signs the identity card.
    Gambeson,
    /// `did:key`: one ML-DSA key, in the identifier.
    Key,
    /// `did:web`: a document at an HTTPS address.
    Web,
    /// A method that nothing here resolves.
    Other,
}

impl Did {
    /// The DID of a DID key: multibase `u` over the multihash of the key, BLAKE3-256 (`0x1e`) for ML-DSA-65 and SHA-384
    /// (`0x20`) for ML-DSA-87.
    pub(crate) fn of_key(suite: Suite, key: &VerifyingKey) -> Self {
        Self(format!("did:gambeson:{}", encoding::multibase(&multihash(suite, key.as_bytes()))).into())
    }

    /// The `did:key` of a single key.
    pub fn from_key(key: &VerifyingKey) -> Self {
        Self(format!("did:key:{}", key.to_multikey()).into())
    }

    /// The method.
    pub fn method(&self) -> Method {
        match self.0.split(':').nth(1) {
            Some("gambeson") => Method::Gambeson,
            Some("key") => Method::Key,
            Some("web") => Method::Web,
            _ => Method::Other,
        }
    }

    /// The text after `did:method:`.
    pub fn method_specific_id(&self) -> &str {
        self.0.splitn(3, ':').nth(2).expect("a DID has three parts")
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The suite of a `did:gambeson`; the default one for other methods.
    pub fn suite(&self) -> Suite {
        match encoding::from_multibase(self.method_specific_id(), 50).as_deref() {
            Ok([0x20, ..]) if self.method() == Method::Gambeson => Suite::Cnsa2,
            _ => Suite::Default,
        }
    }

    /// Whether `key` is the one that this `did:gambeson` was made of.
    pub(crate) fn commits_to(&self, key: &VerifyingKey) -> bool {
        let suite = self.suite();
        key.algorithm() == did_algorithm(suite) && Self::of_key(suite, key) == *self
    }

    /// The URL of a key in this DID's document.
    pub fn url(&self, fragment: &str) -> DidUrl {
        DidUrl { did: self.clone(), fragment: fragment.into() }
    }

    /// Where the document of a `did:web` is: `https://host[:port]/path/did.json` (did:web, §2.5.2).
    ///
    /// # Errors
    ///
    /// [`Reason::BadDid`] for another method.
    pub fn web_address(&self) -> Result<String> {
        if self.method() != Method::Web {
            return Err(Error::new(Reason::BadDid, "only did:web has an address"));
        }
        let mut parts = self.method_specific_id().split(':');
        let host = parts.next().unwrap_or_default().replace("%3A", ":").replace("%3a", ":");
        let path: Vec<&str> = parts.collect();
        Ok(match path.is_empty() {
            true => format!("https://{host}/.well-known/did.json"),
            false => format!("https://{host}/{}/did.json", path.join("/")),
        })
    }
}

/// The algorithm of DID keys of a suite.
pub(crate) fn did_algorithm(suite: Suite) -> Algorithm {
    match suite {
        Suite::Default => Algorithm::MlDsa65,
        Suite::Cnsa2 => Algorithm::MlDsa87,
    }
}

/// The multihash that a suite uses: BLAKE3-256 or SHA-384.
pub(crate) fn multihash(suite: Suite, bytes: &[u8]) -> Vec<u8> {
    match suite {
        Suite::Default => [&[0x1e, 0x20], &blake3::hash(bytes).as_bytes()[..]].concat(),
        Suite::Cnsa2 => [&[0x20, 0x30], &Sha384::digest(bytes)[..]].concat(),
    }
}

impl FromStr for Did {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refused =
            |why: &str| Error::new(Reason::BadDid, format_args!("not a DID that is known here: {why}"));
        if text.len() > MAX_LEN {
            return Err(refused("it is too long"));
        }
        let rest = text.strip_prefix("did:").ok_or_else(|| refused("it does not begin with did:"))?;
        let (method, id) = rest.split_once(':').ok_or_else(|| refused("it names no method"))?;
        match method {
            "gambeson" => {
                let hash =
                    encoding::from_multibase(id, 50).map_err(|_| refused("its hash is not base64url"))?;
                if !matches!((hash.len(), hash.get(..2)), (34, Some([0x1e, 0x20])) | (50, Some([0x20, 0x30])))
                {
                    return Err(refused("its hash is neither BLAKE3-256 nor SHA-384"));
                }
            }
            "key" => {
                VerifyingKey::from_multikey(id)
                    .map_err(|_| refused("its key is not a Multikey of ML-DSA in base u"))?;
            }
            "web" => web(id).ok_or_else(|| refused("its host or path is not that of an HTTPS address"))?,
            _ => {
                generic(method, id).ok_or_else(|| refused("it has another syntax than DID Core 1.0, §3.1"))?
            }
        }
        Ok(Self(text.into()))
    }
}

/// The syntax of all DIDs (DID Core 1.0, §3.1).
fn generic(method: &str, id: &str) -> Option<()> {
    let named =
        !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let mut rest = id.bytes();
    while let Some(byte) = rest.next() {
        let plain = byte.is_ascii_alphanumeric() || b".-_:".contains(&byte);
        let escaped = byte == b'%' && rest.next()?.is_ascii_hexdigit() && rest.next()?.is_ascii_hexdigit();
        (plain || escaped).then_some(())?;
    }
    (named && !id.is_empty() && !id.ends_with(':')).then_some(())
}

/// Checks `host[%3Aport](:segment)*`: a name of RFC 1123, no address, no empty or dotted segment.
fn web(id: &str) -> Option<()> {
    let mut parts = id.split(':');
    let host = parts.next()?;
    let (name, port) = match host.split_once("%3A").or_else(|| host.split_once("%3a")) {
        Some((name, port)) => (name, Some(port)),
        None => (host, None),
    };
    if let Some(port) = port {
        let port = crate::kdf::decimal(port)?;
        (1..=65535).contains(&port).then_some(())?;
    }
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    // Such a name is read as an IPv4 address (WHATWG URL, "ends in a number checker"): 127.0.0.1, 0x7f000001.
    let last = name.rsplit('.').next()?;
    let hexadecimal = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    let numeric = last.bytes().all(|byte| byte.is_ascii_digit())
        || hexadecimal.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let segment = |segment: &str| {
        !segment.is_empty()
            && segment != "."
            && segment != ".."
            && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
    };
    (name.len() <= 253 && name.split('.').all(label) && !numeric && parts.all(segment)).then_some(())
}

impl fmt::Display for Did {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Did {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The URL of a key: a DID, `#`, and a fragment (DID Core 1.0, §3.2; paths and queries are not used here).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DidUrl {
    did: Did,
    fragment: Box<str>,
}

impl DidUrl {
    /// The DID.
    pub fn did(&self) -> &Did {
        &self.did
    }

    /// What follows `#`.
    pub fn fragment(&self) -> &str {
        &self.fragment
    }
}

impl FromStr for DidUrl {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (did, fragment) = text
            .split_once('#')
            .ok_or_else(|| Error::new(Reason::BadDid, "a key's URL is a DID, # and a fragment"))?;
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte);
        if fragment.is_empty() || fragment.len() > MAX_LEN || !fragment.bytes().all(allowed) {
            return Err(Error::new(
                Reason::BadDid,
                "the fragment of a key's URL is empty, too long or not plain",
            ));
        }
        Ok(Self { did: did.parse()?, fragment: fragment.into() })
    }
}

impl fmt::Display for DidUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.did, self.fragment)
    }
}

impl fmt::Debug for DidUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "did:gambeson:uHiAAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHw";

    #[test]
    fn dids_are_read_and_written() {
        for text in [
            GOOD,
            "did:web:0x7f.example",
            "did:web:0xfg",
            "did:web:example.com",
            "did:web:example.com%3A8443:agents:one",
            "did:ex4:a:%20b",
        ] {
            assert_eq!(text.parse::<Did>().unwrap().to_string(), text);
            let url = format!("{text}#signing-0");
            assert_eq!(url.parse::<DidUrl>().unwrap().to_string(), url);
        }
        let address = |text: &str| text.parse::<Did>().unwrap().web_address();
        assert_eq!(address("did:web:example.com").unwrap(), "https://example.com/.well-known/did.json");
        assert_eq!(
            address("did:web:example.com%3A8443:a:b").unwrap(),
            "https://example.com:8443/a/b/did.json"
        );
        assert_eq!(address(GOOD).unwrap_err().reason(), Reason::BadDid);
    }

    #[test]
    fn what_is_not_a_did_is_refused() {
        let long = format!("did:web:{}", "a".repeat(5000));
        for text in [
            "",
            "did",
            "did:",
            "did:gambeson",
            "did:gambeson:",
            "DID:web:example.com",
            "did:Web:example.com",
            "did:Ex:1",
            "did:example:1:",
            "did:example:1%2",
            "did:example:1/2",
            "did:example:é",
            &GOOD[..GOOD.len() - 1],
            &format!("{GOOD}A"),
            &GOOD.replace(":u", ":z"),
            "did:gambeson:uHiAAAQ",
            "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
            "did:key:u",
            "did:web:",
            "did:web:-a.com",
            "did:web:127.0.0.1",
            "did:web:2130706433",
            "did:web:0x7f000001",
            "did:web:0X7F000001",
            "did:web:127.0.0.0x1",
            "did:web:example.0x",
            "did:web:0xa9fea9fe%3A8443",
            "did:web:a%3A",
            "did:web:a%3A0",
            "did:web:a%3A99999",
            "did:web:a:..",
            "did:web:a::b",
            "did:web:a/b",
            "did:web:a@b",
            "did:web:a b",
            "did:web:a%2Fb",
            &long,
        ] {
            assert_eq!(text.parse::<Did>().unwrap_err().reason(), Reason::BadDid, "{text}");
        }
        for text in [
            GOOD.to_owned(),
            format!("{GOOD}#"),
            format!("{GOOD}#a b"),
            format!("{GOOD}?x#a"),
            format!("{GOOD}#a#b"),
        ] {
            assert_eq!(text.parse::<DidUrl>().unwrap_err().reason(), Reason::BadDid, "{text}");
        }
    }
}
