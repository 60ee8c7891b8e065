//! Counters for Prometheus, and the small server that gives them out.

use super::connection::{Facts, Side};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The longest head of a request, in bytes.
const MAX_REQUEST: usize = 8 << 10;
/// How many may ask at a time.
const READERS: usize = 16;
const PATIENCE: Duration = Duration::from_secs(5);

/// What is counted.
pub(super) struct Metrics {
    registry: Registry,
    pub connections: Gauge,
    pub limit: Gauge,
    pub accepted: Counter,
    pub expires: Gauge,
    pub untold: Counter,
    refused: Family<Refused, Counter>,
    ended: Family<Ended, Counter>,
    handshakes: Family<Handshake, Counter>,
    failures: Family<Failure, Counter>,
    seconds: Family<OfSide, Histogram>,
    reloads: Family<Reload, Counter>,
    up: Counter,
    down: Counter,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Refused {
    reason: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Ended {
    end: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Handshake {
    side: &'static str,
    group: String,
    scheme: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Failure {
    side: &'static str,
    reason: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfSide {
    side: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Reload {
    result: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Direction {
    direction: &'static str,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let mut registry = Registry::with_prefix("gambeson_tls_proxy");
        let (connections, limit, expires) = (Gauge::default(), Gauge::default(), Gauge::default());
        let (accepted, untold) = (Counter::default(), Counter::default());
        let (refused, ended, reloads) = (Family::default(), Family::default(), Family::default());
        let (handshakes, failures) = (Family::default(), Family::default());
        let bytes = Family::<Direction, Counter>::default();
        // From 0.1 ms, a handshake on a fast machine, to 10 s, the usual limit.
        let buckets = || {
            Histogram::new([1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 10.0])
        };
        let seconds = Family::<OfSide, Histogram>::new_with_constructor(buckets);
        registry.register("connections", "Open connections", connections.clone());
        registry.register("connections_limit", "Largest number of open connections", limit.clone());
        registry.register("accepted", "Accepted connections", accepted.clone());
        registry.register("refused", "Connections refused because all places were taken", refused.clone());
        registry.register("ended", "Ended connections, by their end", ended.clone());
        registry.register("handshakes", "Handshakes that succeeded", handshakes.clone());
        registry.register(
            "handshake_failures",
            "Handshakes that failed, by the check that failed",
            failures.clone(),
        );
        registry.register("handshake_duration_seconds", "Duration of handshakes", seconds.clone());
        registry.register("relayed_bytes", "Bytes to the server (up) and from it (down)", bytes.clone());
        registry.register("reloads", "Reloads of certificates", reloads.clone());
        let help = "Expiry of the certificate that clients see, in Unix time";
        registry.register("certificate_expiry_timestamp_seconds", help, expires.clone());
        registry.register(
            "access_log_lost_lines",
            "Lines lost because the access log was too slow",
            untold.clone(),
        );
        let bytes = |direction| bytes.get_or_create(&Direction { direction }).clone();
        let (up, down) = (bytes("up"), bytes("down"));
        Self {
            registry,
            connections,
            limit,
            accepted,
            expires,
            untold,
            refused,
            ended,
            handshakes,
            failures,
            seconds,
            reloads,
            up,
            down,
        }
    }

    pub(super) fn bytes(&self) -> (&Counter, &Counter) {
        (&self.up, &self.down)
    }

    pub(super) fn refused(&self, reason: &'static str) {
        self.refused.get_or_create(&Refused { reason }).inc();
    }

    pub(super) fn ended(&self, end: &'static str) {
        self.ended.get_or_create(&Ended { end }).inc();
    }

    pub(super) fn shaken(&self, side: Side, facts: &Facts, took: Duration) {
        let side = side.name();
        let handshake = Handshake { side, group: facts.group_name(), scheme: facts.scheme_name() };
        self.handshakes.get_or_create(&handshake).inc();
        self.seconds.get_or_create(&OfSide { side }).observe(took.as_secs_f64());
    }

    pub(super) fn failed(&self, side: Side, reason: &'static str) {
        self.failures.get_or_create(&Failure { side: side.name(), reason }).inc();
    }

    pub(super) fn reloaded(&self, well: bool) {
        self.reloads.get_or_create(&Reload { result: if well { "ok" } else { "failed" } }).inc();
    }

    pub(super) fn expire(&self, at: SystemTime) {
        let seconds = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        self.expires.set(i64::try_from(seconds).unwrap_or(i64::MAX));
    }

    fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let status = match (request.method(), request.uri().path()) {
            (&Method::GET, "/metrics") => StatusCode::OK,
            (&Method::GET, _) => StatusCode::NOT_FOUND,
            _ => StatusCode::METHOD_NOT_ALLOWED,
        };
        let (media, body) = match status {
            StatusCode::OK => ("application/openmetrics-text; version=1.0.0; charset=utf-8", self.text()),
            other => ("text/plain", format!("{other}\n")),
        };
        let mut answer = Response::new(Full::from(body));
        *answer.status_mut() = status;
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
        answer
    }

    /// All of them, as Prometheus reads them.
    fn text(&self) -> String {
        let mut text = String::new();
        // Nothing fails that writes into memory.
        let _ = text::encode(&mut text, &self.registry);
        text
    }
}

/// Answers whoever asks for the counters.
pub(super) async fn serve(listener: TcpListener, metrics: Arc<Metrics>) {
    let places = Arc::new(Semaphore::new(READERS));
    loop {
        // Nobody closes the semaphore.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((socket, _)) = listener.accept().await else {
            // Out of descriptors: others may give some back.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let metrics = Arc::clone(&metrics);
        tokio::spawn(async move {
            // Whoever is slow or gone gets no answer.
            let _ = timeout(PATIENCE, converse(socket, &metrics)).await;
            drop(place);
        });
    }
}

async fn converse(socket: TcpStream, metrics: &Metrics) -> hyper::Result<()> {
    let service =
        service_fn(|request: Request<Incoming>| ready(Ok::<_, Infallible>(metrics.answer(&request))));
    let mut settings = Builder::new();
    settings.keep_alive(false).max_buf_size(MAX_REQUEST);
    settings.serve_connection(TokioIo::new(socket), service).await
}
