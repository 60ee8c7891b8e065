//! Connections to others.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The first of these addresses that answers, each within that time.
pub(crate) fn dial(
    addresses: impl IntoIterator<Item = SocketAddr>,
    patience: Duration,
) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name stands for no address");
    for address in addresses {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}
