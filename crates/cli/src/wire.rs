//! A connection with time limits.

use crate::error::cut;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A socket that counts, and is patient only for so long.
pub(crate) struct Wire {
    socket: TcpStream,
    /// For how long it may be silent.
    patience: Duration,
    /// When what is going on must be over, however busy it is.
    until: Option<Instant>,
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

impl Wire {
    pub(crate) fn new(socket: TcpStream, patience: Duration) -> io::Result<Self> {
        socket.set_read_timeout(Some(patience))?;
        socket.set_write_timeout(Some(patience))?;
        socket.set_nodelay(true)?;
        Ok(Self { socket, patience, until: None, sent: 0, received: 0 })
    }

    /// Sets when what comes next must be over; `None` for no such time.
    pub(crate) fn hurry(&mut self, until: Option<Instant>) -> io::Result<()> {
        self.until = until;
        self.socket.set_read_timeout(Some(self.patience))?;
        self.socket.set_write_timeout(Some(self.patience))
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        let Some(until) = self.until else { return Ok(None) };
        match until.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(too_slow()),
            left => Ok(Some(left.min(self.patience))),
        }
    }

    /// A time limit of a socket comes as "would block".
    fn patient(&self, error: io::Error) -> io::Error {
        let limit = matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
        match self.until {
            // Sockets round their limits.
            Some(until) if limit && Instant::now() + Duration::from_millis(10) >= until => too_slow(),
            _ if limit => io::Error::new(io::ErrorKind::TimedOut, "the other side was silent for too long"),
            _ => cut(error),
        }
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(left) = self.left()? {
            self.socket.set_read_timeout(Some(left))?;
        }
        let length = self.socket.read(buffer).map_err(|error| self.patient(error))?;
        self.received += length as u64;
        Ok(length)
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(left) = self.left()? {
            self.socket.set_write_timeout(Some(left))?;
        }
        let length = self.socket.write(bytes).map_err(|error| self.patient(error))?;
        self.sent += length as u64;
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

fn too_slow() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "the other side was too slow")
}
