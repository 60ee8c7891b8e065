//! Programs that serve until they are told to end.

use super::{Folder, Outcome};
use gambeson_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject};
use gambeson_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use gambeson_rustls::rustls::sign::{CertifiedKey, SigningKey};
use gambeson_rustls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A server that ends with its test.
pub struct Server {
    pub child: Child,
    reports: BufReader<ChildStdout>,
    pub port: u16,
    /// The report that it listens.
    pub begun: Value,
}

/// A chain of that algorithm in `pki`, for localhost.
pub fn with_chain(algorithm: &str) -> Folder {
    let folder = Folder::new();
    folder.run(&format!("cert new --levels 3 --alg {algorithm} -o pki")).exits(0);
    folder
}

impl Server {
    /// `tls serve` with the chain in `pki`.
    pub fn start(folder: &Folder, more: &str) -> Self {
        Self::run(
            folder,
            &format!("tls serve --listen 127.0.0.1:0 --cert pki/server.pem --key pki/server.key {more}"),
        )
    }

    /// A command that serves, and tells in JSON where.
    pub fn run(folder: &Folder, line: &str) -> Self {
        let mut command = folder.command();
        command.args(line.split_whitespace());
        Self::spawn(command)
    }

    pub fn spawn(mut command: Command) -> Self {
        let mut child = command.arg("--json").stdout(Stdio::piped()).spawn().unwrap();
        let mut reports = BufReader::new(child.stdout.take().unwrap());
        let begun = next(&mut reports);
        let address = begun["address"].as_str().unwrap();
        let port = address.rsplit_once(':').unwrap().1.parse().unwrap();
        Self { child, reports, port, begun }
    }

    /// What it tells next.
    pub fn tells(&mut self) -> Value {
        next(&mut self.reports)
    }

    /// A client in this process.
    pub fn call(&self, folder: &Folder) -> StreamOwned<ClientConnection, TcpStream> {
        self.call_with(trusting(trust(folder)))
    }

    pub fn call_with(&self, config: ClientConfig) -> StreamOwned<ClientConnection, TcpStream> {
        let name = ServerName::try_from("localhost").unwrap();
        let client = ClientConnection::new(Arc::new(config), name).unwrap();
        StreamOwned::new(client, TcpStream::connect(("127.0.0.1", self.port)).unwrap())
    }

    pub fn get(&self, folder: &Folder, path: &str, more: &str) -> Outcome {
        folder.run(&format!("tls get https://localhost:{}{path} --ca pki/root.pem {more}", self.port))
    }

    #[cfg(unix)]
    pub fn signal(&self, signal: rustix::process::Signal) {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, signal).unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that was free just now.
pub fn free_port() -> u16 {
    // The system gives a port again as soon as its listener is gone: no two tests of a program that run at once get the same.
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    loop {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("it is bound").port();
        if GIVEN.lock().expect("nobody panics beside it").insert(port) {
            return port;
        }
    }
}

/// Serves so many connections with the chain in `pki`, each as `after` does.
pub fn serve_once(
    folder: &Folder,
    wrap: impl Fn(Arc<dyn SigningKey>) -> Arc<dyn SigningKey>,
    connections: usize,
    after: impl Fn(&mut StreamOwned<ServerConnection, TcpStream>) + Send + 'static,
) -> (u16, thread::JoinHandle<()>) {
    let chain = CertificateDer::pem_file_iter(folder.path("pki/server.pem")).unwrap();
    let chain = chain.collect::<Result<Vec<_>, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.path("pki/server.key")).unwrap();
    let provider = gambeson_rustls::provider().unwrap();
    let key = wrap(provider.key_provider.load_private_key(key).unwrap());
    let certified = Always(Arc::new(CertifiedKey::new(chain, key)));
    let config = ServerConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(certified));
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = thread::spawn(move || {
        for _ in 0..connections {
            let (socket, _) = listener.accept().unwrap();
            let mut stream = StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), socket);
            if stream.conn.complete_io(&mut stream.sock).is_ok() {
                after(&mut stream);
            } else {
                let _ = stream.conn.write_tls(&mut stream.sock);
            }
        }
    });
    (port, serving)
}

#[derive(Debug)]
struct Always(Arc<CertifiedKey>);

impl ResolvesServerCert for Always {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.clone())
    }
}

/// A process that ends with the test, so that one that fails leaves no port taken.
pub struct Ended(Child);

impl std::ops::Deref for Ended {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl std::ops::DerefMut for Ended {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            // SIGTERM: nginx ends its workers.
            let _ = Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status();
            let _ = self.0.wait();
        }
    }
}

/// nginx, run by `command`, with these servers of HTTP, one of which listens there. It ends with the test.
pub fn nginx(mut command: Command, folder: &Folder, servers: &str, address: SocketAddr) -> Ended {
    let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let temporary = kinds.map(|kind| format!("{kind}_temp_path {kind};")).concat();
    folder.write(
        "nginx.conf",
        format!(
            "daemon off; pid nginx.pid; error_log stderr; events {{ worker_connections 8192; }}
             http {{ access_log off; {temporary} {servers} }}"
        ),
    );
    let prefix = format!("{}/", folder.path(".").display());
    let nginx = command.args(["-p", &prefix, "-c", &format!("{prefix}nginx.conf")]).spawn().unwrap();
    let mut nginx = Ended(nginx);
    let end = Instant::now() + Duration::from_secs(30);
    while TcpStream::connect(address).is_err() {
        assert!(nginx.try_wait().unwrap().is_none() && Instant::now() < end, "no server");
        thread::sleep(Duration::from_millis(20));
    }
    nginx
}

/// A client of these roots.
pub fn trusting(roots: RootCertStore) -> ClientConfig {
    ClientConfig::builder_with_provider(gambeson_rustls::provider().unwrap().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// The root of the chain in `pki`.
pub fn trust(folder: &Folder) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(folder.path("pki/root.pem")).unwrap()).unwrap();
    roots
}

fn next(reports: &mut impl BufRead) -> Value {
    let mut line = String::new();
    reports.read_line(&mut line).unwrap();
    super::reports::check_line(&line)
}
