//! From an endpoint to an open stream of messages: TCP or a socket file, TLS, HTTP/2, gRPC.

use std::fmt::Write;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::stream;
use gambeson_identity::text::one_line;
use gambeson_rustls::rustls::pki_types::ServerName;
use gambeson_rustls::rustls::{self, ClientConfig};
use gambeson_rustls::{
    Builder, ChainVerifier, Preset, Roots, SECP256R1_MLKEM768, SECP384R1_MLKEM1024, X25519_MLKEM768,
};
use http::uri::PathAndQuery;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, lookup_host};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tonic::client::Grpc;
use tonic::codec::Streaming;
use tonic::metadata::AsciiMetadataValue;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic::{Code, Request, Status};
use tower_service::Service;

use super::options::NodeOptions;
use super::proto::{Message, MessageCodec, OPEN_CHANNEL};
use crate::error::{Error, Result};

/// Time for one of several addresses of a host: a family of addresses may lead nowhere.
const ONE_ADDRESS: Duration = Duration::from_secs(1);

/// A node that is silent for so long is asked whether it is there, and lost if it does not answer for as long again.
const SILENCE: Duration = Duration::from_secs(10);

/// Length of the longest message that is taken from a node, in bytes. Nodes take 4 MiB and forward it with a few bytes more; the
/// connection ends at what is longer, so a lower limit would let anyone end it.
pub(super) const MAX_MESSAGE: usize = 5 << 20;

/// Reads, at most, that look for the reason of a write that failed.
const READS_FOR_A_REASON: usize = 16;

/// Messages that may wait for the connection.
const WAITING: usize = 128;

/// A node to which connections can be made: its options, checked.
pub(super) struct Target {
    /// The endpoint as it was given.
    pub(super) endpoint: String,
    pub(super) post_quantum: bool,
    /// Scheme and authority of requests.
    origin: Uri,
    address: Address,
    credentials: Option<AsciiMetadataValue>,
}

#[derive(Clone)]
enum Address {
    Tcp {
        host: String,
        port: u16,
        tls: Option<(TlsConnector, ServerName<'static>)>,
    },
    #[cfg(unix)]
    Unix(std::path::PathBuf),
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

impl Target {
    /// Checks options.
    ///
    /// # Errors
    /// [`Error::NodeOptions`] says which of them is wrong.
    pub(super) fn new(options: NodeOptions) -> Result<Self> {
        let wrong = |what: &str| Error::NodeOptions(format!("node {}: {what}", options.shown()));
        let (scheme, rest) = options.endpoint.split_once("://").unwrap_or(("http", &options.endpoint));
        let (origin, address, is_private) = match scheme {
            "http" | "https" => {
                let (host, port) = host_and_port(scheme, rest).map_err(|reason| wrong(&reason))?;
                let tls = if scheme == "https" {
                    let name = ServerName::try_from(host.clone())
                        .map_err(|_| wrong("the host is not a DNS name or an IP address"))?;
                    let config = tls(&options).map_err(|reason| wrong(&reason))?;
                    Some((TlsConnector::from(Arc::new(config)), name))
                } else {
                    None
                };
                let is_private = tls.is_some() || is_loopback(&host);
                let origin = format!("{scheme}://{}", rest.trim_end_matches('/'));
                (origin, Address::Tcp { host, port, tls }, is_private)
            }
            #[cfg(unix)]
            "unix" if !rest.is_empty() => ("http://localhost".to_owned(), Address::Unix(rest.into()), true),
            "ws" | "wss" => {
                return Err(wrong(
                    "WebSocket endpoints are not supported; use the node's gRPC endpoint (http:// or https://)",
                ));
            }
            _ => {
                return Err(wrong("expected http://host:port, https://host:port, host:port or unix:///path"));
            }
        };
        if !matches!(&address, Address::Tcp { tls: Some(_), .. })
            && (options.roots.is_some() || options.identity.is_some())
        {
            return Err(wrong("client certificates and certificate authorities need an https:// endpoint"));
        }
        let credentials = match &options.credentials {
            Some(_) if !is_private => {
                return Err(wrong(
                    "credentials would be sent unencrypted; use https:// (or a loopback address)",
                ));
            }
            Some(credentials) => {
                let mut value = AsciiMetadataValue::try_from(credentials.header.expose().as_str())
                    .map_err(|_| wrong("the credentials contain characters that a header cannot carry"))?;
                value.set_sensitive(true);
                Some(value)
            }
            None => None,
        };
        let origin = origin.parse().map_err(|_| wrong("the endpoint is not a URL"))?;
        Ok(Self {
            post_quantum: options.post_quantum,
            endpoint: options.endpoint,
            origin,
            address,
            credentials,
        })
    }
}

/// Splits `host`, `host:port` and `[v6]:port`; the port is that of the scheme if there is none.
fn host_and_port(scheme: &str, rest: &str) -> std::result::Result<(String, u16), String> {
    let uri: Uri = format!("http://{rest}").parse().map_err(|_| "the endpoint is not a URL".to_owned())?;
    let authority = uri.authority().ok_or("the endpoint has no host")?;
    if authority.as_str().contains('@') {
        return Err("credentials do not belong in the endpoint".to_owned());
    }
    if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
        return Err("the endpoint has a path; nodes have none".to_owned());
    }
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    if host.is_empty() {
        return Err("the endpoint has no host".to_owned());
    }
    let usual = if scheme == "https" { 443 } else { 80 };
    Ok((host.to_owned(), authority.port_u16().unwrap_or(usual)))
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Builds the TLS configuration: gambeson's provider, and HTTP/2.
fn tls(options: &NodeOptions) -> std::result::Result<ClientConfig, String> {
    let mut provider = Builder::new(Preset::Default);
    if options.post_quantum {
        provider = provider.groups(&[&X25519_MLKEM768, &SECP256R1_MLKEM768, &SECP384R1_MLKEM1024]);
    }
    let provider = provider.build().map_err(|error| error.to_string())?;
    let mut roots = Roots::default();
    match &options.roots {
        Some(given) => {
            for root in given.iter() {
                roots.add(root).map_err(|error| format!("certificate authority: {error}"))?;
            }
        }
        None => {
            for root in rustls_native_certs::load_native_certs().certs {
                // One that cannot be read is no root.
                let _ = roots.add(&root);
            }
            if roots.is_empty() {
                return Err(
                    "the system has no root certificates; name the node's certificate authority".to_owned()
                );
            }
        }
    }
    let verifier = Arc::new(ChainVerifier::new(roots, &provider));
    let builder = ClientConfig::builder_with_provider(Arc::new(provider));
    let builder = builder.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
    let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
    let mut config = match &options.identity {
        Some(identity) => builder
            .with_client_auth_cert(identity.chain.clone(), identity.key().clone_key())
            .map_err(|error| format!("client certificate: {error}"))?,
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(config)
}

/// An open stream of messages each way. Dropping `close` ends the connection at once, whatever waits.
pub(super) struct Stream {
    pub(super) outbound: mpsc::Sender<Message>,
    pub(super) inbound: Streaming<Option<Message>>,
    pub(super) close: oneshot::Sender<()>,
    /// HTTP/2 sends its keep-alive for as long as this is there.
    pub(super) channel: Channel,
    /// Why the connection ended, if it has.
    lost: Arc<OnceLock<String>>,
}

/// Connects and calls `OpenChannel`. `first` is sent with the call.
pub(super) async fn open(target: &Target, first: Message) -> std::result::Result<Stream, String> {
    let (close, closed) = oneshot::channel();
    // TLS is the connector's affair: this URI is not resolved.
    let endpoint = Endpoint::from_static("http://node.invalid")
        .origin(target.origin.clone())
        .http2_keep_alive_interval(SILENCE)
        .keep_alive_timeout(SILENCE)
        .keep_alive_while_idle(true);
    let lost = Arc::<OnceLock<String>>::default();
    let dialer = Dialer { address: target.address.clone(), closed: Some(closed), lost: Arc::clone(&lost) };
    let channel =
        endpoint.connect_with_connector(dialer).await.map_err(|error| printable(&causes(&error)))?;
    let (outbound, mut waiting) = mpsc::channel(WAITING);
    outbound.try_send(first).map_err(|_| "the node closed the stream before it started".to_owned())?;
    let mut request = Request::new(stream::poll_fn(move |cx| waiting.poll_recv(cx)));
    if let Some(credentials) = &target.credentials {
        request.metadata_mut().insert("authorization", credentials.clone());
    }
    let mut client = Grpc::new(channel.clone()).max_decoding_message_size(MAX_MESSAGE);
    client
        .ready()
        .await
        .map_err(|error| printable(&lost.get().cloned().unwrap_or_else(|| causes(&error))))?;
    let path = PathAndQuery::from_static(OPEN_CHANNEL);
    let response = client.streaming(request, path, MessageCodec).await;
    let inbound = response.map_err(|status| reason(&status, &lost))?.into_inner();
    Ok(Stream { outbound, inbound, close, channel, lost })
}

impl Stream {
    /// Returns the first message of the node, or why there is none.
    pub(super) async fn first(&mut self) -> std::result::Result<Option<Message>, String> {
        match self.inbound.message().await {
            Ok(first) => Ok(first.map(Option::unwrap_or_default)),
            Err(status) => Err(reason(&status, &self.lost)),
        }
    }
}

/// Returns why a call failed: what ended the connection, or what the node said.
fn reason(status: &Status, lost: &OnceLock<String>) -> String {
    if let Some(lost) = lost.get() {
        return printable(lost);
    }
    match status.code() {
        Code::Unauthenticated | Code::PermissionDenied => {
            format!("the node refuses the credentials ({})", printable(status.message()))
        }
        Code::Unimplemented => {
            "no SLIM data plane answers: this is another service, or its SLIM version is too old".to_owned()
        }
        _ => printable(&causes(status)),
    }
}

/// Returns an error and its causes in one line.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let said = inner.to_string();
        if !text.ends_with(&said) {
            let _ = write!(text, ": {said}");
        }
        cause = inner.source();
    }
    text
}

/// Text of a node for an error message: one line, and short.
fn printable(text: &str) -> String {
    one_line(text.chars().take(300).collect::<String>())
}

/// Makes the one connection of a stream.
struct Dialer {
    address: Address,
    closed: Option<oneshot::Receiver<()>>,
    /// Why the connection ended, if it has.
    lost: Arc<OnceLock<String>>,
}

impl Service<Uri> for Dialer {
    type Response = TokioIo<Connection>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let (address, closed, lost) = (self.address.clone(), self.closed.take(), Arc::clone(&self.lost));
        Box::pin(async move {
            // tonic would connect again, for a stream that begins with another's negotiation.
            let closed = closed.ok_or_else(|| io::Error::other("the node closed the connection"))?;
            let io: Box<dyn Io> = match address {
                Address::Tcp { host, port, tls } => {
                    let stream = dial(&host, port).await?;
                    stream.set_nodelay(true)?;
                    match tls {
                        Some((connector, name)) => {
                            Box::new(connector.connect(name, stream).await.map_err(explained)?)
                        }
                        None => Box::new(stream),
                    }
                }
                #[cfg(unix)]
                Address::Unix(path) => Box::new(tokio::net::UnixStream::connect(path).await?),
            };
            Ok(TokioIo::new(Connection { io, closed, is_closed: false, lost }))
        })
    }
}

/// Says in words what went wrong in TLS, if that is it.
fn explained(error: io::Error) -> io::Error {
    match tls_of(&error) {
        Some(tls @ rustls::Error::InvalidCertificate(_)) => {
            io::Error::other(format!("the node's certificate: {}", gambeson_rustls::explain(tls)))
        }
        Some(tls) => {
            io::Error::new(error.kind(), format!("TLS with the node: {}", gambeson_rustls::explain(tls)))
        }
        None => error,
    }
}

/// Words for an error that is borrowed.
fn in_words(error: &io::Error) -> String {
    match tls_of(error) {
        Some(tls) => format!("TLS with the node: {}", gambeson_rustls::explain(tls)),
        None => error.to_string(),
    }
}

fn tls_of(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}

/// Connects to the first of a host's addresses that answers.
async fn dial(host: &str, port: u16) -> io::Result<TcpStream> {
    let addresses: Vec<_> = lookup_host((host, port)).await?.collect();
    let Some((last, others)) = addresses.split_last() else {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the host has no address"));
    };
    for address in others {
        if let Ok(Ok(stream)) = timeout(ONE_ADDRESS, TcpStream::connect(*address)).await {
            return Ok(stream);
        }
    }
    TcpStream::connect(*last).await
}

trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

/// A connection that fails as soon as the other end of `closed` is gone. HTTP/2 would wait for a node that reads nothing.
struct Connection {
    io: Box<dyn Io>,
    closed: oneshot::Receiver<()>,
    /// `closed` has been ready: it must not be polled again.
    is_closed: bool,
    lost: Arc<OnceLock<String>>,
}

impl Connection {
    /// Fails once the session is closed, and wakes the task then.
    fn check(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        self.is_closed = self.is_closed || Pin::new(&mut self.closed).poll(cx).is_ready();
        if self.is_closed { Err(io::ErrorKind::ConnectionAborted.into()) } else { Ok(()) }
    }

    /// Notes why a write failed. A node that closes the connection may have said why before: its alert of TLS is still to be read.
    fn written<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if let Poll::Ready(Err(error)) = &written
            && self.lost.get().is_none()
        {
            let mut bytes = [0; 4096];
            let reason = (0..READS_FOR_A_REASON).find_map(|_| {
                let mut buffer = ReadBuf::new(&mut bytes);
                match Pin::new(&mut self.io).poll_read(cx, &mut buffer) {
                    Poll::Ready(Ok(())) if !buffer.filled().is_empty() => None,
                    Poll::Ready(Err(said)) => Some(in_words(&said)),
                    _ => Some(in_words(error)),
                }
            });
            let _ = self.lost.set(reason.unwrap_or_else(|| in_words(error)));
        }
        written
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(cx)?;
        let read = Pin::new(&mut self.io).poll_read(cx, buffer);
        // HTTP/2 does not pass the reason on, such as an alert of TLS.
        if let Poll::Ready(Err(error)) = &read {
            let _ = self.lost.set(in_words(error));
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        // HTTP/2 does not read while the answer to a ping waits to be written.
        self.check(cx)?;
        let written = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.written(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check(cx)?;
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, bytes);
        self.written(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check(cx)?;
        let written = Pin::new(&mut self.io).poll_flush(cx);
        self.written(cx, written)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check(cx)?;
        let written = Pin::new(&mut self.io).poll_shutdown(cx);
        self.written(cx, written)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use tokio::io::AsyncWriteExt;

    use super::*;

    /// A connection whose node is gone: writes fail, and these reads are left.
    struct Gone(VecDeque<io::Result<&'static [u8]>>);

    impl AsyncRead for Gone {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            match self.0.pop_front() {
                Some(read) => Poll::Ready(read.map(|bytes| buffer.put_slice(bytes))),
                None => Poll::Pending,
            }
        }
    }

    impl AsyncWrite for Gone {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
            Poll::Ready(Err(io::Error::other("broken pipe")))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Err(io::Error::other("broken pipe")))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Err(io::Error::other("broken pipe")))
        }
    }

    #[tokio::test]
    async fn a_failed_write_is_explained_by_what_the_node_said_before() {
        let alert = || Err(io::Error::other("alert"));
        let endless = || (0..100).map(|_| Ok(&[0; 64][..])).collect::<VecDeque<_>>();
        for (reads, reason) in [
            (VecDeque::from([alert()]), "alert"),
            (VecDeque::from([Ok(&[1; 64][..]), alert()]), "alert"),
            (VecDeque::from([Ok(&[][..]), alert()]), "broken pipe"),
            (VecDeque::new(), "broken pipe"),
            (endless(), "broken pipe"),
        ] {
            for is_flushed in [false, true] {
                let (lost, (_close, closed)) = (Arc::<OnceLock<String>>::default(), oneshot::channel());
                let io = Box::new(Gone(reads.iter().map(copied).collect()));
                let mut connection = Connection { io, closed, is_closed: false, lost: Arc::clone(&lost) };
                let written =
                    if is_flushed { connection.flush().await } else { connection.write_all(b"ping").await };
                assert_eq!(written.unwrap_err().to_string(), "broken pipe");
                assert_eq!(lost.get().map(String::as_str), Some(reason));
            }
        }
    }

    fn copied(read: &io::Result<&'static [u8]>) -> io::Result<&'static [u8]> {
        read.as_ref().map(|bytes| *bytes).map_err(|error| io::Error::other(error.to_string()))
    }
}
