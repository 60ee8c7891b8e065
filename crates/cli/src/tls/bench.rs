//! `tls bench`: what a handshake costs each side, in memory.
//!
//! Each row is a full handshake of TLS 1.3 with a server that shows a chain (itself, an authority, below a root that the client
//! has), without tickets. Rows take turns, so that all of them see the same machine. Times are means over all rounds of the thread's
//! processor time, since signatures with rejection take different times; elsewhere than on Unix they are those of the clock.

use std::hint::black_box;
use std::sync::Arc;

use gambeson_hybrid::{ed448, x448};
use gambeson_pki::{Algorithm, Certificate, Form, PrivateKey, Purpose, Template};
use gambeson_rustls::{Builder, Preset, X25519, X25519_MLKEM768};
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, Connection, DigitallySignedStruct, RootCertStore, ServerConfig,
    ServerConnection, SignatureScheme,
};
use serde_json::json;

use crate::args::tls::TlsBench;
use crate::console::{Console, duration, grouped};
use crate::error::{Error, Status};

/// Whose TLS is measured.
const STACK: &str = "rustls, gambeson";
/// What the client says after the handshake in rows that have a message, as in the publication.
const MESSAGE: &[u8; 15] = b"fifteen bytes..";
/// By how much fully hybrid may be slower than classical.
const RATIO: f64 = 2.0;
/// By how much the classical handshake may be slower than its curve operations, so that a slow baseline cannot help.
const OVERHEAD: f64 = 1.25;
const HYBRID: &str = "fully-hybrid";
const CLASSICAL: &str = "classical-448";
const NAME: &str = "localhost";

type Failure = Box<dyn std::error::Error>;

/// What both sides are made of.
struct Subject {
    name: &'static str,
    algorithm: Algorithm,
    builder: Builder,
}

fn subjects() -> Vec<Subject> {
    let default = || Builder::new(Preset::Default);
    let subject = |name, algorithm, builder| Subject { name, algorithm, builder };
    vec![
        subject(CLASSICAL, Algorithm::Ed448, Builder::new(Preset::Classical448)),
        subject(HYBRID, Algorithm::MlDsa87Ed448, Builder::new(Preset::FullyHybrid)),
        subject("default", Algorithm::EcdsaP256, default()),
        subject("ecdsa-x25519", Algorithm::EcdsaP256, default().groups(&[&X25519])),
        subject("mldsa65-x25519mlkem768", Algorithm::MlDsa65, default().groups(&[&X25519_MLKEM768])),
    ]
}

/// By how much a handshake may be slower with X25519MLKEM768 than with X25519.
const HYBRID_SHARE: f64 = 1.05;

/// Microseconds and bytes of one handshake, of one side or direction each.
#[derive(Clone, Copy, Default)]
struct Cost {
    client_us: f64,
    server_us: f64,
    /// The same with a message after the handshake.
    client_message_us: f64,
    server_message_us: f64,
    bytes_up: usize,
    bytes_down: usize,
}

struct Row {
    preset: &'static str,
    verify: bool,
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
    costs: Vec<Cost>,
}

pub(super) fn bench(console: Console, options: &TlsBench) -> Result<Status, Error> {
    let refused = |error: Failure| Error::usage(format!("tls bench: {error}"));
    let mut rows = rows(options.matrix).map_err(refused)?;
    let mut operations = Operations::new().map_err(|error| refused(error.into()))?;
    let bar = console.steps_bar(options.rounds.into(), "handshakes");
    for _ in 0..options.rounds {
        for row in &mut rows {
            // A server's handshakes follow others of their kind: the first of each turn finds nothing in the caches, and does not count.
            handshake(row).map_err(refused)?;
            let cost = handshake(row).map_err(refused)?;
            row.costs.push(cost);
        }
        if options.matrix {
            operations.measure().map_err(|error| refused(error.into()))?;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    table(console, &rows)?;
    if !options.matrix {
        return Ok(Status::Done);
    }
    compare(console, options, &rows, &operations)
}

fn table(console: Console, rows: &[Row]) -> Result<(), Error> {
    console.say(format_args!(
        "{:<24} {:<7} {:<7} {:>9} {:>9} {:>9} {:>12} {:>8} {:>8}",
        "preset", "verify", "message", "client", "server", "both", "a second", "up", "down"
    ))?;
    for row in rows {
        for message in [0, MESSAGE.len()] {
            let (client, server) = row.median(message > 0);
            let (up, down) = row.bytes();
            // What one core serves.
            let rate = 1e6 / server;
            console.report(
                format_args!(
                    "{:<24} {:<7} {:<7} {:>9} {:>9} {:>9} {:>12} {:>8} {:>8}",
                    row.preset,
                    row.verify,
                    message,
                    duration(client * 1e3),
                    duration(server * 1e3),
                    duration((client + server) * 1e3),
                    grouped(rate as u64),
                    up,
                    down
                ),
                json!({
                    "preset": row.preset, "stack": STACK, "verify": row.verify, "message_bytes": message,
                    "client_us": client, "server_us": server, "handshakes_per_s": rate,
                    "bytes_up": up, "bytes_down": down, "rounds": row.costs.len(),
                }),
            )?;
        }
    }
    Ok(())
}

/// The rows beside each other, and whether the baseline is a fair one.
fn compare(
    console: Console,
    options: &TlsBench,
    rows: &[Row],
    operations: &Operations,
) -> Result<Status, Error> {
    let cpu = |preset: &str, verify: bool, message: bool| {
        let row = rows.iter().find(|row| row.preset == preset && row.verify == verify);
        row.map_or(f64::NAN, |row| {
            let (client, server) = row.median(message);
            client + server
        })
    };
    let mut holds = true;
    for verify in [true, false] {
        let sum = operations.sum(verify);
        let overhead = cpu(CLASSICAL, verify, false) / sum;
        let fair = overhead <= OVERHEAD;
        console.report(
            format_args!(
                "{CLASSICAL}, verify {verify}: its curve operations take {}, the handshake {overhead:.2} times that",
                duration(sum * 1e3)
            ),
            json!({"operations": CLASSICAL, "verify": verify, "cpu_us": sum, "overhead": overhead}),
        )?;
        for message in [false, true] {
            let ratio = cpu(HYBRID, verify, message) / cpu(CLASSICAL, verify, message);
            let bytes = if message { MESSAGE.len() } else { 0 };
            let verdict = if fair { "" } else { ", invalid: the baseline is slow" };
            console.report(
                format_args!(
                    "{HYBRID} over {CLASSICAL}, verify {verify}, message {bytes}: {ratio:.2}{verdict}"
                ),
                json!({
                    "ratio": format!("{HYBRID}/{CLASSICAL}"), "verify": verify, "message_bytes": bytes,
                    "cpu": if fair { json!(ratio) } else { json!("invalid") }, "measured": ratio,
                }),
            )?;
            if verify && !message {
                holds &= fair && ratio < RATIO;
            }
        }
        let ratio = cpu("default", verify, false) / cpu("ecdsa-x25519", verify, false);
        console.report(
            format_args!("X25519MLKEM768 over X25519 (ECDSA), verify {verify}: {ratio:.3}"),
            json!({"ratio": "default/ecdsa-x25519", "verify": verify, "message_bytes": 0, "cpu": ratio}),
        )?;
        if verify {
            holds &= ratio < HYBRID_SHARE;
        }
    }
    Ok(if options.check && !holds { Status::NotVerified } else { Status::Done })
}

impl Row {
    /// Microseconds of the client and of the server.
    fn median(&self, message: bool) -> (f64, f64) {
        let more = if message { 1.0 } else { 0.0 };
        let client = self.costs.iter().map(|cost| cost.client_us + more * cost.client_message_us);
        let server = self.costs.iter().map(|cost| cost.server_us + more * cost.server_message_us);
        (median(client), median(server))
    }

    /// Bytes up and down; ECDSA's signatures are not all of one length.
    fn bytes(&self) -> (usize, usize) {
        let sum =
            |bytes: fn(&Cost) -> usize| self.costs.iter().map(bytes).sum::<usize>() / self.costs.len().max(1);
        (sum(|cost| cost.bytes_up), sum(|cost| cost.bytes_down))
    }
}

fn median(samples: impl Iterator<Item = f64>) -> f64 {
    let mut samples: Vec<f64> = samples.collect();
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}

fn rows(matrix: bool) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for subject in subjects().iter().filter(|subject| matrix || subject.name == Preset::Default.name()) {
        let provider = Arc::new(subject.builder.build()?);
        let (root, sent, key) = chain(subject.algorithm)?;
        let file = PrivatePkcs8KeyDer::from(key.to_pkcs8_der(Form::Seed)?.to_vec());
        let mut server = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_no_client_auth()
            .with_single_cert(sent, file.into())?;
        server.send_tls13_tickets = 0;
        let server = Arc::new(server);
        let mut roots = RootCertStore::empty();
        roots.add(der(&root))?;
        for verify in [true, false] {
            let builder = ClientConfig::builder_with_provider(provider.clone())
                .with_protocol_versions(&[&rustls::version::TLS13])?;
            let mut client = if verify {
                builder.with_root_certificates(roots.clone()).with_no_client_auth()
            } else {
                let anybody = Arc::new(Anybody(provider.clone()));
                builder.dangerous().with_custom_certificate_verifier(anybody).with_no_client_auth()
            };
            client.resumption = Resumption::disabled();
            let (client, server) = (Arc::new(client), server.clone());
            rows.push(Row { preset: subject.name, verify, client, server, costs: Vec::new() });
        }
    }
    Ok(rows)
}

/// A root, what a server below it sends, and the server's key.
fn chain(algorithm: Algorithm) -> Result<(Certificate, Vec<CertificateDer<'static>>, PrivateKey), Failure> {
    let root_key = PrivateKey::generate(algorithm)?;
    let root = Template::authority("CN=Root".parse()?).path_length(1).self_signed(&root_key)?;
    let key = PrivateKey::generate(algorithm)?;
    let template = Template::authority("CN=Authority".parse()?).path_length(0);
    let authority = template.issue(&key.public_key(), &root, &root_key)?;
    let server_key = PrivateKey::generate(algorithm)?;
    let server = Template::new("CN=Server".parse()?)
        .alt_name(NAME.parse()?)
        .purpose(Purpose::ServerAuth)
        .issue(&server_key.public_key(), &authority, &key)?;
    Ok((root, vec![der(&server), der(&authority)], server_key))
}

fn der(certificate: &Certificate) -> CertificateDer<'static> {
    CertificateDer::from(certificate.as_der().to_vec())
}

/// One handshake and a message.
fn handshake(row: &Row) -> Result<Cost, Failure> {
    let mut cost = Cost::default();
    let name = ServerName::try_from(NAME)?;
    let start = now();
    let mut client = Connection::Client(ClientConnection::new(row.client.clone(), name)?);
    cost.client_us += now() - start;
    let start = now();
    let mut server = Connection::Server(ServerConnection::new(row.server.clone())?);
    cost.server_us += now() - start;
    while client.is_handshaking() || server.is_handshaking() {
        cost.bytes_up += pass(&mut client, &mut server, &mut cost.client_us, &mut cost.server_us)?;
        cost.bytes_down += pass(&mut server, &mut client, &mut cost.server_us, &mut cost.client_us)?;
    }
    let start = now();
    std::io::Write::write_all(&mut client.writer(), MESSAGE)?;
    cost.client_message_us += now() - start;
    pass(&mut client, &mut server, &mut cost.client_message_us, &mut cost.server_message_us)?;
    let (start, mut message) = (now(), [0; MESSAGE.len()]);
    std::io::Read::read_exact(&mut server.reader(), &mut message)?;
    cost.server_message_us += now() - start;
    if &message == MESSAGE { Ok(cost) } else { Err("the message came out changed".into()) }
}

/// Takes what one side has to say to the other; returns how many bytes.
fn pass(
    from: &mut Connection,
    to: &mut Connection,
    from_us: &mut f64,
    to_us: &mut f64,
) -> Result<usize, Failure> {
    let mut wire = Vec::with_capacity(32 << 10);
    let start = now();
    while from.wants_write() {
        from.write_tls(&mut wire)?;
    }
    *from_us += now() - start;
    let mut rest = &wire[..];
    let start = now();
    while !rest.is_empty() {
        to.read_tls(&mut rest)?;
        to.process_new_packets()?;
    }
    *to_us += now() - start;
    Ok(wire.len())
}

/// The operations on curves of a handshake of classical-448, by the doors that it uses: a share, an agreement, a signature, a
/// verification, in microseconds.
struct Operations {
    signing: ed448::SigningKey,
    times: Vec<[f64; 4]>,
}

impl Operations {
    fn new() -> Result<Self, gambeson::RngError> {
        Ok(Self { signing: ed448::SigningKey::generate()?, times: Vec::new() })
    }

    /// Twice, of which the second counts, as with handshakes.
    fn measure(&mut self) -> Result<(), gambeson::RngError> {
        self.once()?;
        let times = self.once()?;
        self.times.push(times);
        Ok(())
    }

    fn once(&self) -> Result<[f64; 4], gambeson::RngError> {
        let peer = x448::SecretKey::generate()?.public_key();
        let begun = now();
        let key = x448::SecretKey::generate()?;
        black_box(key.public_key());
        let shared = now();
        let agreed = key.diffie_hellman(&peer).is_ok();
        let met = now();
        // As long as what a handshake signs.
        let message = [0x20; 146];
        let signature = self.signing.sign(black_box(&message));
        let signed = now();
        let key = ed448::VerifyingKey::from_bytes(black_box(self.signing.public_bytes()));
        let valid = key.is_ok_and(|key| key.verify(&message, &signature).is_ok());
        let verified = now();
        assert!(agreed && valid, "our own key and signature");
        Ok([shared - begun, met - shared, signed - met, verified - signed])
    }

    /// Microseconds of both sides: two shares, two agreements, one signature and its verification, and those of two certificates.
    fn sum(&self, verify: bool) -> f64 {
        let counts = [2.0, 2.0, 1.0, if verify { 3.0 } else { 1.0 }];
        let of = |(at, count): (usize, f64)| count * median(self.times.iter().map(|times| times[at]));
        counts.into_iter().enumerate().map(of).sum()
    }
}

/// Microseconds of processor time that this thread has used.
#[cfg(unix)]
fn now() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}

/// Microseconds of the clock.
#[cfg(not(unix))]
fn now() -> f64 {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed().as_secs_f64() * 1e6
}

/// Takes every chain, and still verifies who signed the handshake: what the publication calls without verification.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::PeerIncompatible::Tls12NotOfferedOrEnabled.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
