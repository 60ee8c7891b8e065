//! Programs of this machine with the provider: a folder, a configuration in it, and commands that see both.

use std::collections::BTreeSet;
use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Whether a test that cannot run has failed.
pub fn must_run() -> bool {
    std::env::var("CI").is_ok_and(|ci| ci == "true" || ci == "1")
}

/// Whether all programs are there; says which is not.
pub fn are_there(programs: &[&str]) -> bool {
    programs.iter().all(|program| {
        let there =
            Command::new("sh").args(["-c", &format!("command -v {program}")]).stdout(Stdio::null()).status();
        if there.is_ok_and(|status| status.success()) {
            return true;
        }
        assert!(!must_run(), "{program} is missing");
        println!("skipped: {program} is not on this machine");
        false
    })
}

/// Every group of TLS that the provider has on OpenSSL 3.0.
pub const GROUPS: [&str; 8] = [
    "X25519MLKEM768",
    "SecP256r1MLKEM768",
    "SecP384r1MLKEM1024",
    "X448MLKEM768",
    "X448MLKEM1024",
    "MLKEM512",
    "MLKEM768",
    "MLKEM1024",
];

/// Every signature algorithm that it has.
pub const SIGNATURES: [&str; 22] = [
    "ML-DSA-44",
    "ML-DSA-65",
    "ML-DSA-87",
    "SLH-DSA-SHA2-128s",
    "SLH-DSA-SHA2-128f",
    "SLH-DSA-SHA2-192s",
    "SLH-DSA-SHA2-192f",
    "SLH-DSA-SHA2-256s",
    "SLH-DSA-SHA2-256f",
    "SLH-DSA-SHAKE-128s",
    "SLH-DSA-SHAKE-128f",
    "SLH-DSA-SHAKE-192s",
    "SLH-DSA-SHAKE-192f",
    "SLH-DSA-SHAKE-256s",
    "SLH-DSA-SHAKE-256f",
    "MLDSA87-Ed448-SHAKE256",
    "MLDSA87-ECDSA-P384-SHA512",
    "MLDSA65-Ed25519-SHA512",
    "MLDSA65-ECDSA-P384-SHA512",
    "MLDSA65-ECDSA-P256-SHA512",
    "MLDSA44-Ed25519-SHA512",
    "MLDSA44-ECDSA-P256-SHA256",
];

/// The module, which cargo builds beside this test.
pub fn module() -> PathBuf {
    let test = std::env::current_exe().expect("this test has a name");
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let module = test.with_file_name(format!("{prefix}gambeson_openssl{suffix}"));
    assert!(module.is_file(), "{} was not built", module.display());
    module
}

pub struct Host {
    folder: TempDir,
}

impl Host {
    pub fn new() -> Self {
        let host = Self { folder: tempfile::tempdir().expect("a folder") };
        host.write("openssl.cnf", configuration(&GROUPS.join(":")));
        host
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("the folder can be written");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A program in the folder, with the provider.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder).env("OPENSSL_CONF", self.path("openssl.cnf")).stdin(Stdio::null());
        command
    }

    pub fn output(&self, program: &str, arguments: &[&str]) -> Output {
        self.command(program).args(arguments).output().unwrap_or_else(|error| panic!("{program}: {error}"))
    }

    /// What a program says that must succeed.
    pub fn run(&self, program: &str, arguments: &[&str]) -> String {
        let output = self.output(program, arguments);
        assert!(output.status.success(), "{program} {arguments:?}: {}\n{}", output.status, said(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub fn openssl(&self, arguments: &[&str]) -> String {
        self.run("openssl", arguments)
    }

    /// `openssl` must refuse, with these words, and not by a crash.
    pub fn refuses(&self, arguments: &[&str], words: &str) {
        let output = self.output("openssl", arguments);
        let said = said(&output);
        assert!(
            output.status.code().is_some_and(|code| code != 0),
            "{arguments:?}: {}\n{said}",
            output.status
        );
        assert!(said.contains(words), "{arguments:?} says no {words:?}:\n{said}");
    }

    /// A key and a certificate of `localhost` with a curve, that signs itself: what OpenSSL 3.0 can show in a handshake.
    pub fn classical_certificate(&self) {
        let key = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
        let rest = ["-keyout", "server.key", "-out", "server.pem", "-subj", "/CN=localhost"];
        self.openssl(&[&key[..], &rest, &["-addext", "subjectAltName=DNS:localhost"]].concat());
    }

    /// Starts a server; it is there when the port takes connections.
    pub fn serve(&self, command: &mut Command, port: u16) -> Server {
        let log = fs::File::create(self.path("server.log")).expect("the folder can be written");
        let again = log.try_clone().expect("a file");
        let mut server = Server(command.stdout(log).stderr(again).spawn().expect("a server starts"));
        let end = Instant::now() + Duration::from_secs(30);
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            let ended = server.0.try_wait().expect("our child");
            let log = || String::from_utf8_lossy(&self.read("server.log")).into_owned();
            assert!(ended.is_none() && Instant::now() < end, "no server: {ended:?}\n{}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
        server
    }

    /// `openssl s_server` with one group and a page that tells of the connection.
    pub fn s_server(&self, group: &str, port: u16) -> Server {
        let accept = format!("127.0.0.1:{port}");
        let arguments = ["s_server", "-www", "-accept", &accept, "-groups", group];
        let files = ["-cert", "server.pem", "-key", "server.key"];
        self.serve(self.command("openssl").args(arguments).args(files), port)
    }

    /// nginx on two ports: one offers `groups`, one X25519 alone. Its page says which one it was.
    pub fn nginx(&self, groups: &str, ports: [u16; 2]) -> Server {
        let server = |port: u16, groups: &str| {
            format!(
                "server {{ listen 127.0.0.1:{port} ssl; ssl_ecdh_curve {groups}; location / {{ return 200 \"$ssl_curve\\n\"; }} }}\n"
            )
        };
        let servers = server(ports[0], groups) + &server(ports[1], "X25519");
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .iter()
            .map(|kind| format!("{kind}_temp_path {kind};\n"))
            .collect();
        self.write(
            "nginx.conf",
            format!(
                "daemon off; pid nginx.pid; error_log stderr;\nevents {{}}\nhttp {{ access_log off; {temporary}\
                 ssl_protocols TLSv1.3; ssl_certificate server.pem; ssl_certificate_key server.key;\n{servers}}}\n"
            ),
        );
        let folder = format!("{}/", self.folder.path().display());
        let mut command = self.command("nginx");
        self.serve(command.args(["-p", &folder, "-c", "nginx.conf"]), ports[0])
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// The configuration, with these groups for TLS.
pub fn configuration(groups: &str) -> String {
    format!(
        "openssl_conf = init\nnodejs_conf = init\nconfig_diagnostics = 1\n\
         [init]\nproviders = providers\nssl_conf = tls\n\
         [providers]\ndefault = default_section\ngambeson = gambeson_section\n\
         [default_section]\nactivate = 1\n\
         [gambeson_section]\nmodule = {}\nactivate = 1\ncomposite-sigalg = 0xfe12\n\
         [tls]\nsystem_default = tls_section\n\
         [tls_section]\nGroups = {groups}\n\
         [req]\ndistinguished_name = nobody\nprompt = no\n[nobody]\n",
        module().display()
    )
}

/// A server, which ends with its owner.
pub struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // nginx tells its workers only when it is asked.
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

/// A port that nobody has now.
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
