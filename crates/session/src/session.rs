//! A session, from the first byte to the last. Sockets belong to the caller.

use std::fmt;
use std::io::{self, BufRead, ErrorKind, Read, Write};
use std::sync::Arc;

use gambeson_identity::Timestamp;
use gambeson_rustls::rustls::Connection;

use crate::ALPN;
use crate::error::{Error, Result};
use crate::hearing::{Heard, Hearing};
use crate::message::Message;
use crate::peer::{Peer, Terms};

/// What TLS keeps that could not be sent yet, in bytes, once applications speak.
const BUFFER: usize = 64 << 10;

/// One end of a session.
///
/// The caller carries bytes: what [`write_tls`](Self::write_tls) writes goes to the other side, what comes from there goes into
/// [`read_tls`](Self::read_tls), and after that [`process`](Self::process) looks at it. When [`peer`](Self::peer) tells who is there,
/// applications may speak.
pub struct Session {
    tls: Connection,
    /// The first message, until it was said.
    introduction: Option<Arc<[u8]>>,
    hearing: Hearing,
    ended: bool,
    /// Whether nobody is taken any more.
    declined: bool,
    /// Whether goodbye was said here.
    closed: bool,
    failure: Option<Error>,
}

impl Session {
    pub(crate) fn new(tls: Connection, introduction: Arc<[u8]>, terms: Terms) -> Self {
        Self {
            tls,
            introduction: Some(introduction),
            hearing: Hearing::new(terms),
            ended: false,
            declined: false,
            closed: false,
            failure: None,
        }
    }

    /// Who is at the other end, once both sides have taken each other.
    #[must_use]
    pub fn peer(&self) -> Option<&Peer> {
        self.hearing.peer.as_ref().filter(|_| self.hearing.agreed && self.failure.is_none())
    }

    /// Takes bytes that came from the other side; returns how many, 0 at their end. [`process`](Self::process) looks at them.
    ///
    /// # Errors
    /// Those of `from`; [`ErrorKind::Other`] while decrypted bytes wait to be received.
    pub fn read_tls(&mut self, from: &mut dyn Read) -> io::Result<usize> {
        let count = self.tls.read_tls(from)?;
        self.ended |= count == 0;
        Ok(count)
    }

    /// Writes bytes for the other side; returns how many. After an error of [`process`](Self::process) it writes what tells the
    /// other side.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn write_tls(&mut self, to: &mut dyn Write) -> io::Result<usize> {
        self.tls.write_tls(to)
    }

    /// Whether there are bytes for the other side.
    #[must_use]
    pub fn wants_write(&self) -> bool {
        self.tls.wants_write()
    }

    /// Whether bytes from the other side can be taken now.
    #[must_use]
    pub fn wants_read(&self) -> bool {
        self.tls.wants_read()
    }

    /// Looks at what came. `now` is when the cards must be valid.
    ///
    /// # Errors
    /// Why there is no session; again and again, once it failed.
    pub fn process(&mut self, now: Timestamp) -> Result<()> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let outcome = self.advance(now);
        if let Err(error) = &outcome {
            self.failure = Some(error.clone());
            self.hearing.inbox = Vec::new();
            let told = !matches!(error, Error::Tls(_) | Error::RefusedByPeer(_) | Error::ClosedEarly);
            if told && self.introduction.is_none() {
                // The other side may be gone: then nobody reads this.
                let _ = self.say(&Message::Refused(error.code()).encode());
            }
            self.tls.send_close_notify();
        }
        outcome
    }

    fn advance(&mut self, now: Timestamp) -> Result<()> {
        self.tls.process_new_packets()?;
        if self.tls.is_handshaking() {
            return if self.ended { Err(Error::ClosedEarly) } else { Ok(()) };
        }
        if self.tls.alpn_protocol() != Some(ALPN) {
            return Err(Error::NotGambeson);
        }
        if let Some(introduction) = self.introduction.take() {
            // Cards may be longer than what TLS buffers.
            self.tls.set_buffer_limit(None);
            self.say(&introduction)?;
        }
        if self.hearing.agreed {
            return Ok(());
        }
        if self.declined && self.hearing.peer.is_none() {
            return Err(Error::Busy);
        }
        let open = self.drain()?;
        while !self.hearing.agreed {
            // The raw public key of the other side, as it proved it.
            let key = self.tls.peer_certificates().and_then(<[_]>::first).map(AsRef::as_ref);
            match self.hearing.next(key, now)? {
                Some(Heard::Taken) => self.say(&Message::Ready.encode())?,
                Some(Heard::Agreed) => {}
                None => break,
            }
        }
        if self.hearing.agreed {
            self.tls.set_buffer_limit(Some(BUFFER))
        }
        if open || self.hearing.agreed { Ok(()) } else { Err(Error::ClosedEarly) }
    }

    fn say(&mut self, message: &[u8]) -> Result<()> {
        self.tls.writer().write_all(message).map_err(|_| Error::ClosedEarly)
    }

    /// Moves what is decrypted into the inbox; whether more can come.
    fn drain(&mut self) -> Result<bool> {
        loop {
            let mut reader = self.tls.reader();
            let count = match reader.fill_buf() {
                Ok([]) => return Ok(false),
                Ok(piece) => {
                    self.hearing.inbox.extend_from_slice(piece);
                    piece.len()
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(!self.ended),
                Err(_) => return Ok(false),
            };
            reader.consume(count);
        }
    }

    /// Takes nobody any more: the next [`process`](Self::process) after the handshake fails ([`Error::Busy`]), and the other side is
    /// told so. A session in which this side has already taken the other one is not changed.
    pub fn decline(&mut self) {
        self.declined = true;
    }

    /// Sends bytes of the application; returns how many were taken, which may be none until [`write_tls`](Self::write_tls) has
    /// written what waits.
    ///
    /// # Errors
    /// [`Error::NotEstablished`]; [`Error::Closed`] after [`close`](Self::close); after a failure, that one.
    pub fn send(&mut self, bytes: &[u8]) -> Result<usize> {
        self.established()?;
        if self.closed {
            return Err(Error::Closed);
        }
        self.tls.writer().write(bytes).map_err(|_| Error::Truncated)
    }

    /// Receives bytes of the application into `bytes`; returns how many: `None` when there are none yet, or no room for any, 0 when the
    /// other side has said goodbye.
    ///
    /// # Errors
    /// [`Error::NotEstablished`]; [`Error::Truncated`] when the connection ended without a goodbye; after a failure, that one.
    pub fn receive(&mut self, bytes: &mut [u8]) -> Result<Option<usize>> {
        self.established()?;
        if bytes.is_empty() {
            return Ok(None);
        }
        if !self.hearing.inbox.is_empty() {
            let count = bytes.len().min(self.hearing.inbox.len());
            bytes[..count].copy_from_slice(&self.hearing.inbox[..count]);
            self.hearing.inbox.drain(..count);
            return Ok(Some(count));
        }
        match self.tls.reader().read(bytes) {
            Ok(count) => Ok(Some(count)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(_) => Err(Error::Truncated),
        }
    }

    /// Says goodbye: nothing is sent after what was sent. The other side may still send.
    pub fn close(&mut self) {
        self.closed = true;
        self.tls.send_close_notify();
    }

    /// Bytes that both sides have and nobody else, the same for the same label and context (RFC 8446, §7.5).
    ///
    /// # Errors
    /// [`Error::NotEstablished`]; [`Error::Tls`] for an output that is too long.
    pub fn export(&self, label: &[u8], context: &[u8], output: &mut [u8]) -> Result<()> {
        self.established()?;
        self.tls.export_keying_material(output, label, Some(context))?;
        Ok(())
    }

    /// The channel binding `tls-exporter` (RFC 9266): what is signed or sent with it holds in this session alone.
    ///
    /// # Errors
    /// [`Error::NotEstablished`].
    pub fn channel_binding(&self) -> Result<[u8; 32]> {
        let mut binding = [0; 32];
        self.export(b"EXPORTER-Channel-Binding", b"", &mut binding)?;
        Ok(binding)
    }

    fn established(&self) -> Result<()> {
        match &self.failure {
            Some(failure) => Err(failure.clone()),
            None if self.hearing.agreed => Ok(()),
            None => Err(Error::NotEstablished),
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("peer", &self.peer().map(Peer::did)).finish_non_exhaustive()
    }
}
