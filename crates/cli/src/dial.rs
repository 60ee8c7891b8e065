//! Connections to others.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Connects to the first of these addresses that answers, each within `patience`, and all of them before `until`.
pub(crate) fn dial(
    addresses: impl IntoIterator<Item = SocketAddr>,
    patience: Duration,
    until: Option<Instant>,
) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in addresses {
        let left =
            until.map_or(patience, |until| until.saturating_duration_since(Instant::now()).min(patience));
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match TcpStream::connect_timeout(&address, left) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}
