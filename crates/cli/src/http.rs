//! HTTP/1.1 of servers whose reads and writes wait: `hyper` reads requests and writes answers.

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::HOST;
use hyper::http::uri::Authority;
use hyper::rt::ReadBufCursor;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Version};
use std::cell::Cell;
use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read, Write};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// How much of a file is sent at a time, in bytes; with the head it fits into one TLS record.
const PART: usize = 15 << 10;

/// Content of an answer.
pub(crate) struct Content {
    source: Source,
    /// How many bytes of it are left.
    left: u64,
    /// How many bytes were given out.
    sent: Rc<Cell<u64>>,
}

enum Source {
    Bytes(Bytes),
    File(File),
}

impl Content {
    pub(crate) fn new(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self { left: bytes.len() as u64, source: Source::Bytes(bytes), sent: Rc::default() }
    }

    /// The first `length` bytes of a file.
    pub(crate) fn of_file(file: File, length: u64) -> Self {
        Self { left: length, source: Source::File(file), sent: Rc::default() }
    }

    /// Counts the bytes that are given out.
    pub(crate) fn count(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.sent)
    }

    fn next(&mut self) -> io::Result<Bytes> {
        let part = match &mut self.source {
            Source::Bytes(bytes) => std::mem::take(bytes),
            Source::File(file) => {
                let mut part = Vec::with_capacity(PART);
                file.take(self.left.min(PART as u64)).read_to_end(&mut part)?;
                if part.is_empty() {
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter"));
                }
                part.into()
            }
        };
        self.left -= part.len() as u64;
        self.sent.set(self.sent.get() + part.len() as u64);
        Ok(part)
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let content = self.get_mut();
        Poll::Ready((content.left != 0).then(|| content.next().map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// How a conversation ended without an answer of ours.
pub(crate) enum Failure {
    /// What came is no request; the status is that with which `hyper` has answered, if it did.
    NoRequest(Option<StatusCode>),
    /// The stream failed.
    Stream(io::Error),
}

/// Returns what is wrong with the head of a message, in plain words.
pub(crate) fn told(error: httparse::Error) -> String {
    use httparse::Error;
    let told = match error {
        Error::HeaderName => {
            "the name of a field is missing, or has a space or another character that names have not"
        }
        Error::HeaderValue => "the value of a field has a control character",
        Error::NewLine => "a line does not end with CR LF",
        Error::Status => "its status is not three digits",
        Error::Token => "its first line has a character that is not allowed there",
        Error::TooManyHeaders => "it has too many fields",
        Error::Version => "it does not begin with HTTP/1.1 or HTTP/1.0",
    };
    told.to_owned()
}

/// Returns true for a request with one `Host`, which names a host, or none in HTTP/1.0 (RFC 9112, section 3.2).
fn is_for_one_host<B>(request: &Request<B>) -> bool {
    let mut hosts = request.headers().get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) => request.version() < Version::HTTP_11,
        (Some(_), Some(_)) => false,
        (Some(host), None) => host.is_empty() || host.to_str().is_ok_and(is_host),
    }
}

/// Returns true for a host with or without a port, and without a user.
fn is_host(text: &str) -> bool {
    let Ok(authority) = text.parse::<Authority>() else { return false };
    let port = text.strip_prefix(authority.host()).and_then(|rest| rest.strip_prefix(':'));
    let is_port = |port: &str| {
        port.bytes().all(|byte| byte.is_ascii_digit()) && (port.is_empty() || port.parse::<u16>().is_ok())
    };
    !text.contains('@') && port.is_none_or(is_port)
}

/// Answers one request, whose head has at most `max_head` bytes (8 KiB at least), and no second one. A request that does not say for which host
/// it is gets the status 400.
pub(crate) fn converse<A: Future<Output = Response<Content>>>(
    stream: impl Read + Write + Unpin,
    max_head: usize,
    answer: impl Fn(Request<Incoming>) -> A,
) -> Result<(), Failure> {
    let mut stream = Waiting { stream, failed: None, answered: false };
    let refused = Cell::new(false);
    let service = service_fn(|request| {
        let answer = is_for_one_host(&request).then(|| answer(request));
        refused.set(answer.is_none());
        async {
            Ok::<_, Infallible>(match answer {
                Some(answer) => answer.await,
                None => bad_request(),
            })
        }
    });
    // Without half of the connection closed, `hyper` would wait, before it answers, whether the client goes away.
    let connection = Builder::new()
        .keep_alive(false)
        .half_close(true)
        .max_buf_size(max_head)
        .serve_connection(&mut stream, service);
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(Failure::Stream)?;
    match (runtime.block_on(connection), stream.failed) {
        (Ok(()), _) if refused.get() => Err(Failure::NoRequest(Some(StatusCode::BAD_REQUEST))),
        (Ok(()), _) => Ok(()),
        (Err(_), Some(error)) => Err(Failure::Stream(error)),
        (Err(error), None) if error.is_parse() => {
            let status = match error.is_parse_too_large() {
                true => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                false => StatusCode::BAD_REQUEST,
            };
            Err(Failure::NoRequest(stream.answered.then_some(status)))
        }
        (Err(error), None) => Err(Failure::Stream(io::Error::other(error))),
    }
}

fn bad_request() -> Response<Content> {
    let mut answer = Response::new(Content::new(""));
    *answer.status_mut() = StatusCode::BAD_REQUEST;
    answer
}

/// A stream whose reads and writes wait, for `hyper`: nothing of it is ever pending.
struct Waiting<S> {
    stream: S,
    /// Why it failed, whole; `hyper` gets the kind.
    failed: Option<io::Error>,
    /// Something was written.
    answered: bool,
}

impl<S> Waiting<S> {
    fn ready<T>(&mut self, result: io::Result<T>) -> Poll<io::Result<T>> {
        Poll::Ready(result.map_err(|error| {
            let kind = error.kind();
            self.failed = Some(error);
            kind.into()
        }))
    }
}

impl<S: Read + Unpin> hyper::rt::Read for Waiting<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        mut room: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let mut part = [0; 4096];
        let length = room.remaining().min(part.len());
        let read = self.stream.read(&mut part[..length]);
        self.ready(read.map(|length| room.put_slice(&part[..length])))
    }
}

impl<S: Write + Unpin> hyper::rt::Write for Waiting<S> {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.answered = true;
        let written = self.stream.write(bytes);
        self.ready(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = self.stream.flush();
        self.ready(flushed)
    }

    /// The stream is closed by who has it.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}
