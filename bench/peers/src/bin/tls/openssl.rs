//! OpenSSL of the system, with what it has of our rows: Ed448 with X448, ECDSA with X25519.

use std::io::{self, ErrorKind, Read, Write};
use std::mem;

use gambeson_cli::tls_bench::{Chain, Cost, End, Failure, Handshake, Stack, Subject, Wires, meet};
use openssl::pkey::PKey;
use openssl::ssl::{
    ErrorCode, Ssl, SslContext, SslContextBuilder, SslMethod, SslStream, SslVerifyMode, SslVersion,
};
use openssl::x509::X509;

/// The library under its own name and version.
pub fn stack() -> Option<Stack> {
    let version = openssl::version::version();
    let short = version.match_indices(' ').nth(1).map_or(version, |(at, _)| &version[..at]);
    Some(Stack { name: short, handshake })
}

fn handshake(subject: &Subject, chain: &Chain, verify: bool) -> Result<Option<Handshake>, Failure> {
    let (group, suite) = match subject.name {
        "classical-448" => ("X448", "TLS_AES_256_GCM_SHA384"),
        "ecdsa-x25519" => ("X25519", "TLS_AES_128_GCM_SHA256"),
        _ => return Ok(None),
    };
    let context = || -> Result<SslContextBuilder, Failure> {
        let mut context = SslContext::builder(SslMethod::tls())?;
        context.set_min_proto_version(Some(SslVersion::TLS1_3))?;
        context.set_groups_list(group)?;
        context.set_ciphersuites(suite)?;
        Ok(context)
    };
    let mut server = context()?;
    let (own, more) = chain.sent.split_first().ok_or("a chain has certificates")?;
    let own = X509::from_der(own)?;
    server.set_certificate(&own)?;
    for certificate in more {
        server.add_extra_chain_cert(X509::from_der(certificate)?)?;
    }
    let key = PKey::private_key_from_pkcs8(&chain.key)?;
    server.set_private_key(&key)?;
    server.set_num_tickets(0)?;
    let mut client = context()?;
    if verify {
        client.set_verify(SslVerifyMode::PEER);
        client.cert_store_mut().add_cert(X509::from_der(&chain.root)?)?;
    } else {
        // Without a root OpenSSL finds no chain, verifies no certificate and, in this mode, does not mind.
        client.set_verify(SslVerifyMode::NONE);
    }
    let (client, server) = (client.build(), server.build());
    let mut wires = Wires::default();
    Ok(Some(Box::new(move || -> Result<Cost, Failure> {
        meet(
            &mut wires,
            || {
                let mut ssl = Ssl::new(&client)?;
                ssl.set_hostname(Chain::NAME)?;
                ssl.param_mut().set_host(Chain::NAME)?;
                ssl.set_connect_state();
                Speaker::new(ssl)
            },
            || {
                let mut ssl = Ssl::new(&server)?;
                ssl.set_accept_state();
                Speaker::new(ssl)
            },
        )
    })))
}

struct Speaker {
    stream: SslStream<Memory>,
    ready: bool,
}

impl Speaker {
    fn new(ssl: Ssl) -> Result<Self, Failure> {
        Ok(Self { stream: SslStream::new(ssl, Memory::default())?, ready: false })
    }
}

impl End for Speaker {
    fn advance(&mut self, heard: &[u8], said: &mut Vec<u8>) -> Result<(), Failure> {
        self.stream.get_mut().heard(heard);
        if !self.ready {
            match self.stream.do_handshake() {
                Ok(()) => self.ready = true,
                Err(error) if error.code() == ErrorCode::WANT_READ => {}
                Err(error) => return Err(error.into()),
            }
        }
        said.append(&mut self.stream.get_mut().said);
        Ok(())
    }

    fn is_ready(&self) -> bool {
        self.ready
    }

    fn send(&mut self, message: &[u8]) -> Result<(), Failure> {
        Ok(self.stream.write_all(message)?)
    }

    fn receive(&mut self, message: &mut [u8]) -> Result<(), Failure> {
        Ok(self.stream.read_exact(message)?)
    }
}

/// What came and was not read yet, and what is to be sent.
#[derive(Default)]
struct Memory {
    heard: Vec<u8>,
    read: usize,
    said: Vec<u8>,
}

impl Memory {
    fn heard(&mut self, bytes: &[u8]) {
        let rest = mem::take(&mut self.read);
        self.heard.drain(..rest);
        self.heard.extend_from_slice(bytes);
    }
}

impl Read for Memory {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let waiting = &self.heard[self.read..];
        if waiting.is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        let count = waiting.len().min(buffer.len());
        buffer[..count].copy_from_slice(&waiting[..count]);
        self.read += count;
        Ok(count)
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.said.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
