//! What BoringSSL's test runner ("BoGo") drives: rustls, with our provider or with that of aws-lc-rs.
//!
//! `BOGO_PROVIDER` names the provider. The exit code is 0 if all went as the test expects, 89 if the test asks for something that is
//! not here, and 1 otherwise.
//!
//! * `options`: the runner's command line
//! * `credentials`: certificates, and what is asked of the other side's
//! * `sessions`: what a client keeps of them
//! * `exchange`: one connection

mod credentials;
mod exchange;
mod options;
mod sessions;

use credentials::{Resolver, Shared, Verifier};
use options::{Options, Unimplemented};
use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::ServerName;
use rustls::server::{
    NoServerSessionStorage, ServerSessionMemoryCache, StoresServerSessions, WebPkiClientVerifier,
};
use rustls::{
    ClientConfig, ClientConnection, Connection, NamedGroup, ServerConfig, ServerConnection,
    SupportedProtocolVersion, version,
};
use sessions::Sessions;
use std::process::ExitCode;
use std::sync::Arc;

/// The exit code that stands for "not here".
const UNIMPLEMENTED: u8 = 89;

/// What rustls counts into the size of a fragment, and BoringSSL does not.
const RECORD_HEADER: usize = 5;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|flag| flag == "-is-handshaker-supported") {
        println!("No");
        return ExitCode::SUCCESS;
    }
    let done = options::parse(&arguments).and_then(|connections| run(&connections));
    match done {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failed)) => {
            eprintln!("{failed}");
            ExitCode::FAILURE
        }
        Err(Unimplemented(what)) => {
            eprintln!("unimplemented: {what}");
            ExitCode::from(UNIMPLEMENTED)
        }
    }
}

/// What lives through all connections of a test: sessions are resumed only by who has the same verifier and credentials.
struct Shim {
    provider: CryptoProvider,
    verifier: Arc<Verifier>,
    resolver: Arc<Resolver>,
    client_sessions: Arc<Sessions>,
    server_sessions: Arc<dyn StoresServerSessions>,
    seen: Shared,
}

fn run(connections: &[Options]) -> Result<Result<(), String>, Unimplemented> {
    let provider = match std::env::var("BOGO_PROVIDER").as_deref() {
        Ok("aws-lc-rs") => rustls::crypto::aws_lc_rs::default_provider(),
        Ok("gambeson") => ours()?,
        _ => return Err(Unimplemented("BOGO_PROVIDER is neither gambeson nor aws-lc-rs".into())),
    };
    let seen = Shared::default();
    let first = &connections[0];
    let shim = Shim {
        verifier: Arc::new(Verifier::new(first, &provider, seen.clone())?),
        resolver: Arc::new(Resolver::new(first, &provider, seen.clone())?),
        provider,
        client_sessions: Arc::new(Sessions::default()),
        server_sessions: match first.resumptions {
            0 => Arc::new(NoServerSessionStorage {}),
            _ => ServerSessionMemoryCache::new(32),
        },
        seen,
    };
    for (number, options) in connections.iter().enumerate() {
        shim.verifier.fail(options.verify_fail);
        let connection = shim.connection(options)?;
        let done = exchange::run(connection, options, &shim.seen);
        if let Err(failed) = done {
            return Ok(Err(format!("connection {number}: {failed}")));
        }
    }
    Ok(Ok(()))
}

/// Every group and scheme that we have, those of the default preset first.
fn ours() -> Result<CryptoProvider, Unimplemented> {
    let builder = gambeson_rustls::Builder::new(gambeson_rustls::Preset::Default);
    builder.groups(gambeson_rustls::GROUPS).build().map_err(|error| Unimplemented(error.to_string()))
}

impl Shim {
    fn connection(&self, options: &Options) -> Result<Connection, Unimplemented> {
        let versions = versions(options)?;
        let provider = Arc::new(self.provider(options)?);
        let refused = |error: rustls::Error| Unimplemented(error.to_string());
        if options.server {
            let builder = ServerConfig::builder_with_provider(provider.clone());
            let builder = builder.with_protocol_versions(&versions).map_err(refused)?;
            let builder = match options.verify_peer || options.require_client_certificate {
                true => builder.with_client_cert_verifier(self.verifier.clone()),
                false => builder.with_client_cert_verifier(WebPkiClientVerifier::no_client_auth()),
            };
            let mut config = builder.with_cert_resolver(self.resolver.clone());
            config.alpn_protocols = options.protocols.clone();
            config.max_fragment_size = options.max_fragment.map(|payload| payload + RECORD_HEADER);
            config.session_storage = self.server_sessions.clone();
            if options.no_ticket {
                config.send_tls13_tickets = 0;
            }
            if options.early_data {
                // As much as BoringSSL takes, which the runner knows.
                config.max_early_data_size = 14_336;
                config.send_half_rtt_data = true;
            }
            ServerConnection::new(Arc::new(config)).map(Connection::Server).map_err(refused)
        } else {
            let builder = ClientConfig::builder_with_provider(provider.clone());
            let builder = builder.with_protocol_versions(&versions).map_err(refused)?;
            let builder = builder.dangerous().with_custom_certificate_verifier(self.verifier.clone());
            let mut config = builder.with_client_cert_resolver(self.resolver.clone());
            config.alpn_protocols = options.protocols.clone();
            config.max_fragment_size = options.max_fragment.map(|payload| payload + RECORD_HEADER);
            config.resumption = Resumption::store(self.client_sessions.clone());
            config.enable_early_data = options.early_data;
            config.enable_sni = options.host_name.is_some();
            let name = options.host_name.clone().unwrap_or_else(|| "example.com".into());
            let name = ServerName::try_from(name).map_err(|error| Unimplemented(error.to_string()))?;
            ClientConnection::new(Arc::new(config), name).map(Connection::Client).map_err(refused)
        }
    }

    /// The provider with the groups of the test alone.
    fn provider(&self, options: &Options) -> Result<CryptoProvider, Unimplemented> {
        let mut provider = self.provider.clone();
        if !options.groups.is_empty() {
            let found = options.groups.iter().map(|number| {
                let group = NamedGroup::from(*number);
                let known = self.provider.kx_groups.iter().copied().find(|it| it.name() == group);
                known.ok_or_else(|| Unimplemented(format!("{group:?}")))
            });
            provider.kx_groups = found.collect::<Result<_, _>>()?;
        }
        Ok(provider)
    }
}

fn versions(options: &Options) -> Result<Vec<&'static SupportedProtocolVersion>, Unimplemented> {
    let within = |version: u16| {
        options.min_version.is_none_or(|min| min <= version)
            && options.max_version.is_none_or(|max| version <= max)
    };
    let all = [
        (&version::TLS13, within(0x0304) && !options.without_tls13),
        (&version::TLS12, within(0x0303) && !options.without_tls12),
    ];
    let taken: Vec<_> = all.into_iter().filter(|(_, taken)| *taken).map(|(version, _)| version).collect();
    match taken.is_empty() {
        true => Err(Unimplemented("versions before TLS 1.2".into())),
        false => Ok(taken),
    }
}
