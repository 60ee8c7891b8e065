//! The command line of the runner.
//!
//! A flag holds for all connections of a test, or after `-on-initial-` for the first and after `-on-resume-` for the others.

use base64ct::{Base64, Encoding};
use std::path::PathBuf;

/// A flag that this shim does not know, or cannot serve.
#[derive(Debug)]
pub struct Unimplemented(pub String);

/// What a test asks for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub port: u16,
    pub shim_id: u64,
    pub ipv6: bool,
    pub server: bool,
    pub resumptions: usize,
    pub host_name: Option<String>,

    pub credentials: Vec<Credential>,
    /// Whether the first credential came without `-new-…`, and has no number.
    pub has_default_credential: bool,
    pub verify_peer: bool,
    pub require_client_certificate: bool,
    pub verify_fail: bool,
    /// Whether signatures are taken unseen: a shim that the suite must catch.
    pub canary: bool,
    pub verify_preferences: Vec<u16>,
    pub client_authorities: Vec<Vec<u8>>,
    pub only_raw_public_keys: bool,

    pub min_version: Option<u16>,
    pub max_version: Option<u16>,
    pub without_tls12: bool,
    pub without_tls13: bool,
    pub groups: Vec<u16>,
    pub protocols: Vec<Vec<u8>>,
    pub max_fragment: Option<usize>,
    pub no_ticket: bool,
    pub early_data: bool,

    pub writes_first: bool,
    /// What is written first, and how often.
    pub first_words: Option<String>,
    pub repeated: Option<usize>,
    pub shuts_down: bool,
    pub check_close_notify: bool,
    pub exported: Option<Exported>,
    pub key_update: bool,
    pub read_size: Option<usize>,

    pub expected: Expected,
}

/// A certificate and its key.
#[derive(Clone, Debug, Default)]
pub struct Credential {
    pub chain: Option<PathBuf>,
    pub key: Option<PathBuf>,
    pub signing_preferences: Vec<u16>,
    pub ocsp: Vec<u8>,
    pub must_match_issuer: bool,
}

/// Keying material that is written once the handshake is over (RFC 8446, section 7.5).
#[derive(Clone, Debug, Default)]
pub struct Exported {
    pub length: usize,
    pub label: String,
    pub context: String,
    pub with_context: bool,
}

/// What must hold after the handshake.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    pub version: Option<u16>,
    pub protocol: Option<Vec<u8>>,
    pub group: Option<u16>,
    pub retried: Option<bool>,
    pub full_handshake: bool,
    pub early_data_accepted: Option<bool>,
    pub no_early_data: bool,
    pub peer_scheme: Option<u16>,
    pub credential: Option<i64>,
    pub server_name: Option<String>,
    pub ocsp: Option<Vec<u8>>,
    pub peer_chain: Option<PathBuf>,
    pub peer_key_hash: Option<Vec<u8>>,
    pub offered: Option<Vec<Vec<u8>>>,
    pub authorities: Option<Vec<Vec<u8>>>,
}

/// What the flags of a test mean for its connections, the first one first.
pub fn parse(arguments: &[String]) -> Result<Vec<Options>, Unimplemented> {
    let first = for_connection(arguments, true)?;
    let mut all = vec![first];
    for _ in 0..all[0].resumptions {
        all.push(for_connection(arguments, false)?);
    }
    Ok(all)
}

fn for_connection(arguments: &[String], first: bool) -> Result<Options, Unimplemented> {
    let (mut options, mut aside) = (Options::default(), Options::default());
    let mut arguments = arguments.iter();
    while let Some(flag) = arguments.next() {
        let (taken, name) = match flag.split_at_checked("-on-".len()) {
            Some(("-on-", rest)) => match rest.split_once('-') {
                Some(("initial", name)) => (first, name),
                Some(("resume", name)) => (!first, name),
                _ => return Err(Unimplemented(flag.clone())),
            },
            _ => (true, flag.strip_prefix('-').ok_or_else(|| Unimplemented(flag.clone()))?),
        };
        let options = if taken { &mut options } else { &mut aside };
        options.set(name, &mut || arguments.next().cloned().unwrap_or_default())?;
    }
    Ok(options)
}

impl Options {
    fn credential(&mut self) -> &mut Credential {
        if self.credentials.is_empty() {
            self.has_default_credential = true;
            self.credentials.push(Credential::default());
        }
        self.credentials.last_mut().expect("one was just put there")
    }

    fn set(&mut self, name: &str, value: &mut dyn FnMut() -> String) -> Result<(), Unimplemented> {
        let unimplemented = |what: &str| Unimplemented(format!("-{name} {what}"));
        let number = |text: String| text.parse::<u64>().map_err(|_| Unimplemented(text));
        let code = |text: String| text.parse::<u16>().map_err(|_| Unimplemented(text));
        let bytes = |text: String| Base64::decode_vec(&text).map_err(|_| Unimplemented(text));
        match name {
            "port" => self.port = code(value())?,
            "shim-id" => self.shim_id = number(value())?,
            "ipv6" => self.ipv6 = true,
            "server" => self.server = true,
            "resume-count" => self.resumptions = number(value())? as usize,
            "host-name" => self.host_name = Some(value()),

            "cert-file" => self.credential().chain = Some(value().into()),
            "key-file" => self.credential().key = Some(value().into()),
            "signing-prefs" => {
                let scheme = code(value())?;
                self.credential().signing_preferences.push(scheme);
            }
            "ocsp-response" => self.credential().ocsp = bytes(value())?,
            "must-match-issuer" => self.credential().must_match_issuer = true,
            "new-x509-credential" | "new-rpk-credential" => self.credentials.push(Credential::default()),
            // The runner's certificates are taken as they are; what is verified is who has their keys.
            "trust-cert" => drop(value()),
            "verify-peer" | "use-custom-verify-callback" => self.verify_peer |= name == "verify-peer",
            "require-any-client-certificate" => self.require_client_certificate = true,
            "verify-fail" => self.verify_fail = true,
            "canary" => self.canary = true,
            "expect-verify-result" => {}
            "verify-prefs" => self.verify_preferences.push(code(value())?),
            "use-client-ca-list" => self.client_authorities = names(&value())?,
            "accepted-peer-cert-types" | "available-client-cert-types" => match value().as_str() {
                "2" => self.only_raw_public_keys = true,
                // rustls offers one kind of certificate on a side.
                other => return Err(unimplemented(other)),
            },

            "min-version" => self.min_version = Some(code(value())?),
            "max-version" => self.max_version = Some(code(value())?),
            "no-tls1" | "no-tls11" => {}
            "no-tls12" => self.without_tls12 = true,
            "no-tls13" => self.without_tls13 = true,
            "curves" => self.groups.push(code(value())?),
            "advertise-alpn" => {
                self.protocols = protocols(value().as_bytes()).ok_or_else(|| unimplemented(""))?
            }
            "select-alpn" => self.protocols = vec![value().into_bytes()],
            "max-send-fragment" => self.max_fragment = Some(number(value())? as usize),
            "no-ticket" => self.no_ticket = true,
            "enable-early-data" => self.early_data = true,

            "shim-writes-first" => self.writes_first = true,
            "shim-initial-write" => self.first_words = Some(value()),
            "repeat-shim-initial-write" => self.repeated = Some(number(value())? as usize),
            "shim-shuts-down" => self.shuts_down = true,
            "check-close-notify" => self.check_close_notify = true,
            "key-update-before-read" => self.key_update = true,
            "read-size" => self.read_size = Some(number(value())? as usize),
            "export-keying-material" => self.exported().length = number(value())? as usize,
            "export-label" => self.exported().label = value(),
            "export-context" => self.exported().context = value(),
            "use-export-context" => self.exported().with_context = true,

            "expect-version" => self.expected.version = Some(code(value())?),
            "expect-alpn" => self.expected.protocol = Some(value().into_bytes()),
            "expect-curve-id" => self.expected.group = Some(code(value())?),
            "expect-hrr" => self.expected.retried = Some(true),
            "expect-no-hrr" => self.expected.retried = Some(false),
            "expect-session-miss" => self.expected.full_handshake = true,
            "expect-accept-early-data" => self.expected.early_data_accepted = Some(true),
            "expect-reject-early-data" => self.expected.early_data_accepted = Some(false),
            "expect-no-offer-early-data" => self.expected.no_early_data = true,
            "expect-peer-signature-algorithm" => self.expected.peer_scheme = Some(code(value())?),
            "expect-selected-credential" => {
                let number = value();
                self.expected.credential = Some(number.parse().map_err(|_| unimplemented(&number))?);
            }
            "expect-server-name" => self.expected.server_name = Some(value()),
            "expect-ocsp-response" => self.expected.ocsp = Some(bytes(value())?),
            "expect-peer-cert-file" => self.expected.peer_chain = Some(value().into()),
            "expect-peer-rpk-sha256" => self.expected.peer_key_hash = Some(bytes(value())?),
            "expect-advertised-alpn" => {
                self.expected.offered = Some(protocols(value().as_bytes()).ok_or_else(|| unimplemented(""))?);
            }
            "decline-alpn" => self.protocols.clear(),
            "expect-client-ca-list" => self.expected.authorities = Some(names(&value())?),
            "expect-peer-certificate-type" => match value().as_str() {
                "2" if self.only_raw_public_keys => {}
                "0" if !self.only_raw_public_keys => {}
                other => return Err(unimplemented(other)),
            },

            // How BoringSSL is called, which rustls has no counterpart of; nothing on the wire depends on it.
            "async"
            | "implicit-handshake"
            | "use-old-client-cert-callback"
            | "use-early-callback"
            | "no-op-extra-handshake"
            | "enable-ocsp-stapling" => {}
            // What BoringSSL knows of a session before it is used; whether it can be used is seen in the next connection.
            "expect-ticket-supports-early-data"
            | "expect-no-session-id"
            | "expect-extended-master-secret" => {}
            // Why there was none; that there was none is seen by the runner.
            "expect-early-data-reason" => drop(value()),
            _ => return Err(unimplemented("")),
        }
        Ok(())
    }

    fn exported(&mut self) -> &mut Exported {
        self.exported.get_or_insert_default()
    }
}

/// Names of authorities in DER, in hexadecimal digits between commas.
fn names(list: &str) -> Result<Vec<Vec<u8>>, Unimplemented> {
    let name = |digits| hex::decode(digits).map_err(|_| Unimplemented(list.to_owned()));
    if list == "<EMPTY>" { Ok(Vec::new()) } else { list.split(',').map(name).collect() }
}

/// Names of protocols, each after its length (RFC 7301, section 3.1).
fn protocols(mut list: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut all = Vec::new();
    while let [length, rest @ ..] = list {
        let (name, after) = rest.split_at_checked(usize::from(*length))?;
        all.push(name.to_vec());
        list = after;
    }
    Some(all)
}
