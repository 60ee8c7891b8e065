//! Composite signatures that must not hold, inside TLS: in the CertificateVerify of a server and of a client, and in their chains.
//!
//! No other TLS stack has the scheme of composites (it has a number for private use), so both sides are ours: one of them signs with a
//! [`Forger`]. Each forgery runs in memory and over a socket, and both sides must say what became of it.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::{fmt, io};

use gambeson_pki::{Algorithm, Certificate, PrivateKey, Purpose, Template};
use gambeson_rustls::{Builder, Preset, Scheme};
use libtest_mimic::Trial;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::sign::{CertifiedKey, Signer, SigningKey, SingleCertAndKey};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, Connection, DigitallySignedStruct,
    Error, RootCertStore, ServerConfig, ServerConnection, SignatureAlgorithm, SignatureScheme,
};

use crate::composite::{Body, FORGERIES, Forger, Forgery};
use crate::sockets::patient;
use crate::tools::{Result, check};

/// Each composite, with the number that it has in these tests; that of the first is the provider's own.
const SCHEMES: [(Algorithm, u16); 7] = [
    (Algorithm::MlDsa87Ed448, 0xfe12),
    (Algorithm::MlDsa87EcdsaP384, 0xfe13),
    (Algorithm::MlDsa65Ed25519, 0xfe14),
    (Algorithm::MlDsa65EcdsaP384, 0xfe15),
    (Algorithm::MlDsa65EcdsaP256, 0xfe16),
    (Algorithm::MlDsa44Ed25519, 0xfe17),
    (Algorithm::MlDsa44EcdsaP256, 0xfe18),
];

/// Who forges.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Side {
    Client,
    Server,
}

/// What is forged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// What the key of the certificate signs in the handshake.
    CertificateVerify,
    /// What the authority signed.
    Chain,
}

/// How the two are joined.
type Join = fn(Connection, Connection) -> Result<Ends>;

/// How it ended for the client, and for the server; none is well.
type Ends = (Option<Error>, Option<Error>);

/// Tests for every composite.
#[must_use]
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (algorithm, number) in SCHEMES {
        let joins: [(&str, Join); 2] = [("in_memory", in_memory), ("over_sockets", over_sockets)];
        for (name, join) in joins {
            let test = move || forgeries_are_refused(algorithm, number, join);
            trials.push(Trial::test(format!("forged::{algorithm}::every_forgery_is_refused_{name}"), test));
        }
    }
    trials.push(Trial::test("forged::a_verifier_that_takes_everything_is_noticed", a_careless_client));
    trials
}

fn forgeries_are_refused(algorithm: Algorithm, number: u16, join: Join) -> Result {
    let parties = Parties::new(algorithm, number)?;
    let mut refused = 0;
    for side in [Side::Server, Side::Client] {
        for place in [Place::CertificateVerify, Place::Chain] {
            let (client, server) = parties.meet(side, place, None, false)?;
            let ends = join(client, server)?;
            check(ends == (None, None), format!("right signatures of the {side:?} are refused: {ends:?}"))?;
            for forgery in &FORGERIES {
                let (client, server) = parties.meet(side, place, Some(forgery), false)?;
                let ends = join(client, server).map_err(|error| {
                    let error = error.message().unwrap_or_default();
                    format!("{}, {place:?} of the {side:?}: {error}", forgery.0)
                })?;
                let what = format!("{}, {place:?} of the {side:?}: {ends:?}", forgery.0);
                let (forger, verifier) = if side == Side::Client { ends } else { (ends.1, ends.0) };
                let bad = Error::InvalidCertificate(CertificateError::BadSignature);
                check(verifier == Some(bad), format!("it is refused as a signature: {what}"))?;
                let told = Error::AlertReceived(AlertDescription::DecryptError);
                check(forger == Some(told), format!("decrypt_error tells so: {what}"))?;
                refused += 1;
            }
        }
    }
    check(refused == 2 * 2 * 18, "each side, each place, each forgery")
}

/// Were it not for the verifier, the forgery would pass.
fn a_careless_client() -> Result {
    let (algorithm, number) = SCHEMES[0];
    let parties = Parties::new(algorithm, number)?;
    for (join, forgery) in [in_memory as Join, over_sockets].into_iter().zip(&FORGERIES) {
        let (client, server) = parties.meet(Side::Server, Place::CertificateVerify, Some(forgery), true)?;
        check(join(client, server)? == (None, None), "a client that verifies nothing takes it")?;
    }
    Ok(())
}

/// A root, and one who may be a server and a client, with an authority between them.
pub struct Parties {
    provider: Arc<CryptoProvider>,
    scheme: Scheme,
    /// What both trust.
    pub root: Certificate,
    roots: Arc<RootCertStore>,
    /// The end's certificate, and the authority's.
    chain: [CertificateDer<'static>; 2],
    key: Vec<u8>,
    authority: Vec<u8>,
}

impl Parties {
    /// All keys of one composite, whose scheme has this number.
    ///
    /// # Errors
    /// The algorithm is none, or the number is not for private use.
    pub fn new(algorithm: Algorithm, number: u16) -> Result<Self> {
        let scheme = Scheme::composite(algorithm, number)?;
        let provider = Builder::new(Preset::FullyHybrid).scheme(scheme).build()?;
        let generate = || PrivateKey::generate(algorithm);
        let (root_key, authority_key, key) = (generate()?, generate()?, generate()?);
        let root = Template::authority("CN=Root".parse()?).path_length(1).self_signed(&root_key)?;
        let authority = Template::authority("CN=Authority".parse()?).path_length(0);
        let authority = authority.issue(&authority_key.public_key(), &root, &root_key)?;
        let end = Template::new("CN=End".parse()?)
            .alt_name("server.example".parse()?)
            .purpose(Purpose::ServerAuth)
            .purpose(Purpose::ClientAuth)
            .issue(&key.public_key(), &authority, &authority_key)?;
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(root.as_der().to_vec()))?;
        let file = |key: &PrivateKey| -> Result<Vec<u8>> {
            Ok(key.to_pkcs8_der(gambeson_pki::Form::Seed)?.to_vec())
        };
        Ok(Self {
            provider: Arc::new(provider),
            scheme,
            roots: Arc::new(roots),
            root,
            chain: [end, authority].map(|made| CertificateDer::from(made.as_der().to_vec())),
            key: file(&key)?,
            authority: file(&authority_key)?,
        })
    }

    /// Both sides, with certificates. One puts its signatures together from halves, right ones where there is no forgery.
    fn meet(
        &self,
        side: Side,
        place: Place,
        forgery: Option<&'static Forgery>,
        careless: bool,
    ) -> Result<(Connection, Connection)> {
        let (forging, honest) = (self.forging(place, forgery)?, self.honest()?);
        let (client, server) = if side == Side::Client { (forging, honest) } else { (honest, forging) };
        let builder = ClientConfig::builder_with_provider(self.provider.clone())
            .with_safe_default_protocol_versions()?;
        let builder = match careless {
            true => builder.dangerous().with_custom_certificate_verifier(Arc::new(Careless(self.scheme))),
            false => builder.with_root_certificates(self.roots.clone()),
        };
        let client_config = builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(client)));
        let name = ServerName::try_from("server.example")?;
        Ok((
            ClientConnection::new(Arc::new(client_config), name)?.into(),
            ServerConnection::new(Arc::new(self.server(server)?))?.into(),
        ))
    }

    /// A server with a forgery, or with right signatures that were put together from halves. It asks for a certificate, and does
    /// without.
    ///
    /// # Errors
    /// None that is expected.
    pub fn forging_server(&self, place: Place, forgery: Option<&'static Forgery>) -> Result<ServerConfig> {
        self.server(self.forging(place, forgery)?)
    }

    fn server(&self, key: CertifiedKey) -> Result<ServerConfig> {
        let verifier = WebPkiClientVerifier::builder_with_provider(self.roots.clone(), self.provider.clone());
        Ok(ServerConfig::builder_with_provider(self.provider.clone())
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(verifier.allow_unauthenticated().build()?)
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(key))))
    }

    fn honest(&self) -> Result<CertifiedKey> {
        let key = PrivateKey::from_pkcs8_der(&self.key)?;
        Ok(CertifiedKey::new(self.chain.to_vec(), self.scheme.signing_key(key)?))
    }

    fn forging(&self, place: Place, forgery: Option<&'static Forgery>) -> Result<CertifiedKey> {
        let mut chain = self.chain.to_vec();
        let own = if place == Place::CertificateVerify { forgery } else { None };
        if place == Place::Chain {
            let forger = Forger::new(&PrivateKey::from_pkcs8_der(&self.authority)?)?;
            let body = Body::of(&chain[0])?;
            chain[0] = body.with(&sign(&forger, forgery, &body.signed)?)?.into();
        }
        let forger = Forger::new(&PrivateKey::from_pkcs8_der(&self.key)?)?;
        let number = self.scheme.number();
        let signer = Forged(Arc::new(Inner { forger, forgery: own, number }));
        Ok(CertifiedKey::new(chain, Arc::new(signer)))
    }
}

fn sign(forger: &Forger, forgery: Option<&Forgery>, message: &[u8]) -> Result<Vec<u8>> {
    match forgery {
        Some((_, forge)) => forge(forger, message),
        None => forger.right(message),
    }
}

/// A key that signs handshakes with a forgery.
#[derive(Clone)]
struct Forged(Arc<Inner>);

struct Inner {
    forger: Forger,
    forgery: Option<&'static Forgery>,
    number: u16,
}

impl fmt::Debug for Forged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Forged").field(&self.0.forgery.map(|forgery| forgery.0)).finish()
    }
}

impl SigningKey for Forged {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        offered.contains(&self.scheme()).then(|| Box::new(self.clone()) as Box<dyn Signer>)
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::Unknown(0)
    }
}

impl Signer for Forged {
    fn sign(&self, message: &[u8]) -> std::result::Result<Vec<u8>, Error> {
        sign(&self.0.forger, self.0.forgery, message)
            .map_err(|error| Error::General(error.message().unwrap_or_default().into()))
    }

    fn scheme(&self) -> SignatureScheme {
        SignatureScheme::Unknown(self.0.number)
    }
}

/// A verifier that looks at nothing.
#[derive(Debug)]
struct Careless(Scheme);

impl ServerCertVerifier for Careless {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> std::result::Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, Error> {
        Err(Error::General("there is no TLS 1.2 here".into()))
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::Unknown(self.0.number())]
    }
}

/// Each hears all that the other says, its alert too.
fn in_memory(mut client: Connection, mut server: Connection) -> Result<Ends> {
    let mut ends = (None, None);
    loop {
        let moved =
            passes(&mut client, &mut server, &mut ends.1)? | passes(&mut server, &mut client, &mut ends.0)?;
        if !moved {
            break;
        }
    }
    let done = !client.is_handshaking() && !server.is_handshaking();
    check(done || ends != (None, None), "the handshake neither ends nor fails")?;
    Ok(ends)
}

/// Hands over what one has to say; whether it was anything.
fn passes(from: &mut Connection, to: &mut Connection, end: &mut Option<Error>) -> Result<bool> {
    let mut wire = Vec::new();
    while from.wants_write() {
        from.write_tls(&mut wire)?;
    }
    let mut rest = &wire[..];
    while !rest.is_empty() && end.is_none() {
        to.read_tls(&mut rest)?;
        *end = to.process_new_packets().err();
    }
    Ok(!wire.is_empty())
}

fn over_sockets(client: Connection, server: Connection) -> Result<Ends> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let serving = std::thread::spawn(move || -> std::result::Result<_, String> {
        let (socket, _) = listener.accept().map_err(|error| error.to_string())?;
        to_the_end(server, socket)
    });
    let client = to_the_end(client, TcpStream::connect(address)?)?;
    Ok((client, serving.join().map_err(|_| "our server panicked")??))
}

fn name(connection: &Connection) -> &'static str {
    match connection {
        Connection::Client(_) => "the client",
        Connection::Server(_) => "the server",
    }
}

/// A handshake, then a farewell: how it ended.
fn to_the_end(
    mut connection: Connection,
    mut socket: TcpStream,
) -> std::result::Result<Option<Error>, String> {
    let text = |error: io::Error| error.to_string();
    patient(&socket)?;
    let (mut said, mut heard) = (false, false);
    loop {
        if !connection.is_handshaking() && !said {
            connection.send_close_notify();
            said = true;
        }
        while connection.wants_write() {
            connection.write_tls(&mut socket).map_err(text)?;
        }
        if said && heard {
            return Ok(None);
        }
        if connection.read_tls(&mut socket).map_err(text)? == 0 {
            return Err(format!("the other side of {} has gone without a word", name(&connection)));
        }
        match connection.process_new_packets() {
            Ok(state) => heard |= state.peer_has_closed(),
            Err(error) => {
                // The alert that says why; who leaves what came unread resets the connection, and the alert is lost.
                while connection.wants_write() {
                    connection.write_tls(&mut socket).map_err(text)?;
                }
                socket.shutdown(Shutdown::Write).map_err(text)?;
                io::copy(&mut socket, &mut io::sink()).map_err(text)?;
                return Ok(Some(error));
            }
        }
    }
}
