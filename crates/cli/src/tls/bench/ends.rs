//! Two ends in memory, and who is charged for what.

use std::io::{Read, Write};

use rustls::Connection;

use super::{Failure, now, since};

/// What the client says after the handshake in rows that have a message, as in the publication.
pub(super) const MESSAGE: &[u8; 15] = b"fifteen bytes..";

/// After so many turns of both, an end that is not ready never will be.
const TURNS: usize = 10;

/// Microseconds and bytes of one handshake, of one side or direction each.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Of the client, from nothing to the end of its handshake.
    pub client_us: f64,
    /// Of the server.
    pub server_us: f64,
    /// What the message after the handshake adds.
    pub client_message_us: f64,
    /// The same of the server.
    pub server_message_us: f64,
    /// From the client to the server, without the message.
    pub bytes_up: usize,
    /// From the server to the client.
    pub bytes_down: usize,
}

/// One end of a connection.
pub trait End {
    /// Takes what the other side said, and appends what there is to say.
    ///
    /// # Errors
    /// The handshake failed.
    fn advance(&mut self, heard: &[u8], said: &mut Vec<u8>) -> Result<(), Failure>;

    /// Whether applications may speak.
    fn is_ready(&self) -> bool;

    /// Gives it a message for the other side, which the next [`advance`](Self::advance) says.
    ///
    /// # Errors
    /// It was not taken.
    fn send(&mut self, message: &[u8]) -> Result<(), Failure>;

    /// Takes a message of this length out of it.
    ///
    /// # Errors
    /// There is none.
    fn receive(&mut self, message: &mut [u8]) -> Result<(), Failure>;
}

/// What was said last each way; kept from one handshake to the next, so that the measured ones find their memory there.
#[derive(Debug, Default)]
pub struct Wires {
    up: Vec<u8>,
    down: Vec<u8>,
}

/// One handshake and a message: what each side took, from making its end on.
///
/// # Errors
/// The handshake failed or stalled, or the message was lost.
pub fn meet<C: End, S: End>(
    Wires { up, down }: &mut Wires,
    client: impl FnOnce() -> Result<C, Failure>,
    server: impl FnOnce() -> Result<S, Failure>,
) -> Result<Cost, Failure> {
    let mut cost = Cost::default();
    let mut client = charged(&mut cost.client_us, client)?;
    let mut server = charged(&mut cost.server_us, server)?;
    down.clear();
    for turn in 0.. {
        up.clear();
        charged(&mut cost.client_us, || client.advance(down, up))?;
        down.clear();
        charged(&mut cost.server_us, || server.advance(up, down))?;
        cost.bytes_up += up.len();
        cost.bytes_down += down.len();
        if client.is_ready() && server.is_ready() && down.is_empty() {
            break;
        }
        if turn == TURNS {
            return Err("the handshake does not complete".into());
        }
    }
    up.clear();
    charged(&mut cost.client_message_us, || {
        client.send(MESSAGE)?;
        client.advance(&[], up)
    })?;
    let mut message = [0; MESSAGE.len()];
    charged(&mut cost.server_message_us, || {
        server.advance(up, down)?;
        server.receive(&mut message)
    })?;
    if &message == MESSAGE { Ok(cost) } else { Err("the message came out changed".into()) }
}

fn charged<T>(us: &mut f64, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let start = now();
    let done = work();
    *us += since(start);
    done
}

impl End for Connection {
    fn advance(&mut self, mut heard: &[u8], said: &mut Vec<u8>) -> Result<(), Failure> {
        while !heard.is_empty() {
            self.read_tls(&mut heard)?;
            self.process_new_packets()?;
        }
        while self.wants_write() {
            self.write_tls(said)?;
        }
        Ok(())
    }

    fn is_ready(&self) -> bool {
        !self.is_handshaking()
    }

    fn send(&mut self, message: &[u8]) -> Result<(), Failure> {
        Ok(self.writer().write_all(message)?)
    }

    fn receive(&mut self, message: &mut [u8]) -> Result<(), Failure> {
        Ok(self.reader().read_exact(message)?)
    }
}
