//! `provider …`: programs of this machine with our algorithms.

use crate::program::serving::{Server, free_port, nginx};
use crate::program::{self, Folder, has_program};
use std::process::Command;

/// Whether OpenSSL's program is there; without it these tests have nothing to run.
fn openssl_is_there() -> bool {
    has_program("openssl", &["version"])
}

/// What `openssl` says without us, with a configuration or with the machine's.
fn openssl(folder: &Folder, configuration: Option<&str>, arguments: &[&str]) -> String {
    let mut command = Command::new("openssl");
    command.args(arguments).env_remove("OPENSSL_CONF");
    if let Some(name) = configuration {
        command.env("OPENSSL_CONF", folder.path(name));
    }
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn a_command_runs_with_the_provider_and_nothing_stays() {
    if !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    let listed = folder.run("provider run -- openssl list -providers").exits(0);
    assert!(listed.text().contains("gambeson: post-quantum"), "{}", listed.text());
    // The machine's configuration is there, too: `req` takes its names from it.
    folder
        .run(
            "provider run -- openssl req -x509 -newkey ML-DSA-65 -nodes -keyout a.key -subj /CN=A -out a.pem",
        )
        .exits(0);
    folder.run("provider run -- openssl verify -CAfile a.pem a.pem").exits(0);
    assert!(!openssl(&folder, None, &["list", "-providers"]).contains("gambeson"));
    // The configuration is gone with the command.
    let named = folder.run("provider run -- printenv OPENSSL_CONF").exits(0);
    let named = named.text().trim();
    assert!(named.ends_with("openssl.cnf") && !std::path::Path::new(named).exists(), "{named}");
}

#[test]
fn a_command_gets_no_secret_of_the_environment_unless_it_is_asked_for() {
    if !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    for variable in ["GAMBESON_PASSPHRASE", "GAMBESON_NEW_PASSPHRASE", "GAMBESON_SLIM_AUTH"] {
        let run = |options: &str| {
            let line = format!("provider run {options} -- printenv {variable}");
            folder.run_with(&line, b"", &[(variable, "hush")])
        };
        assert_eq!(run("").exits(1).text(), "", "{variable}");
        assert_eq!(run("--keep-environment").exits(0).text(), "hush\n", "{variable}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_module_may_lie_where_the_environment_says() {
    if !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    let built = std::path::Path::new(env!("CARGO_BIN_EXE_gambeson")).parent().unwrap();
    let name = "libgambeson_openssl.so";
    let built = [built.join(name), built.join("deps").join(name)].into_iter().find(|module| module.is_file());
    std::fs::create_dir(folder.path("modules")).unwrap();
    std::fs::copy(built.unwrap(), folder.path("modules").join(name)).unwrap();
    let modules = folder.path("modules").canonicalize().unwrap();
    let modules = modules.to_str().unwrap();
    let told =
        folder.run_with("provider run -- sh -c cat<$OPENSSL_CONF", b"", &[("GAMBESON_LIBDIR", modules)]);
    assert!(told.exits(0).text().contains(modules));
}

#[test]
fn curl_reaches_our_server_with_hybrid_groups() {
    if !has_program("curl", &["--version"]) || !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    // What the OpenSSL of Debian 12 can verify in a handshake.
    folder.run("cert new --levels 3 --alg ecdsa-p256 -o pki").exits(0);
    let get = |more: &str| {
        let server = Server::start(&folder, "");
        let curl = format!("curl -sS --cacert pki/root.pem {more} https://localhost:{}/", server.port);
        folder.run(&format!("provider run -- {curl}")).exits(0).text().to_owned()
    };
    assert_eq!(get(""), "gambeson: TLS 1.3, X25519MLKEM768\n");
    assert_eq!(get("--curves X448MLKEM1024"), "gambeson: TLS 1.3, X448MLKEM1024\n");
}

#[test]
fn our_client_reaches_nginx_with_hybrid_groups() {
    if !has_program("nginx", &["-v"]) || !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    folder.run("cert new --levels 3 --alg ecdsa-p256 -o pki").exits(0);
    let port = free_port();
    let server = format!(
        "ssl_protocols TLSv1.3; ssl_certificate pki/server.pem; ssl_certificate_key pki/server.key;
         server {{ listen 127.0.0.1:{port} ssl; ssl_ecdh_curve X448MLKEM1024:X25519MLKEM768;
         location / {{ return 200 \"$ssl_curve\\n\"; }} }}"
    );
    let mut command = folder.command();
    command.args(["provider", "run", "--", "nginx"]);
    let mut nginx = nginx(command, &folder, &server, ([127, 0, 0, 1], port).into());
    let get = folder.run(&format!("tls get https://localhost:{port}/ --ca pki/root.pem -v"));
    // nginx ends by itself when it is asked to.
    send("-TERM", &nginx);
    assert_eq!(nginx.wait().unwrap().code(), Some(0));
    get.exits(0).tells("group   X25519MLKEM768");
}

/// The recipe of the module's page, with another folder in place of /opt/gambeson and nginx started as systemd starts it.
#[test]
fn the_recipe_for_nginx_works() {
    if !has_program("nginx", &["-v"]) || !openssl_is_there() {
        return;
    }
    let page = include_str!("../../../openssl/README.md");
    let (_, recipe) = page.split_once("\n# nginx\n").unwrap();
    let (recipe, _) =
        recipe.split_once("```sh\n").map(|(_, rest)| rest.split_once("\n```").unwrap()).unwrap();
    let after = |mark: &str| recipe.lines().find_map(|line| line.trim().strip_prefix(mark)).unwrap();
    let (variable, configuration) = after("Environment=").split_once('=').unwrap();
    let folder = Folder::new();
    folder.run("cert new --levels 3 --alg ecdsa-p256 -o pki").exits(0);
    folder.run("provider install --prefix opt").exits(0);
    assert!(recipe.contains("gambeson provider install --prefix /opt/gambeson\n"));
    let configuration = folder.path(&configuration.replace("/opt/gambeson", "opt"));
    assert!(configuration.is_file(), "{}", configuration.display());
    let port = free_port();
    let server = format!(
        // As Debian's nginx.conf has it.
        "ssl_protocols TLSv1 TLSv1.1 TLSv1.2 TLSv1.3;
         ssl_certificate pki/server.pem; ssl_certificate_key pki/server.key; ssl_ecdh_curve {}
         server {{ listen 127.0.0.1:{port} ssl; }}",
        after("ssl_ecdh_curve ")
    );
    let mut command = std::process::Command::new("nginx");
    command.current_dir(folder.path("")).env(variable, &configuration);
    let mut nginx = nginx(command, &folder, &server, ([127, 0, 0, 1], port).into());
    let scan = folder.run(&format!("tls scan localhost:{port} --require-pq --json"));
    send("-TERM", &nginx);
    assert_eq!(nginx.wait().unwrap().code(), Some(0));
    let verdict = scan.exits(0).rows().pop().unwrap();
    assert!(verdict["postQuantumGroups"].as_array().unwrap().contains(&"X25519MLKEM768".into()), "{verdict}");
}

#[test]
fn the_exit_status_is_that_of_the_command() {
    let folder = Folder::new();
    folder.write("exit.sh", "exit $1");
    folder.run("provider run -- sh exit.sh 7").exits(7);
    folder.write("die.sh", "kill -9 $$");
    folder.run("provider run -- sh die.sh").exits(137);
    folder.run("provider run -- ./there-is-no-such-program").exits(127).tells("there-is-no-such-program");
    folder.run("provider run -- ./exit.sh").exits(126).tells("exit.sh");
    folder.run("provider run").exits(2);
}

/// `provider run` with a script that tells when it runs, and the number of the program.
fn running(folder: &Folder, script: &str) -> std::process::Child {
    std::fs::create_dir(folder.path("temporary")).unwrap();
    // A minute at most, should nobody end it.
    let wait = "i=0; while [ $i -lt 1200 ]; do sleep 0.05; i=$((i + 1)); done";
    folder.write("long.sh", format!("{script}; echo $OPENSSL_CONF > started; {wait}"));
    let mut command = program::program();
    if cfg!(target_os = "linux") {
        // A shell cannot trap what was ignored before it: whoever runs this test with `nohup` ignores SIGHUP.
        let program = std::mem::replace(&mut command, Command::new("env"));
        command.arg("--default-signal=HUP,INT,QUIT,TERM").arg(program.get_program());
        command.env_remove("GAMBESON_PASSPHRASE").env_remove("GAMBESON_HOME");
    }
    let running = command
        .args(["provider", "run", "--", "sh", "long.sh"])
        .env("TMPDIR", folder.path("temporary"))
        .current_dir(folder.path("."))
        .spawn()
        .unwrap();
    wait_for(folder, "started");
    assert_eq!(std::fs::read_dir(folder.path("temporary")).unwrap().count(), 1);
    running
}

fn wait_for(folder: &Folder, name: &str) {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !folder.exists(name) {
        assert!(std::time::Instant::now() < end, "no {name}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn send(signal: &str, running: &std::process::Child) {
    assert!(Command::new("kill").args([signal, &running.id().to_string()]).status().unwrap().success());
}

#[test]
fn who_ends_the_program_ends_the_command_and_the_configuration_goes() {
    for (script, signal, code) in [
        ("trap 'sleep 0.3; echo ended > ended; exit 5' TERM", "-TERM", 5),
        ("trap 'echo ended > ended; exit 6' HUP", "-HUP", 6),
        ("true", "-TERM", 128 + 15),
    ] {
        let folder = Folder::new();
        let mut running = running(&folder, script);
        send(signal, &running);
        assert_eq!(running.wait().unwrap().code(), Some(code), "{script}");
        // Not before the command was at its end.
        assert_eq!(folder.exists("ended"), code < 128);
        assert_eq!(std::fs::read_dir(folder.path("temporary")).unwrap().count(), 0);
    }
}

/// A shell clears its mask by itself; most programs take over what they are given, and could not be ended.
#[cfg(target_os = "linux")]
#[test]
fn no_signal_is_held_back_from_the_command() {
    let held = ["grep", "SigBlk", "/proc/self/status"];
    let without = Command::new(held[0]).args(&held[1..]).output().unwrap();
    let with = Folder::new().run(&format!("provider run -- {}", held.join(" "))).exits(0);
    assert_eq!(with.text(), String::from_utf8(without.stdout).unwrap());
}

/// The last words in a file, once there are so many.
#[cfg(target_os = "linux")]
fn words(folder: &Folder, name: &str, count: usize) -> Vec<String> {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
    loop {
        let text = std::fs::read_to_string(folder.path(name)).unwrap_or_default();
        let words: Vec<_> = text.split_whitespace().map(str::to_owned).collect();
        if words.len() >= count {
            return words;
        }
        assert!(std::time::Instant::now() < end, "{count} words of {name}: {text}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// The first and the last of real-time signals, and all that a server may have a meaning for.
#[cfg(target_os = "linux")]
#[test]
fn all_signals_are_passed_on() {
    let signals = [
        "INT", "QUIT", "USR1", "USR2", "HUP", "WINCH", "ALRM", "PROF", "IO", "PWR", "URG", "CONT", "ABRT",
        "SEGV", "TTIN", "34", "64",
    ];
    let folder = Folder::new();
    let script = format!("for s in {}; do trap \"echo $s >> caught\" $s; done", signals.join(" "));
    let mut running = running(&folder, &script);
    for (signal, count) in signals.iter().zip(1..) {
        send(&format!("-{signal}"), &running);
        assert_eq!(words(&folder, "caught", count).last().unwrap(), signal);
    }
    assert!(running.try_wait().unwrap().is_none());
    // The configuration is there still.
    assert_eq!(std::fs::read_dir(folder.path("temporary")).unwrap().count(), 1);
    send("-TERM", &running);
    assert_eq!(running.wait().unwrap().code(), Some(128 + 15));
    assert_eq!(std::fs::read_dir(folder.path("temporary")).unwrap().count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_that_is_stopped_stops_its_command() {
    let folder = Folder::new();
    let mut running = running(&folder, "echo $$ > number");
    let command = words(&folder, "number", 1).remove(0);
    let state = |process: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
        stat.rsplit_once(')').unwrap().1.trim_start().starts_with('T')
    };
    let own = running.id().to_string();
    for (signal, stopped) in [("-TSTP", true), ("-CONT", false), ("-TSTP", true), ("-CONT", false)] {
        send(signal, &running);
        let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while state(&own) != stopped || state(&command) != stopped {
            assert!(std::time::Instant::now() < end, "{signal}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
    send("-TERM", &running);
    assert_eq!(running.wait().unwrap().code(), Some(128 + 15));
}

/// The command decides whether it stops; this program follows it.
#[cfg(target_os = "linux")]
#[test]
fn a_command_that_catches_a_stop_goes_on_and_so_does_the_program() {
    let folder = Folder::new();
    let mut running = running(&folder, "trap 'echo caught > caught' TSTP; echo $$ > number");
    let command = words(&folder, "number", 1).remove(0);
    let stopped = |process: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
        stat.rsplit_once(')').unwrap().1.trim_start().starts_with('T')
    };
    let own = running.id().to_string();
    let within = |what: &str, holds: &dyn Fn() -> bool| {
        let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while !holds() {
            assert!(std::time::Instant::now() < end, "{what}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    };
    send("-TSTP", &running);
    within("caught", &|| folder.exists("caught"));
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert!(!stopped(&own) && !stopped(&command));
    // Whatever stops the command stops the program.
    let to_command = |signal: &str| {
        Command::new("kill").args([signal, command.as_str()]).status().unwrap();
    };
    to_command("-STOP");
    within("both stop", &|| stopped(&own) && stopped(&command));
    send("-CONT", &running);
    within("both go on", &|| !stopped(&own) && !stopped(&command));
    send("-TERM", &running);
    assert_eq!(running.wait().unwrap().code(), Some(128 + 15));
}

/// The terminal sends to all of its group, so that nothing has to be passed on.
#[cfg(target_os = "linux")]
#[test]
fn what_the_terminal_sends_is_left_to_the_command() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::Write;

    if !has_program("setsid", &["--version"]) {
        return;
    }
    let folder = Folder::new();
    let mut keyboard = std::fs::File::from(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap());
    grantpt(&keyboard).unwrap();
    unlockpt(&keyboard).unwrap();
    let name = ptsname(&keyboard, Vec::new()).unwrap().into_string().unwrap();
    let terminal = std::fs::File::options().read(true).write(true).open(name).unwrap();
    folder.write(
        "long.sh",
        "for s in INT QUIT; do trap \"echo $s >> caught\" $s; done; echo > started
         i=0; while [ $i -lt 1200 ]; do sleep 0.05; i=$((i + 1)); done",
    );
    let mut command = Command::new("setsid");
    command.args([
        "--ctty",
        "--wait",
        env!("CARGO_BIN_EXE_gambeson"),
        "provider",
        "run",
        "--",
        "sh",
        "long.sh",
    ]);
    command.current_dir(folder.path(".")).stdin(terminal.try_clone().unwrap());
    let mut running = command.stdout(terminal.try_clone().unwrap()).stderr(terminal).spawn().unwrap();
    wait_for(&folder, "started");
    // Control-C and Control-\\, at which a `sleep` ends, too.
    for (key, count, signal) in [(b"\x03", 1, "INT"), (b"\x1c", 2, "QUIT")] {
        keyboard.write_all(key).unwrap();
        assert_eq!(words(&folder, "caught", count).last().unwrap(), signal);
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert_eq!(words(&folder, "caught", count).len(), count, "{signal} came once");
    }
    assert!(running.try_wait().unwrap().is_none());
    send("-TERM", &running);
    assert_eq!(running.wait().unwrap().code(), Some(128 + 15));
}

#[test]
fn a_module_that_is_not_there_is_named() {
    let folder = Folder::new();
    folder.run("provider run --module nothing.so -- true").exits(3).tells("nothing.so");
}

#[test]
fn an_installation_works_is_asked_for_its_status_and_goes_without_a_trace() {
    if !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    folder.run("provider status --prefix here").exits(1);
    folder.run("provider install --prefix here").exits(0);
    let report = folder.run("provider status --prefix here --json").exits(0).json();
    assert_eq!(report["active"], true);
    let conf = "here/etc/gambeson-openssl.cnf";
    assert!(openssl(&folder, Some(conf), &["list", "-providers"]).contains("gambeson: post-quantum"));
    // Again is no harm.
    folder.run("provider install --prefix here").exits(0);
    folder.run("provider uninstall --prefix here").exits(0);
    assert!(!folder.exists(conf) && !folder.exists("here/lib/libgambeson_openssl.so"));
    folder.run("provider status --prefix here").exits(1);
    folder.run("provider uninstall --prefix here").exits(0);
}

#[cfg(unix)]
#[test]
fn what_is_installed_is_for_all_to_read_and_for_its_owner_alone_to_change() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    if !openssl_is_there() {
        return;
    }
    for umask in ["077", "000", "002"] {
        let folder = Folder::new();
        folder.write("openssl.cnf", "# mine\n");
        let secret = std::fs::Permissions::from_mode(0o640);
        std::fs::set_permissions(folder.path("openssl.cnf"), secret).unwrap();
        let program = folder.command().get_program().to_owned();
        let program = std::path::Path::new(&program);
        let script = format!(
            "umask {umask}; exec '{}' provider install --prefix here --conf openssl.cnf",
            program.display()
        );
        let installed =
            Command::new("sh").args(["-c", &script]).current_dir(folder.path(".")).output().unwrap();
        assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
        let mode = |name: &str| std::fs::metadata(folder.path(name)).unwrap().mode() & 0o7777;
        for name in ["here", "here/lib", "here/etc"] {
            assert_eq!(mode(name), 0o755, "{name} under {umask}");
        }
        for name in [CONF, &module()] {
            assert_eq!(mode(name), 0o644, "{name} under {umask}");
            let owner = std::fs::metadata(folder.path(name)).unwrap().uid();
            assert_eq!(owner, rustix::process::geteuid().as_raw());
        }
        assert_eq!(mode("openssl.cnf"), 0o640, "what is another's keeps its mode");
    }
}

#[test]
fn files_of_others_are_kept_and_come_back() {
    if !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("here/etc")).unwrap();
    let conf = "here/etc/gambeson-openssl.cnf";
    folder.write(conf, "# mine\n");
    // A configuration in use, which names its own sections.
    let mine = "openssl_conf = mine\n[mine]\nproviders = some\n[some]\nlegacy = old\ndefault = usual\n[old]\nactivate = 1\n\
                [usual]\nactivate = 1";
    folder.write("openssl.cnf", mine);
    folder.run("provider install --prefix here --conf openssl.cnf").exits(0);
    assert_eq!(folder.read("here/etc/gambeson-openssl.cnf.before-gambeson"), b"# mine\n");
    assert_eq!(folder.read("openssl.cnf.before-gambeson"), mine.as_bytes());
    let listed = openssl(&folder, Some("openssl.cnf"), &["list", "-providers"]);
    assert!(["  default", "  legacy", "  gambeson"].iter().all(|name| listed.contains(name)), "{listed}");
    folder.run("provider status --prefix here --conf openssl.cnf").exits(0);
    // Whoever asks later need not name it, and another time the copy is still of what was there at first.
    folder.run("provider status --prefix here").exits(0);
    folder.run("provider install --prefix here --groups X25519MLKEM768").exits(0);
    assert_eq!(folder.read("openssl.cnf.before-gambeson"), mine.as_bytes());
    let now = String::from_utf8(folder.read("openssl.cnf")).unwrap();
    assert_eq!(now.matches("Groups = X25519MLKEM768\n").count(), 1, "{now}");
    folder.run("provider install --prefix here --conf other.cnf").exits(2).tells("openssl.cnf");
    // A change that came after stays.
    folder.write("openssl.cnf", now + "# later\n");
    folder.run("provider uninstall --prefix here").exits(0);
    assert_eq!(folder.read("openssl.cnf"), format!("{mine}\n# later\n").as_bytes());
    assert_eq!(folder.read(conf), b"# mine\n");
    assert!(!folder.exists("openssl.cnf.before-gambeson"));
    // What a second backup would overwrite is left alone.
    folder.write("here/etc/gambeson-openssl.cnf.before-gambeson", "# older\n");
    folder.run("provider install --prefix here").exits(3).tells("would be overwritten");
    assert_eq!(folder.read(conf), b"# mine\n");
}

/// OpenSSL 3.0 says nothing of a provider that it cannot load, and programs go on without it.
#[test]
fn values_that_keep_the_provider_away_are_told() {
    if !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    folder.run("provider install --prefix here").exits(0);
    let good = String::from_utf8(folder.read(CONF)).unwrap();
    let (before, ours) = good.split_once("[gambeson_provider]\n").unwrap();
    let path = ours.lines().next().unwrap();
    for (values, part) in [
        (format!("{path}\nactivate = 1\ncomposite-sigalg = 0x0905"), "composite-sigalg = \"0x0905\": "),
        (format!("{path}\nactivate = 1\ncomposite-sigalg ="), "composite-sigalg = \"\": "),
        (
            format!("{path}\nactivate = 1\ncomposite_sigalg = 0xfe12"),
            "composite_sigalg = \"0xfe12\": unknown name",
        ),
        (
            "module = /nowhere/m.so\nactivate = 1".to_owned(),
            "module = \"/nowhere/m.so\": there is no such file",
        ),
        ("activate = 1".to_owned(), "names no module"),
        (format!("{path}\nactivate = 0"), "activate = \"0\": it is switched off"),
        (path.to_owned(), "is not activated"),
    ] {
        folder.write(CONF, format!("{before}[gambeson_provider]\n{values}\n"));
        let told = folder.run("provider status --prefix here --json").exits(1).json();
        assert!(told["detail"].as_str().unwrap().contains(part), "{values}: {told}");
        let mut command = Command::new("openssl");
        command.args(["list", "-providers"]).env("OPENSSL_CONF", folder.path(CONF));
        let said = String::from_utf8(command.output().unwrap().stderr).unwrap();
        let refused = values.contains("0x0905") || values.ends_with("composite-sigalg =");
        assert_eq!(
            said.contains("gambeson: the provider is not active: composite-sigalg = "),
            refused,
            "{said}"
        );
    }
    folder.write(CONF, before);
    folder.run("provider status --prefix here").exits(1);
    folder.write(CONF, before.replace("gambeson = gambeson_provider\n", ""));
    let told = folder.run("provider status --prefix here --json").exits(1).json();
    assert!(told["detail"].as_str().unwrap().contains("does not name gambeson"), "{told}");
    folder.write(CONF, &good);
    folder.run("provider status --prefix here").exits(0);
}

#[test]
fn a_module_that_does_not_load_is_not_left_behind() {
    if !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    folder.write("broken.so", "no module");
    folder.write("openssl.cnf", "# mine\n");
    let broken = "provider install --prefix here --conf openssl.cnf --module broken.so";
    folder.run(broken).exits(1).tells("removed again");
    assert!(!folder.exists(CONF) && !folder.exists(&module()));
    assert_eq!(folder.read("openssl.cnf"), b"# mine\n");
    assert!(!folder.exists("openssl.cnf.before-gambeson"));
    // Nor does it take away one that works.
    folder.run("provider install --prefix here --conf openssl.cnf").exits(0);
    let files = [CONF, &module(), "openssl.cnf", "openssl.cnf.before-gambeson"];
    let before = files.map(|name| folder.read(name));
    folder.run(broken).exits(1).tells("removed again");
    assert!(files.map(|name| folder.read(name)) == before);
    folder.run("provider status --prefix here").exits(0);
}

/// The configuration and the module of the tests.
const CONF: &str = "here/etc/gambeson-openssl.cnf";

fn module() -> String {
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    format!("here/lib/{prefix}gambeson_openssl{suffix}")
}

#[test]
fn a_step_that_fails_undoes_those_before() {
    if !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    for name in ["here/lib", "here/etc"] {
        std::fs::create_dir_all(folder.path(name)).unwrap();
    }
    folder.write(&module(), "of somebody else");
    folder.write(CONF, "# of somebody else, too");
    // Its copy would have a name that is too long: the last step but one.
    let long = "c".repeat(250);
    folder.write(&long, "# mine");
    folder.run(&format!("provider install --prefix here --conf {long}")).exits(3).tells("before-gambeson");
    assert_eq!(folder.read(&module()), b"of somebody else");
    assert_eq!(folder.read(CONF), b"# of somebody else, too");
    assert_eq!(folder.read(&long), b"# mine");
    for name in [&module(), CONF] {
        assert!(!folder.exists(&format!("{name}.before-gambeson")), "{name}");
    }
}

#[test]
fn a_module_that_is_there_already_is_used_and_stays() {
    if !openssl_is_there() {
        return;
    }
    // As programs are installed: bin and lib in one folder.
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("here/bin")).unwrap();
    std::fs::create_dir_all(folder.path("here/lib")).unwrap();
    let program = std::path::PathBuf::from(program::program().get_program());
    std::fs::copy(&program, folder.path("here/bin/gambeson")).unwrap();
    let built = program.with_file_name(format!("deps/{}", &module()["here/lib/".len()..]));
    std::fs::copy(built, folder.path(&module())).unwrap();
    let before = folder.read(&module());
    let run = |what: &str| {
        let mut command = Command::new(folder.path("here/bin/gambeson"));
        command.args(["provider", what, "--prefix", "here"]).current_dir(folder.path("."));
        program::finish(command, b"").exits(0);
        assert!(
            folder.read(&module()) == before && !folder.exists(&(module() + ".before-gambeson")),
            "{what}"
        );
    };
    ["install", "status", "install", "uninstall", "uninstall"].into_iter().for_each(run);
    assert!(!folder.exists(CONF));
}

#[test]
fn what_names_the_module_is_changed_before_the_module_goes_or_nothing_is() {
    if !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    let mine = "# no end of this line";
    folder.write("openssl.cnf", mine);
    folder.run("provider install --prefix here --conf openssl.cnf").exits(0);
    let with = folder.read("openssl.cnf");
    let text = String::from_utf8(with.clone()).unwrap();
    let uncut = text.replace("# gambeson provider install: end\n", "");
    for damaged in [uncut.as_bytes(), &[&with[..], b"\xff"].concat()] {
        folder.write("openssl.cnf", damaged);
        folder.run("provider uninstall --prefix here").exits(3).tells("openssl.cnf");
        folder.run("provider install --prefix here").exits(3).tells("openssl.cnf");
        assert!(folder.exists(&module()) && folder.exists(CONF) && folder.read("openssl.cnf") == damaged);
    }
    // The copy is not needed; all comes back byte for byte.
    std::fs::remove_file(folder.path("openssl.cnf.before-gambeson")).unwrap();
    folder.write("openssl.cnf", with);
    folder.run("provider uninstall --prefix here").exits(0);
    assert_eq!(folder.read("openssl.cnf"), mine.as_bytes());
    assert!(!folder.exists(&module()) && !folder.exists(CONF));
}

#[test]
fn the_default_provider_is_not_added_to_others_that_were_chosen() {
    if !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    folder.write("mine.cnf", "openssl_conf = o\n[o]\nproviders = p\n[p]\nbase = b\n[b]\nactivate = 1\n");
    let list = "provider run -- openssl list -providers";
    let listed = folder.run_with(list, b"", &[("OPENSSL_CONF", "mine.cnf")]).exits(0);
    let listed = listed.text();
    assert!(listed.contains("  base\n") && listed.contains("gambeson: post-quantum"), "{listed}");
    assert!(!listed.contains("  default\n"), "{listed}");
    folder.run("provider install --prefix here --conf mine.cnf").exits(0);
    assert!(!openssl(&folder, Some("mine.cnf"), &["list", "-providers"]).contains("  default\n"));
}

#[test]
fn a_session_with_the_installed_configuration_can_install_again_and_run() {
    if !openssl_is_there() {
        return;
    }
    let folder = Folder::new();
    folder.run("provider install --prefix here").exits(0);
    let before = folder.read(CONF);
    let session = [("OPENSSL_CONF", CONF)];
    folder.run_with("provider install --prefix here", b"", &session).exits(0);
    assert!(folder.read(CONF) == before);
    folder.run_with("provider run -- openssl genpkey -algorithm ML-DSA-65", b"", &session).exits(0);
}

#[test]
fn numbers_that_are_not_for_private_use_are_refused_on_the_command_line() {
    let folder = Folder::new();
    for number in ["0x0905", "fe12", "0x1fe12", "65023"] {
        let run = format!("provider run --composite-sigalg {number} -- true");
        folder.run(&run).exits(2).tells("private use");
    }
    for number in ["0xfe00", "65535"] {
        folder.run(&format!("provider run --composite-sigalg {number} -- true")).exits(0);
    }
}
