//! One connection: a handshake, what the test expects of it, and bytes that go back inverted.

use crate::credentials::{Shared, note};
use crate::options::{Exported, Options};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{Connection, HandshakeKind, NamedGroup, ProtocolVersion, SignatureScheme};
use sha2::{Digest, Sha256};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

pub fn run(connection: Connection, options: &Options, seen: &Shared) -> Result<(), String> {
    let address: SocketAddr = match options.ipv6 {
        true => (Ipv6Addr::LOCALHOST, options.port).into(),
        false => (Ipv4Addr::LOCALHOST, options.port).into(),
    };
    let socket = TcpStream::connect(address).map_err(|error| error.to_string())?;
    let words = options.first_words.as_deref().unwrap_or("hello");
    let first_words = words.repeat(options.repeated.unwrap_or(1)).into_bytes();
    let mut exchange =
        Exchange { connection, socket, options, seen, first_words, early: 0, had_early_data: false };
    exchange.socket.set_nodelay(true).map_err(|error| error.to_string())?;
    exchange.socket.write_all(&options.shim_id.to_le_bytes()).map_err(|error| error.to_string())?;
    let done = exchange.all();
    if done.is_err() {
        exchange.part();
    }
    done
}

struct Exchange<'a> {
    connection: Connection,
    socket: TcpStream,
    options: &'a Options,
    seen: &'a Shared,
    /// What this side says first.
    first_words: Vec<u8>,
    /// How much of it was written before the handshake was over, and taken.
    early: usize,
    /// Whether a client's early data was read.
    had_early_data: bool,
}

impl Exchange<'_> {
    fn all(&mut self) -> Result<(), String> {
        self.write_early()?;
        while self.connection.is_handshaking() {
            self.flush()?;
            if self.connection.is_handshaking() && !self.receive()? {
                return Err("the connection ended in the handshake".into());
            }
            self.read_early()?;
        }
        self.flush()?;
        self.judge()?;
        if let Some(exported) = &self.options.exported {
            let bytes = self.export(exported)?;
            self.write(&bytes)?;
        }
        if self.options.writes_first {
            let rest = self.first_words.split_off(self.early);
            self.write(&rest)?;
        }
        if self.options.shuts_down {
            self.connection.send_close_notify();
            self.flush()?;
        }
        self.echo()?;
        if self.options.check_close_notify && !self.closed()? {
            return Err("the other side ended without close_notify".into());
        }
        if !self.options.shuts_down {
            self.connection.send_close_notify();
            // Who has gone does not listen.
            let _ = self.flush();
        }
        Ok(())
    }

    /// A client that has a ticket for it speaks before the handshake.
    fn write_early(&mut self) -> Result<(), String> {
        let Connection::Client(client) = &mut self.connection else { return Ok(()) };
        if self.options.writes_first
            && let Some(mut writer) = client.early_data()
        {
            if self.options.expected.no_early_data {
                return Err("there is a ticket for early data".into());
            }
            let length = writer.write(&self.first_words).map_err(|error| error.to_string())?;
            self.early = length;
        }
        Ok(())
    }

    /// A server answers early data at once.
    fn read_early(&mut self) -> Result<(), String> {
        let Connection::Server(server) = &mut self.connection else { return Ok(()) };
        let mut bytes = Vec::new();
        if let Some(mut reader) = server.early_data() {
            self.had_early_data = true;
            reader.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        }
        match bytes.is_empty() {
            true => Ok(()),
            false => self.write(&inverted(&bytes)),
        }
    }

    /// Answers until the other side is done.
    fn echo(&mut self) -> Result<(), String> {
        let mut buffer = vec![0; self.options.read_size.unwrap_or(16 << 10)];
        loop {
            match self.connection.reader().read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(length) if !self.options.shuts_down => {
                    if self.options.key_update {
                        self.connection.refresh_traffic_keys().map_err(|error| error.to_string())?;
                    }
                    self.write(&inverted(&buffer[..length]))?;
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.flush()?;
                    self.receive()?;
                }
                // The end of the connection without a word of it.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.connection.writer().write_all(bytes).map_err(|error| error.to_string())?;
        self.flush()
    }

    fn flush(&mut self) -> Result<(), String> {
        while self.connection.wants_write() {
            self.connection.write_tls(&mut self.socket).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Reads what came; false at the end of the connection.
    fn receive(&mut self) -> Result<bool, String> {
        let length = match self.connection.read_tls(&mut self.socket) {
            Err(error) if error.kind() == ErrorKind::ConnectionReset => 0,
            other => other.map_err(|error: io::Error| error.to_string())?,
        };
        self.connection.process_new_packets().map_err(|error| format!("{error:?}"))?;
        Ok(length != 0)
    }

    fn closed(&mut self) -> Result<bool, String> {
        self.connection
            .process_new_packets()
            .map(|state| state.peer_has_closed())
            .map_err(|error| error.to_string())
    }

    fn export(&self, exported: &Exported) -> Result<Vec<u8>, String> {
        let context = exported.with_context.then_some(exported.context.as_bytes());
        let bytes = vec![0; exported.length];
        self.connection
            .export_keying_material(bytes, exported.label.as_bytes(), context)
            .map_err(|it| it.to_string())
    }

    /// Sends what is to be sent, and lets the other side read it: a socket that is closed with bytes unread takes its own back.
    fn part(&mut self) {
        let _ = self.flush();
        let _ = self.socket.shutdown(Shutdown::Write);
        let _ = self.socket.set_read_timeout(Some(Duration::from_secs(1)));
        let _ = io::copy(&mut self.socket, &mut io::sink());
    }

    /// Compares the handshake with what the test expects.
    fn judge(&mut self) -> Result<(), String> {
        let expected = &self.options.expected;
        let kind = self.connection.handshake_kind();
        let group = self.connection.negotiated_key_exchange_group().map(|group| group.name());
        let accepted = match &self.connection {
            Connection::Client(client) => client.is_early_data_accepted(),
            Connection::Server(_) => self.had_early_data,
        };
        if !accepted {
            self.early = 0;
        }
        let mut notes = None;
        note(self.seen, |seen| notes = Some(std::mem::take(seen)));
        let seen = notes.unwrap_or_default();
        let resumed = kind.is_some_and(|kind| {
            !matches!(kind, HandshakeKind::Full | HandshakeKind::FullWithHelloRetryRequest)
        });
        let retried = kind == Some(HandshakeKind::FullWithHelloRetryRequest);
        let number =
            seen.credential.map(|index| index as i64 - i64::from(self.options.has_default_credential));
        let mut wrong = Vec::new();
        let mut same = |what: &str, holds: bool, found: &dyn std::fmt::Debug| {
            if !holds {
                wrong.push(format!("{what}: {found:?}"));
            }
        };
        let version = self.connection.protocol_version();
        same(
            "version",
            expected.version.is_none_or(|it| version == Some(ProtocolVersion::from(it))),
            &version,
        );
        let protocol = self.connection.alpn_protocol().map(<[u8]>::to_vec);
        let asked = expected.protocol.clone().filter(|it| !it.is_empty());
        same("protocol", expected.protocol.is_none() || asked == protocol, &protocol);
        // A resumption without a new key exchange has none.
        same(
            "group",
            expected.group.is_none_or(|it| group == Some(NamedGroup::from(it)) || group.is_none()),
            &group,
        );
        same("retry", expected.retried.is_none_or(|it| it == retried || resumed), &kind);
        same("session", !(expected.full_handshake && resumed), &kind);
        same("early data", expected.early_data_accepted.is_none_or(|it| it == accepted), &accepted);
        let scheme = expected.peer_scheme.map(SignatureScheme::from);
        same("scheme", scheme.is_none() || resumed || scheme == seen.peer_scheme, &seen.peer_scheme);
        same(
            "credential",
            expected.credential.is_none()
                || resumed
                || number.unwrap_or(-1) == expected.credential.unwrap_or(-1),
            &number,
        );
        same(
            "server name",
            expected.server_name.is_none() || expected.server_name == seen.server_name,
            &seen.server_name,
        );
        same("OCSP", resumed || expected.ocsp.as_ref().is_none_or(|it| *it == seen.ocsp), &seen.ocsp);
        let asked = expected.authorities.is_none() || resumed || expected.authorities == seen.authorities;
        same("authorities", asked, &seen.authorities);
        same(
            "offered protocols",
            expected.offered.is_none() || expected.offered == seen.offered,
            &seen.offered,
        );
        if let Some(hash) = &expected.peer_key_hash {
            let key = self.connection.peer_certificates().and_then(|chain| chain.first());
            let holds = key.is_some_and(|key| Sha256::digest(key).as_slice() == hash);
            same("raw public key", holds, &key);
        }
        if let Some(path) = &expected.peer_chain {
            let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
            let chain = chain.map_err(|error| error.to_string())?;
            same("chain", self.connection.peer_certificates() == Some(&chain[..]), &"another");
        }
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(wrong.join("; ")),
        }
    }
}

fn inverted(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| !byte).collect()
}
