//! Answers from memory, for fuzzing.

use super::{Client, Failure, settings};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
};

/// Returns the body, of at most `max_len` bytes, that a client reads from a server that sends these bytes and closes, or the kind of failure.
pub(crate) fn answer(bytes: &[u8], max_len: u64) -> Result<Vec<u8>, &'static str> {
    let agent = ureq::Agent::with_parts(settings(None), Sent(bytes.into()), Nowhere);
    let client = Client { agent, met: Arc::default(), unread: Arc::default() };
    let answer = client.get("https://localhost/", max_len);
    answer.map(|answer| answer.body).map_err(|failure| match failure {
        Failure::Stream(_) => "stream",
        Failure::Cut => "truncated",
        Failure::NotHttp(_) => "not-http",
        Failure::Coded(_) => "content-coding",
        Failure::TooLarge => "too-large",
        Failure::Other(_) => "other",
    })
}

/// Bytes of a server.
#[derive(Debug)]
struct Sent(Arc<[u8]>);

impl Connector for Sent {
    type Out = Stream;

    fn connect(&self, details: &ConnectionDetails<'_>, _: Option<()>) -> Result<Option<Stream>, ureq::Error> {
        let (input, output) = (details.config.input_buffer_size(), details.config.output_buffer_size());
        Ok(Some(Stream { buffers: LazyBuffers::new(input, output), bytes: Arc::clone(&self.0), read: 0 }))
    }
}

struct Stream {
    buffers: LazyBuffers,
    bytes: Arc<[u8]>,
    read: usize,
}

impl Transport for Stream {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, _: usize, _: NextTimeout) -> Result<(), ureq::Error> {
        Ok(())
    }

    fn await_input(&mut self, _: NextTimeout) -> Result<bool, ureq::Error> {
        let room = self.buffers.input_append_buf();
        // In pieces, so that each state is left and entered again.
        let length = room.len().min(self.bytes.len() - self.read).min(97);
        room[..length].copy_from_slice(&self.bytes[self.read..self.read + length]);
        self.read += length;
        self.buffers.input_appended(length);
        Ok(length > 0)
    }

    fn is_open(&mut self) -> bool {
        false
    }

    fn is_tls(&self) -> bool {
        true
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stream")
    }
}

/// Finds an address, which nobody connects to.
#[derive(Debug)]
struct Nowhere;

impl Resolver for Nowhere {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut addresses = self.empty();
        addresses.push(SocketAddr::from((Ipv4Addr::LOCALHOST, 443)));
        Ok(addresses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWERS: [&str; 5] = [
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nbo\r\n2\r\ndy\r\n0\r\nX: y\r\n\r\n",
        "HTTP/1.0 200 OK\r\n\r\nbody",
        "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",
        "HTTP/1.1 302 Found\r\nLocation: https://a/\r\nContent-Length: 4\r\n\r\nbody",
    ];

    #[test]
    fn changed_and_cut_answers_are_read_or_refused() {
        let mut refused = 0;
        for whole in ANSWERS {
            assert_eq!(answer(whole.as_bytes(), 4), Ok(b"body".to_vec()), "{whole}");
            assert_eq!(answer(whole.as_bytes(), 3), Err("too-large"), "{whole}");
            for at in 0..whole.len() {
                refused += usize::from(answer(&whole.as_bytes()[..at], 64).is_err());
                for byte in [0, b'\r', b'\n', b' ', b',', b':', b'0', b'9', b'f', b'~', 0x80, 0xff] {
                    let mut changed = whole.as_bytes().to_vec();
                    changed[at] = byte;
                    refused += usize::from(answer(&changed, 64).is_err());
                }
            }
        }
        assert!(refused > 1000, "{refused}");
    }
}
