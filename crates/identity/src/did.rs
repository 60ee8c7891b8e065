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
        self.0.splitn(3, ':').nth(2).expect("a DID must have three parts")
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
        DidUrl { did: self.clone(), rest: format!("#{fragment}").into() }
    }

    /// The URL that a reference in this DID's document stands for: RFC 3986, §5.2, with this DID as base (DID Core 1.0, §3.2.2).
    ///
    /// ```
    /// let did: gambeson_identity::Did = "did:web:bank.example".parse()?;
    /// assert_eq!(did.join("#signing-0")?, did.url("signing-0"));
    /// assert_eq!(did.join("a/../b?c#d")?.to_string(), "did:web:bank.example/b?c#d");
    /// assert!(did.join("https://bank.example").is_err());
    /// # Ok::<(), gambeson_identity::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Reason::BadDid`] if it is or becomes no DID URL.
    pub fn join(&self, reference: &str) -> Result<DidUrl> {
        let (path, _, _) = parts(reference);
        if path.starts_with("//") {
            return Err(Error::new(
                Reason::BadDid,
                "the reference names an authority, which a DID URL cannot have",
            ));
        }
        // A colon in the first segment ends a scheme (RFC 3986, §4.2).
        let absolute = path.split('/').next().is_some_and(|first| first.contains(':'));
        let (did, reference) = match absolute {
            true => {
                let url: DidUrl = reference.parse()?;
                (url.did, url.rest)
            }
            false => (self.clone(), reference.into()),
        };
        let (path, query, fragment) = parts(&reference);
        let mut text = did.to_string();
        if !path.is_empty() {
            text += &without_dots(path.strip_prefix('/').unwrap_or(path));
        }
        for (sign, part) in [('?', query), ('#', fragment)] {
            if let Some(part) = part {
                text.push(sign);
                text += part;
            }
        }
        text.parse()
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
            |why: &str| Error::new(Reason::BadDid, format_args!("not a DID of a known method: {why}"));
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
            "web" => web(id).ok_or_else(|| refused("its host or path is not valid in an HTTPS address"))?,
            _ => generic(method, id)
                .ok_or_else(|| refused("it does not follow the syntax of DID Core 1.0, §3.1"))?,
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

/// A DID URL (DID Core 1.0, §3.2): a DID, and a path, a query and a fragment, each of which may be missing. That of a key has a fragment.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DidUrl {
    did: Did,
    rest: Box<str>,
}

impl DidUrl {
    /// Reads the URL of a key, which has a fragment.
    ///
    /// # Errors
    ///
    /// [`Reason::BadDid`].
    pub fn of_key(text: &str) -> Result<Self> {
        let url: Self = text.parse()?;
        match url.fragment().is_empty() {
            true => Err(Error::new(Reason::BadDid, "the URL of a key must have a fragment")),
            false => Ok(url),
        }
    }

    /// The DID.
    pub fn did(&self) -> &Did {
        &self.did
    }

    /// What stands between the DID and `?` or `#`: empty, or it begins with `/`.
    pub fn path(&self) -> &str {
        parts(&self.rest).0
    }

    /// What follows `?`; empty if there is none.
    pub fn query(&self) -> &str {
        parts(&self.rest).1.unwrap_or_default()
    }

    /// What follows `#`; empty if there is none.
    pub fn fragment(&self) -> &str {
        parts(&self.rest).2.unwrap_or_default()
    }
}

/// Path, query and fragment (RFC 3986, §3).
fn parts(text: &str) -> (&str, Option<&str>, Option<&str>) {
    let cut = |text: &str, sign: char| text.find(sign).unwrap_or(text.len());
    let (front, fragment) = text.split_at(cut(text, '#'));
    let (path, query) = front.split_at(cut(front, '?'));
    (path, query.strip_prefix('?'), fragment.strip_prefix('#'))
}

/// A path without the segments `.` and `..`, which go up (RFC 3986, §5.2.4). `path` is without its first slash.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').peekable();
    while let Some(segment) = segments.next() {
        match segment {
            "." => {}
            ".." => drop(kept.pop()),
            segment => kept.push(segment),
        }
        // What ends with dots is a folder.
        if segments.peek().is_none() && matches!(segment, "." | "..") {
            kept.push("");
        }
    }
    format!("/{}", kept.join("/"))
}

/// Whether these are `pchar`s of RFC 3986, §3.3, or one of `more`.
#[inline(never)]
pub(crate) fn is_plain(text: &str, more: &[u8]) -> bool {
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let plain =
            byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte) || more.contains(&byte);
        let mut digit = || rest.next().is_some_and(|digit| digit.is_ascii_hexdigit());
        if !(plain || byte == b'%' && digit() && digit()) {
            return false;
        }
    }
    true
}

impl FromStr for DidUrl {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (did, rest) = text.split_at(text.find(['/', '?', '#']).unwrap_or(text.len()));
        let (path, query, fragment) = parts(rest);
        let plain =
            is_plain(path, b"/") && [query, fragment].into_iter().flatten().all(|part| is_plain(part, b"/?"));
        if rest.len() > MAX_LEN || !plain {
            return Err(Error::new(
                Reason::BadDid,
                "the part after the DID is too long or is not a path, query and fragment",
            ));
        }
        Ok(Self { did: did.parse()?, rest: rest.into() })
    }
}

impl fmt::Display for DidUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.did, self.rest)
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
        for rest in ["#a b", "#a#b", "#%4", "#%4g", "/a[b", "?a\\b", "#é", &long] {
            let text = format!("{GOOD}{rest}");
            assert_eq!(text.parse::<DidUrl>().unwrap_err().reason(), Reason::BadDid, "{text}");
        }
        for rest in ["", "/", "?a", "#"] {
            let text = format!("{GOOD}{rest}");
            assert_eq!(text.parse::<DidUrl>().unwrap().to_string(), text);
            assert_eq!(DidUrl::of_key(&text).unwrap_err().reason(), Reason::BadDid, "{text}");
        }
    }

    #[test]
    fn references_are_joined_as_rfc_3986_says() {
        let did: Did = GOOD.parse().unwrap();
        // RFC 3986, §5.4, as far as its base, which has a path and a query, does not matter.
        for (reference, rest) in [
            ("", ""),
            ("#s", "#s"),
            ("?y#s", "?y#s"),
            ("g?y/./x", "/g?y/./x"),
            ("g#s/../x", "/g#s/../x"),
            ("/./g", "/g"),
            ("/../g", "/g"),
            ("../../../g", "/g"),
            ("g.", "/g."),
            ("..g", "/..g"),
            ("./g/.", "/g/"),
            ("g/./h", "/g/h"),
            ("g/../h", "/h"),
            ("g/..", "/"),
            (".", "/"),
            ("a//../b", "/a/b"),
            ("did:web:a.example/x/../y#z", ""),
        ] {
            let expected = match rest {
                "" if !reference.is_empty() => "did:web:a.example/y#z".to_owned(),
                rest => format!("{GOOD}{rest}"),
            };
            let url = did.join(reference).unwrap();
            assert_eq!(url.to_string(), expected);
            let again = format!("{}{}", url.did(), url.path());
            assert!(
                expected.starts_with(&again)
                    && expected.contains(url.query())
                    && expected.contains(url.fragment())
            );
        }
        for reference in ["//web:a.example", "https://a.example", "g:h", "did:web:#a", "a b"] {
            assert_eq!(did.join(reference).unwrap_err().reason(), Reason::BadDid, "{reference}");
        }
    }
}
