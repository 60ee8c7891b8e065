//! `agent init`, `show`, `card`, `rotate`, `sign`, `verify`, as their user meets them.

use crate::program::agents::{PASSPHRASE, acquainted, agent, did, two};
use crate::program::{self, Folder, finish, noise};
use serde_json::Value;

#[test]
fn an_agent_is_made_once_and_its_seed_is_sealed() {
    let folder = Folder::new();
    let made = agent(&folder, "init --home alice --json").exits(0).json();
    let did = made["did"].as_str().unwrap();
    assert!(did.starts_with("did:gambeson:uHi") && did.len() == 60, "{did}");
    assert_eq!((&made["suite"], &made["card"]["version"]), (&"default".into(), &1.into()));
    assert!(folder.read("alice/seed").starts_with(b"gambeson secret"));
    #[cfg(unix)]
    {
        assert_eq!((folder.mode("alice"), folder.mode("alice/seed")), (0o700, 0o600));
    }
    let before = folder.read("alice/seed");
    agent(&folder, "init --home alice").exits(3).tells("there is an agent already");
    assert_eq!(folder.read("alice/seed"), before);
    folder.run("agent show --home nobody").exits(3).tells("there is no agent");
    folder.run("agent init --home bob").exits(2).tells("a passphrase is needed");
    assert!(!folder.exists("bob"), "without a passphrase nothing is made");
    folder.run_with("agent init --home bob", b"", &[("GAMBESON_PASSPHRASE", "")]).exits(2).tells("empty");
    agent(&folder, "init --home bob --suite des").exits(2);
    agent(&folder, "init --home bob --days 0").exits(2);
}

/// Whoever may write into the folder may put cards and lists there, and another seed.
#[cfg(unix)]
#[test]
fn a_folder_that_others_may_write_is_no_agents() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let set = |name: &str, mode: u32| {
        std::fs::set_permissions(folder.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for (name, mode) in [("all", 0o777), ("group", 0o775), ("others", 0o707)] {
        std::fs::create_dir(folder.path(name)).unwrap();
        set(name, mode);
        agent(&folder, &format!("init --home {name}")).exits(3).tells("others may write");
        assert_eq!(std::fs::read_dir(folder.path(name)).unwrap().count(), 0, "nothing is made in it");
        // Mended, it will do.
        set(name, 0o755);
        agent(&folder, &format!("init --home {name}")).exits(0);
    }
    // A folder above it in which others may exchange it.
    std::fs::create_dir(folder.path("shared")).unwrap();
    set("shared", 0o777);
    agent(&folder, "init --home shared/alice").exits(3).tells("shared: others may write");
    set("shared", 0o1777);
    agent(&folder, "init --home shared/alice").exits(0);

    // Each start looks.
    agent(&folder, "init --home alice").exits(0);
    folder.write("plan", "plan");
    for (name, mode, right) in [
        ("alice", 0o722, 0o700),
        ("alice", 0o770, 0o700),
        ("alice/cards", 0o777, 0o700),
        ("alice", 0o755, 0o755),
        ("alice/seed", 0o666, 0o600),
        ("alice/agent.json", 0o620, 0o600),
    ] {
        set(name, mode);
        if mode == right {
            // One that others may read is its owner's choice; they may not write what is in it.
            agent(&folder, "show --home alice").exits(0);
            continue;
        }
        for command in ["show --home alice", "sign --home alice plan --force", "init --home alice"] {
            let refused = agent(&folder, command).exits(3).tells("others may write");
            assert!(refused.stderr.contains("chmod go-w"), "{}", refused.stderr);
        }
        set(name, right);
        agent(&folder, "sign --home alice plan --force").exits(0);
    }
    // Of another user's, only that user can say what is in it.
    if std::os::unix::fs::chown(folder.path("alice"), Some(1), None).is_ok() {
        agent(&folder, "show --home alice").exits(3).tells("is another user's");
    }
}

/// As StrictModes of OpenSSH: every folder and link on the way, and all that is in the folder at any depth.
#[cfg(unix)]
#[test]
fn nothing_on_the_way_to_an_agent_and_nothing_in_it_is_others() {
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    let folder = Folder::new();
    let set = |name: &str, mode: u32| {
        std::fs::set_permissions(folder.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    std::fs::create_dir_all(folder.path("above/below")).unwrap();
    agent(&folder, "init --home above/below/alice").exits(0);
    let show = |home: &str| agent(&folder, &format!("show --home {home}"));
    for (mode, taken) in
        [(0o775, false), (0o777, false), (0o757, false), (0o1777, true), (0o1775, true), (0o755, true)]
    {
        set("above", mode);
        match taken {
            true => drop(show("above/below/alice").exits(0)),
            false => {
                let told = show("above/below/alice").exits(3).tells("above: others may write");
                assert!(told.stderr.contains("chmod go-w"), "{}", told.stderr);
                agent(&folder, "init --home above/below/bob").exits(3).tells("above: others may write");
            }
        }
    }
    // The link is in a folder in which others may replace it; where it leads is in order.
    std::fs::create_dir_all(folder.path("open")).unwrap();
    symlink("../above/below/alice", folder.path("open/alice")).unwrap();
    symlink("open", folder.path("way")).unwrap();
    for home in ["open/alice", "way/alice"] {
        set("open", 0o777);
        show(home).exits(3).tells("open: others may write");
        set("open", 0o1777);
        show(home).exits(0);
    }
    // Deeper levels.
    folder.write("file", "content");
    set("above/below/alice", 0o755);
    folder.run("agent memory put file --home above/below/alice").exits(0);
    let object = folder.names_in("above/below/alice/objects").remove(0);
    let object = format!("above/below/alice/objects/{object}");
    for (name, mode, right) in [("above/below/alice/objects", 0o755, 0o755), (object.as_str(), 0o666, 0o600)]
    {
        set(name, mode);
        if mode != right {
            show("above/below/alice").exits(3).tells("others may write");
            set(name, right);
        }
    }
    std::fs::create_dir_all(folder.path("above/below/alice/status/known")).unwrap();
    set("above/below/alice/status/known", 0o777);
    show("above/below/alice").exits(3).tells("status/known: others may write");
    set("above/below/alice/status/known", 0o700);
    show("above/below/alice").exits(0);
    // A link in the folder leads where others may write.
    std::fs::create_dir(folder.path("elsewhere")).unwrap();
    set("elsewhere", 0o777);
    symlink(folder.path("elsewhere"), folder.path("above/below/alice/more")).unwrap();
    show("above/below/alice").exits(3).tells("elsewhere: others may write");
    set("elsewhere", 0o755);
    // A loop of links ends.
    symlink("..", folder.path("above/below/alice/status/up")).unwrap();
    show("above/below/alice").exits(0);
    if chown(folder.path("above/below"), Some(1), None).is_err() {
        return;
    }
    show("above/below/alice").exits(3).tells("below: is a folder of another user");
    chown(folder.path("above/below"), Some(0), None).unwrap();
    set("open", 0o1777);
    std::os::unix::fs::lchown(folder.path("open/alice"), Some(1), None).unwrap();
    show("open/alice").exits(3).tells("open/alice: is a symbolic link of another user");
    std::os::unix::fs::lchown(folder.path("open/alice"), Some(0), None).unwrap();
    chown(folder.path(&object), Some(1), None).unwrap();
    show("above/below/alice").exits(3).tells("another user's");
}

#[test]
fn a_card_lists_the_keys_for_channels_that_are_asked_for() {
    let folder = Folder::new();
    let listed = |home: &str| -> Vec<String> {
        let shown = folder.run(&format!("agent show --home {home} --json")).exits(0).json();
        let ids = shown["keys"].as_array().unwrap().iter().map(|key| key["id"].as_str().unwrap().to_owned());
        ids.filter_map(|id| Some(id.split_once("#group-")?.1.to_owned())).collect()
    };
    for (home, options, expected) in [
        ("none", "", &[][..]),
        ("usual", " --channels", &["ml-dsa-65-0"]),
        ("strict", " --suite cnsa2 --channels", &["ml-dsa-87-0"]),
        ("hybrid", " --channels=hybrid", &["mldsa65-ed25519-0", "mldsa87-ecdsa-p384-0"]),
        ("old", " --channels=classical", &["ed25519-0", "ecdsa-p256-0", "ecdsa-p384-0", "ecdsa-p521-0"]),
    ] {
        agent(&folder, &format!("init --home {home}{options}")).exits(0);
        let mut expected: Vec<_> = expected.iter().map(|name| (*name).to_owned()).collect();
        expected.sort_unstable();
        assert_eq!(listed(home), expected, "{home}");
    }
    agent(&folder, "init --home other --channels=quantum").exits(2).tells("unknown preset");
    agent(&folder, "rotate --home usual --channels=hybrid").exits(0);
    let mut found = listed("usual");
    found.retain(|name| name.starts_with("mldsa"));
    assert_eq!(found, ["mldsa65-ed25519-0", "mldsa87-ecdsa-p384-0"]);
}

#[test]
fn the_home_is_named_by_option_or_environment_or_is_in_the_users_data() {
    let folder = Folder::new();
    for (variable, value, home) in
        [("GAMBESON_HOME", "here", "here"), ("XDG_DATA_HOME", "data", "data/gambeson/agent")]
    {
        let value = folder.path(value);
        let mut command = folder.command();
        command.args(["agent", "init", "--json"]).env_remove("GAMBESON_HOME");
        command.env(PASSPHRASE.0, PASSPHRASE.1).env(variable, &value);
        finish(command, b"").exits(0);
        assert!(folder.exists(&format!("{home}/seed")), "{home}");
    }
}

#[test]
fn an_agent_of_suite_cnsa2_has_keys_of_its_own_algorithms() {
    let folder = Folder::new();
    let made = agent(&folder, "init --home alice --suite cnsa2 --json").exits(0).json();
    assert_eq!(made["suite"], "cnsa2");
    let keys = folder.run("agent show --home alice --json").exits(0).json();
    let keys: Vec<&str> =
        keys["keys"].as_array().unwrap().iter().map(|key| key["alg"].as_str().unwrap()).collect();
    assert_eq!(keys.iter().filter(|alg| **alg == "ML-DSA-87").count(), 3, "{keys:?}");
    folder.write("plan", "do it");
    agent(&folder, "sign --home alice plan").exits(0);
    let verified = folder.run("agent verify --home alice plan --json").exits(0).json();
    assert!(verified["hash"].as_str().unwrap().starts_with("sha384:"));
}

#[test]
fn show_tells_every_key_and_no_secret() {
    let folder = two();
    let shown = folder.run("agent show --home alice --json").exits(0).json();
    assert_eq!(shown["keys"].as_array().unwrap().len(), 8);
    assert_eq!((&shown["known"], &shown["did"]), (&0.into(), &did(&folder, "alice").into()));
    let text = folder.run("agent show --home alice").exits(0);
    for part in ["signing-0", "ML-DSA-65", "in use", "suite default"] {
        assert!(text.text().contains(part), "{part}: {}", text.text());
    }
    let late = folder.run("agent show --home alice --at 2050-01-01T00:00:00Z").exits(0);
    assert!(late.text().contains("EXPIRED"));
    folder.write("alice/cards/junk.jsonl", "junk");
    let own = format!("alice/cards/{}.jsonl", did(&folder, "alice").rsplit(':').next().unwrap());
    folder.tamper(&own);
    folder.run("agent show --home alice").exits(3);
}

#[test]
fn cards_are_written_verified_and_kept() {
    let folder = two();
    folder.run("agent card --home alice -o alice.card").exits(0);
    folder.run("agent card --home alice -o alice.card").exits(3).tells("exists already");
    let verified = folder.run("agent card --verify alice.card --home bob --json").exits(0).json();
    assert_eq!((&verified["verified"], &verified["did"]), (&true.into(), &did(&folder, "alice").into()));
    let alice = did(&folder, "alice");
    folder
        .run(&format!("agent card --of {alice} --home bob"))
        .exits(1)
        .tells("is unknown here; add its card");
    folder.run("agent card --add alice.card --home bob").exits(0);
    let known = folder.run(&format!("agent card --of {alice} --home bob")).exits(0);
    assert_eq!(known.stdout, folder.read("alice.card"), "what is kept is what came");
    let document: Value =
        serde_json::from_slice(&folder.run("agent card --document --home alice").exits(0).stdout).unwrap();
    assert_eq!(document["id"], alice.as_str());

    folder.tamper("alice.card");
    for verb in ["--verify", "--add"] {
        let refused = folder.run(&format!("agent card {verb} alice.card --home bob --json")).exits(1).json();
        assert_eq!(refused["verified"], false);
        assert!(refused["reason"].is_string(), "{refused}");
    }
    folder.run("agent card --add missing --home bob").exits(3).tells("missing");
    folder.run("agent card --add a --verify b --home bob").exits(2);
    folder.run("agent card --of did:x --home bob").exits(2);
}

#[test]
fn an_implementation_file_for_the_did_test_suite_holds_both_representations() {
    let folder = two();
    let alice = did(&folder, "alice");
    let file: Value =
        serde_json::from_slice(&folder.run("agent card --did-suite --home alice").exits(0).stdout).unwrap();
    assert_eq!((&file["didMethod"], &file["dids"][0]), (&"did:gambeson".into(), &alice.as_str().into()));
    for content_type in file["supportedContentTypes"].as_array().unwrap() {
        let content_type = content_type.as_str().unwrap();
        let produced = &file[&alice][content_type];
        assert_eq!(produced["didResolutionMetadata"]["contentType"], content_type);
        let document: Value = serde_json::from_str(produced["representation"].as_str().unwrap()).unwrap();
        assert_eq!(document["id"], alice.as_str());
        assert_eq!(document.get("@context").is_some(), content_type.contains("ld"));
    }
}

#[test]
fn rotated_keys_keep_or_lose_what_they_signed() {
    let folder = two();
    folder.write("plan", "do it");
    agent(&folder, "sign --home alice plan").exits(0);
    folder.run("agent card --home alice -o 1.card").exits(0);
    let rotated = agent(&folder, "rotate signing --home alice --json").exits(0).json();
    assert_eq!(
        (&rotated["card"]["version"], &rotated["roles"]),
        (&2.into(), &serde_json::json!(["did", "signing"]))
    );
    // Superseded keys stay good for a day.
    folder.run("agent verify plan --home alice").exits(0);
    let later = "--at 2050-01-01T00:00:00Z";
    folder.run(&format!("agent verify plan --home alice {later}")).exits(1);
    agent(&folder, "sign --home alice plan --force").exits(0);
    let signer = folder.run("agent verify plan --home alice --json").exits(0).json();
    assert!(signer["signer"].as_str().unwrap().ends_with("#signing-1"), "{signer}");
    agent(&folder, "rotate signing --compromised --home alice").exits(0);
    let refused = folder.run("agent verify plan --home alice --json").exits(1).json();
    assert_eq!(refused["reason"], "key-revoked");

    // The longer log replaces the shorter, never the reverse.
    folder.run("agent card --home alice -o 3.card").exits(0);
    folder.run("agent card --add 1.card --home bob").exits(0);
    folder.run("agent card --add 3.card --home bob").exits(0);
    let stale = folder.run("agent card --add 1.card --home bob --json").exits(1).json();
    assert_eq!(stale["reason"], "stale-card");
    agent(&folder, "rotate nonsense --home alice").exits(2);
    agent(&folder, "rotate did --home alice").exits(2);
    agent(&folder, "rotate --home nobody").exits(3);
    let early = agent(&folder, "rotate --home alice --at 2001-01-01T00:00:00Z --json").exits(2).json();
    assert_eq!(early["reason"], "broken-chain");
    let names = folder.run("agent show --home alice").exits(0);
    assert!(names.text().contains("card 3"));
}

#[test]
fn names_of_the_agent_stay_on_its_cards() {
    let folder = Folder::new();
    agent(&folder, "init --home alice --also-known-as did:web:example.com").exits(0);
    agent(&folder, "rotate --home alice").exits(0);
    let document = folder.run("agent card --document --home alice").exits(0).json();
    assert_eq!(document["alsoKnownAs"][0], "did:web:example.com");
    agent(&folder, "rotate --home alice --also-known-as did:web:example.org").exits(0);
    let document = folder.run("agent card --document --home alice").exits(0).json();
    assert_eq!(document["alsoKnownAs"], serde_json::json!(["did:web:example.org"]));
    let refused = agent(&folder, "init --home bob --also-known-as not-a-uri --json").exits(2).json();
    assert_eq!(refused["reason"], "bad-form");
    assert!(!folder.exists("bob"));
}

#[test]
fn a_signed_file_verifies_where_the_signer_is_known() {
    let folder = two();
    folder.write("plan", noise(200_001));
    let signed = agent(&folder, "sign plan --home alice --json").exits(0).json();
    assert_eq!(
        (&signed["signature"], &signed["signer"]),
        (&"plan.jws".into(), &did(&folder, "alice").into())
    );
    agent(&folder, "sign plan --home alice").exits(3).tells("exists already");
    let unknown = folder.run("agent verify plan --home bob --json").exits(1).json();
    assert_eq!(unknown["reason"], "unknown-did");
    folder.run("agent card --home alice -o alice.card").exits(0);
    folder.run("agent card --home bob --add alice.card").exits(0);
    let verified = folder.run("agent verify plan --home bob --json").exits(0).json();
    assert_eq!((&verified["verified"], &verified["bytes"]), (&true.into(), &200_001.into()));
    folder.run(&format!("agent verify plan --home bob --signer {}", did(&folder, "alice"))).exits(0);
    let other = format!("agent verify plan --home bob --json --signer {}", did(&folder, "bob"));
    let other = folder.run(&other).exits(1).json();
    assert_eq!(other["reason"], "other-signer");

    folder.tamper("plan");
    let tampered = folder.run("agent verify plan --home bob --json").exits(1).json();
    assert_eq!(tampered["reason"], "bad-digest");
    folder.tamper("plan");
    folder.write("plan.sig2", folder.read("plan.jws").iter().rev().copied().collect::<Vec<_>>());
    folder.run("agent verify plan -s plan.sig2 --home bob").exits(1);
    folder.run("agent verify plan.jws --home bob").exits(2).tells("is a signature: name the file too");
    folder.run("agent verify plan -s missing --home bob").exits(3);
    folder.run("agent verify missing -s plan.jws --home bob").exits(3);
    agent(&folder, "sign - --home alice").exits(2).tells("has no name");
}

#[test]
fn a_wrong_passphrase_or_a_changed_seed_opens_nothing() {
    let folder = two();
    folder.write("plan", "do it");
    let wrong = [("GAMBESON_PASSPHRASE", "wrong horse")];
    let refused = folder.run_with("agent sign plan --home alice --json", b"", &wrong).exits(1).json();
    assert_eq!(refused["reason"], "wrong-passphrase");
    folder.run("agent sign plan --home alice").exits(2).tells("--passphrase-fd");
    assert!(!folder.exists("plan.jws"));
    let seed = folder.read("alice/seed");
    let mut changed = seed.clone();
    *changed.last_mut().unwrap() ^= 1;
    folder.write("alice/seed", changed);
    agent(&folder, "sign plan --home alice").exits(3).tells("changed");
    // The seed of another agent is not that of these cards.
    folder.write("alice/seed", folder.read("bob/seed"));
    let other = agent(&folder, "sign plan --home alice --json").exits(3).json();
    assert_eq!(other["reason"], "wrong-seed");
    folder.write("alice/seed", "junk");
    agent(&folder, "sign plan --home alice").exits(3);
    folder.write("alice/seed", seed);
    agent(&folder, "sign plan --home alice").exits(0);
}

#[cfg(unix)]
#[test]
fn a_passphrase_comes_from_a_descriptor() {
    let folder = Folder::new();
    folder.write("secret", "correct horse\nmore");
    let run = |arguments: &str| {
        let mut command = std::process::Command::new("sh");
        command.current_dir(folder.path("")).env_remove("GAMBESON_PASSPHRASE");
        let line =
            format!("exec {} agent {arguments} --passphrase-fd 3 3<secret", env!("CARGO_BIN_EXE_gambeson"));
        command.args(["-c", &line]);
        finish(command, b"")
    };
    run("init --home alice").exits(0);
    folder.write("plan", "do it");
    agent(&folder, "sign plan --home alice").exits(0);
    run("sign plan --home alice --force").exits(0);
}

/// What the program does at a terminal of its own, where somebody types these lines, each after its prompt: exit status, and what the
/// terminal showed.
#[cfg(target_os = "linux")]
fn typed(folder: &Folder, arguments: &str, lines: &[(&str, &str)]) -> (Option<i32>, String) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{LocalModes, tcgetattr};
    use std::io::{Read, Write};

    let mut keyboard = std::fs::File::from(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap());
    grantpt(&keyboard).unwrap();
    unlockpt(&keyboard).unwrap();
    let name = ptsname(&keyboard, Vec::new()).unwrap().into_string().unwrap();
    let terminal = std::fs::File::options().read(true).write(true).open(name).unwrap();
    let mut command = std::process::Command::new("setsid");
    command
        .args(["--ctty", "--wait", env!("CARGO_BIN_EXE_gambeson"), "agent"])
        .args(arguments.split_whitespace());
    command.current_dir(folder.path("")).env_remove("GAMBESON_PASSPHRASE").env_remove("GAMBESON_HOME");
    command.stdin(terminal.try_clone().unwrap()).stdout(terminal.try_clone().unwrap()).stderr(terminal);
    let mut child = command.spawn().unwrap();
    // With it the last terminal on this side is closed: a program that ends ends what is read below.
    drop(command);
    let (mut shown, mut byte) = (Vec::new(), [0]);
    for (prompt, line) in lines {
        while !shown.ends_with(prompt.as_bytes()) {
            keyboard
                .read_exact(&mut byte)
                .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&shown)));
            shown.push(byte[0]);
        }
        while tcgetattr(&keyboard).unwrap().local_modes.contains(LocalModes::ECHO) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        keyboard.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
    // Linux tells of a terminal that is closed by an error.
    while keyboard.read_exact(&mut byte).is_ok() {
        shown.push(byte[0]);
    }
    (child.wait().unwrap().code(), String::from_utf8_lossy(&shown).into_owned())
}

#[cfg(target_os = "linux")]
#[test]
fn a_person_types_a_passphrase_that_nobody_sees() {
    if !program::has_program("setsid", &["--version"]) {
        return;
    }
    let folder = Folder::new();
    let (new, again) = ("New passphrase for the agent: ", "Once more: ");
    let (status, shown) =
        typed(&folder, "init --home alice", &[(new, "correct horse"), (again, "correct house")]);
    assert!(status == Some(2) && shown.contains("the two passphrases differ"), "{status:?} {shown}");
    let (status, shown) = typed(&folder, "init --home alice", &[(new, ""), (again, "")]);
    assert!(status == Some(2) && shown.contains("an empty passphrase"), "{status:?} {shown}");
    assert!(!folder.exists("alice/seed"));

    let (status, shown) =
        typed(&folder, "init --home alice", &[(new, "correct horse"), (again, "correct horse")]);
    assert!(status == Some(0) && shown.contains("did:gambeson:"), "{status:?} {shown}");
    assert!(!shown.contains("correct horse"), "{shown}");
    folder.write("plan", "do it");
    let prompt = "Passphrase of the agent: ";
    let (status, shown) = typed(&folder, "sign plan --home alice", &[(prompt, "wrong horse")]);
    assert!(status == Some(1) && !shown.contains("wrong horse"), "{status:?} {shown}");
    let (status, shown) = typed(&folder, "sign plan --home alice", &[(prompt, "correct horse")]);
    assert_eq!(status, Some(0), "{shown}");
    // It is the one that the other ways give.
    agent(&folder, "sign plan --home alice --force").exits(0);
}

#[test]
fn did_web_is_fetched_only_when_asked_and_did_key_needs_nobody() {
    let folder = two();
    let web = "did:web:localhost%3A1";
    let line = format!("agent card --document --of {web} --home alice --json");
    let refused = folder.run(&line).exits(1);
    assert!(refused.stderr.contains("is unknown here"), "{}", refused.stderr);
    folder
        .run(&format!("{line} --web"))
        .exits(1)
        .tells("https://localhost:1/.well-known/did.json was not fetched");
    let document = folder.run("agent card --document --home alice").exits(0).json();
    let key = document["verificationMethod"]
        .as_array()
        .unwrap()
        .iter()
        .find_map(|it| it["publicKeyMultibase"].as_str());
    let did = format!("did:key:{}", key.unwrap());
    let document = folder.run(&format!("agent card --document --of {did} --home alice")).exits(0).json();
    assert_eq!(document["id"], did.as_str());
}

#[test]
fn several_files_are_signed_and_verified_at_once() {
    let folder = acquainted();
    for name in ["a", "b"] {
        folder.write(name, name);
    }
    assert_eq!(agent(&folder, "sign a b --home alice --json").exits(0).rows().len(), 2);
    folder.run("agent verify a b --home bob").exits(0);
    for order in ["a a.jws", "a.jws a"] {
        folder.run(&format!("agent verify {order} --home bob")).exits(0);
    }
    folder.write("unsigned", "c");
    let told = "unsigned.jws: does not exist; --signature names another file";
    folder.run("agent verify a unsigned --home bob").exits(3).tells(told);
    folder.write("a", "changed");
    let rows = folder.run("agent verify a b --home bob --json").exits(1).rows();
    assert_eq!((&rows[0]["verified"], &rows[1]["verified"]), (&false.into(), &true.into()));
    assert_eq!(rows[0]["file"], "a");
    // A file of another signer does not stop the verification of the next.
    folder.run("agent card --home alice --add bob.card").exits(0);
    agent(&folder, "sign a --home bob --force").exits(0);
    let by_alice = format!("agent verify a b --home alice --signer {}", did(&folder, "alice"));
    let rows = folder.run(&format!("{by_alice} --json")).exits(1).rows();
    let told =
        |row: &serde_json::Value| (row["verified"].clone(), row["reason"].clone(), row["file"].clone());
    assert_eq!(told(&rows[0]), (false.into(), "other-signer".into(), "a".into()));
    assert_eq!(told(&rows[1]), (true.into(), serde_json::Value::Null, "b".into()));
    let people = folder.run(&by_alice).exits(1);
    assert!(people.text().starts_with("NOT VERIFIED: a: signed by "), "{}", people.text());
    agent(&folder, "sign a b -o one --home alice").exits(2).tells("--out goes with one file");
}

#[test]
fn the_passphrase_of_an_agent_is_changed() {
    let folder = two();
    folder.write("plan", "do it");
    let new = ("GAMBESON_NEW_PASSPHRASE", "six other words that nobody knows");
    folder.run_with("agent passwd --home alice", b"", &[PASSPHRASE, new]).exits(0);
    folder.run_with("agent sign plan --home alice", b"", &[PASSPHRASE]).exits(1);
    folder.run_with("agent sign plan --home alice", b"", &[(PASSPHRASE.0, new.1)]).exits(0);
    // The old passphrase is asked for, and nothing changes without it.
    let before = folder.read("alice/seed");
    folder.run_with("agent passwd --home alice", b"", &[PASSPHRASE, new]).exits(1);
    folder
        .run_with("agent passwd --home alice", b"", &[(PASSPHRASE.0, new.1)])
        .exits(2)
        .tells("new passphrase");
    assert_eq!(folder.read("alice/seed"), before);
}
