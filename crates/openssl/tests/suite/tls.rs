//! Handshakes of the programs that are there, with every group of the provider.

use std::process::Command;

use crate::host::{GROUPS, Host, are_there, configuration, free_port, must_run};

#[test]
fn s_client_and_s_server_shake_hands_with_every_group() {
    if !are_there(&["openssl"]) {
        return;
    }
    let host = Host::new();
    host.classical_certificate();
    for group in GROUPS {
        let port = free_port();
        let _server = host.s_server(group, port);
        let connect = format!("localhost:{port}");
        let client =
            ["s_client", "-connect", &connect, "-CAfile", "server.pem", "-verify_return_error", "-4"];
        let said = host.openssl(&[&client[..], &["-groups", group]].concat());
        assert!(said.contains("New, TLSv1.3"), "{group}: {said}");
        // A client without the group in common is refused, and the server lives on.
        host.refuses(&[&client[..], &["-groups", "P-521"]].concat(), "handshake failure");
        host.openssl(&[&client[..], &["-groups", group]].concat());
    }
}

/// OpenSSL gives each of its jobs 32 KiB of stack out of the heap: whoever takes more writes over what lies below.
#[test]
fn handshakes_in_jobs_with_little_stack_leave_the_heap_alone() {
    if !are_there(&["openssl"]) {
        return;
    }
    let host = Host::new();
    host.classical_certificate();
    for group in GROUPS {
        let port = free_port();
        let accept = format!("127.0.0.1:{port}");
        let server = ["s_server", "-www", "-async", "-accept", &accept, "-groups", group];
        let files = ["-cert", "server.pem", "-key", "server.key"];
        let _server = host.serve(host.command("openssl").args(server).args(files), port);
        let connect = format!("localhost:{port}");
        for _ in 0..3 {
            let client = ["s_client", "-async", "-connect", &connect, "-4", "-groups", group];
            let said =
                host.openssl(&[&client[..], &["-CAfile", "server.pem", "-verify_return_error"]].concat());
            assert!(said.contains("New, TLSv1.3"), "{group}: {said}");
        }
    }
}

#[test]
fn stock_curl_reaches_a_server_with_every_group() {
    if !are_there(&["openssl", "curl"]) {
        return;
    }
    let host = Host::new();
    host.classical_certificate();
    for group in GROUPS {
        let port = free_port();
        let _server = host.s_server(group, port);
        let url = format!("https://localhost:{port}/");
        let page = host.run("curl", &["-sS", "--cacert", "server.pem", "--curves", group, &url]);
        assert!(page.contains(&format!("Shared groups: {group}")), "{group}: {page}");
    }
}

#[test]
fn stock_nginx_serves_stock_curl_by_configuration_alone() {
    if !are_there(&["openssl", "curl", "nginx"]) {
        return;
    }
    let host = Host::new();
    host.classical_certificate();
    let ports = [free_port(), free_port()];
    let _server = host.nginx("X448MLKEM1024:X25519MLKEM768:SecP384r1MLKEM1024:X25519", ports);
    let url = |port| format!("https://localhost:{port}/");
    let curl = |port, more: &[&str]| {
        host.run("curl", &[&["-sS", "--cacert", "server.pem"], more, &[url(port).as_str()]].concat())
    };
    for (group, number) in
        [("X448MLKEM1024", "0xfe48"), ("X25519MLKEM768", "0x11ec"), ("SecP384r1MLKEM1024", "0x11ed")]
    {
        // nginx 1.22 does not know the names.
        let said = curl(ports[0], &["--curves", group]);
        assert!([number, group].contains(&said.trim()), "{group}: {said}");
        // Nothing but the configuration names it.
        host.write("openssl.cnf", configuration(&format!("{group}:X25519")));
        let said = curl(ports[0], &[]);
        assert!([number, group].contains(&said.trim()), "{group}: {said}");
        // A server that has X25519 alone asks for another share.
        assert_eq!(curl(ports[1], &[]).trim(), "X25519");
    }
    // And a client that knows nothing of us is served as before.
    let mut stock = Command::new("curl");
    stock
        .args(["-sS", "--cacert", "server.pem", &url(ports[0])])
        .current_dir(host.folder())
        .env_remove("OPENSSL_CONF");
    let output = stock.output().expect("curl starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "X25519");
}

/// In one process: a fetch, then handshakes in threads, then the key shares of forks, none of which may be another's.
const PYTHON: &str = r#"
import os, ssl, sys, threading, urllib.request
url = sys.argv[1]
context = ssl.create_default_context(cafile="server.pem")
fetch = lambda: urllib.request.urlopen(url, context=context).read().decode().strip()
print(fetch())
results = []
def work():
    for _ in range(5):
        results.append(fetch())
threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(len(results), len(set(results)))
def share():
    read, write = ssl.MemoryBIO(), ssl.MemoryBIO()
    connection = context.wrap_bio(read, write, server_hostname="localhost")
    try:
        connection.do_handshake()
    except ssl.SSLWantReadError:
        pass
    hello = write.read()
    at = hello.index(b"\x11\xec\x04\xc0") + 4
    assert len(hello) >= at + 1216
    return hello[at:at + 1216]
shares = [share()]
for _ in range(4):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, share())
        assert fetch() == results[0]
        os._exit(0)
    shares.append(os.read(read, 2000))
    assert os.waitpid(child, 0)[1] == 0
shares.append(share())
print(len(shares), len(set(shares)))
"#;

#[test]
fn python_keeps_working_in_threads_and_after_forks_and_no_key_share_comes_twice() {
    if !are_there(&["openssl", "nginx", "/usr/bin/python3"]) {
        return;
    }
    let host = Host::new();
    host.classical_certificate();
    host.write("openssl.cnf", configuration("X25519MLKEM768:X25519"));
    let ports = [free_port(), free_port()];
    let _server = host.nginx("X25519MLKEM768", ports);
    // The certificate's name is localhost; so is the peer.
    let url = format!("https://localhost:{}/", ports[0]);
    let said = host.run("/usr/bin/python3", &["-c", PYTHON, &url]);
    let lines: Vec<&str> = said.lines().collect();
    assert!(["0x11ec", "X25519MLKEM768"].contains(&lines[0]), "{said}");
    assert_eq!(lines[1..], ["40 1", "6 6"], "{said}");
}

/// Server and client in one program with a newer OpenSSL, whose own KEMs serve; then as a client of the older one.
const NODE: &str = r#"
const tls = require('tls'), fs = require('fs');
const file = (name) => fs.readFileSync(name);
const connect = (port, ca, group) => new Promise((done) => {
    const options = { port, host: 'localhost', family: 4, ca: file(ca), ecdhCurve: group, minVersion: 'TLSv1.3' };
    const client = tls.connect(options, () => {
        console.log(`${group} ${ca} ${client.authorized} ${client.getEphemeralKeyInfo().name}`);
        client.end();
        done();
    });
    client.on('error', (error) => { console.log(`${group} ${error.message}`); done(); });
});
const both = (name, ca, group) => new Promise((done) => {
    const options = { key: file(`${name}.key`), cert: file(`${name}.pem`), ecdhCurve: group, minVersion: 'TLSv1.3' };
    const server = tls.createServer(options, (socket) => socket.resume());
    server.on('tlsClientError', (error) => console.log(`server: ${error.message}`));
    server.listen(0, '127.0.0.1', async () => {
        await connect(server.address().port, ca, group);
        server.close();
        done();
    });
});
(async () => {
    for (const group of ['X25519MLKEM768', 'X448MLKEM1024', 'X448MLKEM768']) await both('server', 'server.pem', group);
    await both('composite', 'composite-root.pem', 'X448MLKEM1024');
    for (const argument of process.argv.slice(2)) {
        const [group, port] = argument.split('=');
        await connect(Number(port), 'server.pem', group);
    }
})();
"#;

#[test]
fn a_newer_openssl_takes_groups_and_composite_certificates_from_here_and_the_rest_from_itself() {
    // Node brings its OpenSSL with it: GAMBESON_NODE, which `cargo xtask test` sets, or the one on the path, if that is 3.5 or newer.
    let node = std::env::var("GAMBESON_NODE").unwrap_or_else(|_| "node".to_owned());
    let version = Command::new(&node).args(["-p", "process.versions.openssl"]).output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let new = version.as_deref().is_ok_and(|version| {
        let mut numbers = version.split(['.', '+']).map_while(|number| number.parse::<u32>().ok());
        (numbers.next(), numbers.next()) >= (Some(3), Some(5))
    });
    if !new {
        let old =
            format!("{node} has no OpenSSL of 3.5 or newer ({version:?}); GAMBESON_NODE names another one");
        assert!(!must_run(), "{old}");
        println!("skipped: {old}");
        return;
    }
    if !are_there(&["openssl"]) {
        return;
    }
    let host = Host::new();
    host.classical_certificate();
    let algorithm = "MLDSA87-Ed448-SHAKE256";
    let root = [
        "req",
        "-x509",
        "-newkey",
        algorithm,
        "-nodes",
        "-keyout",
        "composite-root.key",
        "-subj",
        "/CN=Root",
    ];
    host.openssl(&[&root[..], &["-out", "composite-root.pem"]].concat());
    let request =
        ["req", "-new", "-newkey", algorithm, "-nodes", "-keyout", "composite.key", "-subj", "/CN=localhost"];
    host.openssl(
        &[&request[..], &["-addext", "subjectAltName=DNS:localhost", "-out", "composite.csr"]].concat(),
    );
    let sign =
        ["x509", "-req", "-in", "composite.csr", "-CA", "composite-root.pem", "-CAkey", "composite-root.key"];
    host.openssl(&[&sign[..], &["-copy_extensions", "copyall", "-out", "composite.pem"]].concat());
    // Its own KEMs against ours in the older library: X448MLKEM1024 too, which 3.5 has without a number for TLS.
    let peers: Vec<_> = GROUPS
        .map(|group| {
            let port = free_port();
            (host.s_server(group, port), format!("{group}={port}"))
        })
        .into();
    host.write("tls.js", NODE);
    let configuration = format!("--openssl-config={}", host.path("openssl.cnf").display());
    let mut arguments = vec![configuration.as_str(), "tls.js"];
    arguments.extend(peers.iter().map(|(_, argument)| argument.as_str()));
    let said = host.run(&node, &arguments);
    let lines: Vec<&str> = said.lines().collect();
    let line = |group: &str, ca: &str| format!("{group} {ca} true {group}");
    let mut wanted: Vec<String> =
        ["X25519MLKEM768", "X448MLKEM1024", "X448MLKEM768"].map(|group| line(group, "server.pem")).into();
    wanted.push(line("X448MLKEM1024", "composite-root.pem"));
    wanted.extend(GROUPS.map(|group| line(group, "server.pem")));
    assert_eq!(lines, wanted, "{said}");
}
