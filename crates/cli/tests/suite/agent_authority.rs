//! Credentials, delegation, approvals, signed requests and cards: what holds, and every way in which it does not.

use crate::program::Folder;
use crate::program::agents::{PASSPHRASE, acquainted, agent, agent_with, did, two};
use serde_json::Value;

/// The reason for which a command of `agent` is refused with exit status 1.
#[track_caller]
fn reason(folder: &Folder, arguments: &str) -> String {
    let refused = agent(folder, &format!("{arguments} --json")).exits(1).json();
    refused["reason"].as_str().unwrap_or_else(|| panic!("{refused}")).to_owned()
}

/// In seconds.
const YEAR: u64 = 31_536_000;

/// Alice issues a credential about bob, who learns alice's status list.
fn issued(folder: &Folder, options: &str) {
    let line =
        format!("cred issue --subject {} --type Badge -o badge --home alice {options}", did(folder, "bob"));
    agent_with(folder, &line, br#"{"level": 3}"#).exits(0);
    agent(folder, "cred status -o list --force --home alice").exits(0);
    folder.run("agent cred status --add list --home bob").exits(0);
}

#[test]
fn a_credential_holds_until_it_is_revoked() {
    let folder = acquainted();
    issued(&folder, "");
    let verified = folder.run("agent cred verify badge --home bob --json").exits(0).json();
    assert_eq!(verified["credential"]["credentialSubject"]["level"], 3);
    assert_eq!(verified["issuer"], did(&folder, "alice").as_str());
    folder.run(&format!("agent cred verify badge --issuer {} --home bob", did(&folder, "alice"))).exits(0);
    assert_eq!(
        reason(&folder, &format!("cred verify badge --issuer {} --home bob", did(&folder, "bob"))),
        "other-signer"
    );
    assert_eq!(reason(&folder, "cred verify badge --home bob --at 2050-01-01T00:00:00Z"), "expired");

    folder.run("agent cred verify badge --keep badge.jwt --home bob").exits(0);
    assert_eq!(folder.read("bob/credentials/badge.jwt"), folder.read("badge"));
    folder.run("agent cred verify badge --keep ../badge --home bob").exits(2);

    assert_eq!(agent(&folder, "cred revoke badge --home alice --json").exits(0).json()["isNew"], true);
    assert_eq!(agent(&folder, "cred revoke badge --home alice --json").exits(0).json()["isNew"], false);
    assert_eq!(reason(&folder, "cred verify badge --home alice"), "revoked");
    folder.run("agent cred verify badge --home bob").exits(0);
    let list = agent(&folder, "cred status -o list --force --home alice --json").exits(0).json();
    assert_eq!((&list["entries"], &list["revokedEntries"]), (&1.into(), &1.into()));
    folder.run("agent cred status --add list --home bob").exits(0);
    assert_eq!(reason(&folder, "cred verify badge --home bob"), "revoked");

    agent(&folder, "cred revoke badge --home bob").exits(2).tells("not an entry of this agent's list");
    folder.tamper("list");
    agent(&folder, "cred status --add list --home bob").exits(1);
    folder.tamper("badge");
    agent(&folder, "cred verify badge --home bob").exits(1);
    agent(&folder, "cred verify missing --home bob").exits(3);
}

#[test]
fn a_verdict_says_how_old_the_status_is_that_it_rests_on() {
    let folder = acquainted();
    issued(&folder, "");
    let line = "agent cred verify badge --home bob";
    let told = folder.run(&format!("{line} --json")).exits(0).json();
    let time = told["revocationAsOf"].as_str().unwrap_or_else(|| panic!("{told}")).to_owned();
    let text = folder.run(line).exits(0).text().to_owned();
    assert!(text.contains(&format!("not revoked as of the list of {time}")), "{text}");
    let fresh = |line: &str| folder.run(&format!("{line} --max-status-age 3600")).exits(0);
    fresh(line);
    // Revoked since, of which bob has heard nothing: an old list does not do for who wants a fresh one.
    agent(&folder, "cred revoke badge --home alice").exits(0);
    let old = format!("--max-status-age 3600 --at {}", hours_from_now(2));
    assert_eq!(reason(&folder, &format!("cred verify badge --home bob {old}")), "stale-status");
    assert_eq!(
        reason(&folder, &format!("cred verify badge --status-if-known --home bob {old}")),
        "stale-status"
    );
    assert_eq!(reason(&folder, &format!("cred verify badge --home alice {old}")), "revoked");

    granted(&folder, "");
    signed(&folder, CALL);
    let alice = did(&folder, "alice");
    let chain = folder.run("agent delegate verify chain --home bob --json").exits(0).json();
    assert!(chain["revocationAsOf"].is_string(), "{chain}");
    assert!(
        folder.run("agent delegate verify chain --home bob").exits(0).text().contains("as of the list of")
    );
    assert_eq!(reason(&folder, &format!("delegate verify chain --home bob {old}")), "stale-status");
    let act = format!("act verify act --aud did:web:bank.example --trust {alice} --home bob");
    let taken = folder.run(&format!("agent {act} --max-status-age 3600 --json")).exits(0).json();
    assert!(taken["revocationAsOf"].is_string(), "{taken}");

    // A credential without a status has none that is old.
    let line = format!("cred issue --subject {} -o plain --irrevocable --home alice", did(&folder, "bob"));
    agent_with(&folder, &line, b"{}").exits(0);
    let plain = folder.run(&format!("agent cred verify plain --home bob --json {old}")).exits(0).json();
    assert!(plain["revocationAsOf"].is_null(), "{plain}");
    assert!(folder.run("agent cred verify plain --home bob").exits(0).text().contains("cannot be revoked"));
}

#[test]
fn a_stale_status_takes_no_call() {
    let folder = acquainted();
    granted(&folder, "");
    std::thread::sleep(std::time::Duration::from_millis(2100));
    signed(&folder, CALL);
    let act =
        format!("act verify act --aud did:web:bank.example --trust {} --home bob", did(&folder, "alice"));
    assert_eq!(reason(&folder, &format!("{act} --max-status-age 1")), "stale-status");
    folder.run(&format!("agent {act}")).exits(0);
}

#[test]
fn an_unknown_status_that_is_let_pass_is_said() {
    let folder = acquainted();
    let line = format!("cred issue --subject {} -o badge --home alice", did(&folder, "bob"));
    agent_with(&folder, &line, b"{}").exits(0);
    let line = "agent cred verify badge --status-if-known --home bob";
    let text = folder.run(line).exits(0).text().to_owned();
    assert!(text.contains("status NOT checked"), "{text}");
    assert_eq!(folder.run(&format!("{line} --json")).exits(0).json()["revocation"], "not-checked");
}

#[test]
fn a_chain_says_that_nobody_asked_for_its_root() {
    let folder = acquainted();
    granted(&folder, "");
    let text = |options: &str| {
        folder.run(&format!("agent delegate verify chain --home bob {options}")).exits(0).text().to_owned()
    };
    assert!(text("").contains("root NOT checked"), "{}", text(""));
    let rooted = text(&format!("--root {}", did(&folder, "alice")));
    assert!(!rooted.contains("NOT checked"), "{rooted}");
}

/// So many hours from now, as `--at` takes it.
fn hours_from_now(hours: u64) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    gambeson_identity::Timestamp(now + hours * 3600).to_string()
}

#[test]
fn what_was_revoked_stays_so_when_the_list_is_old() {
    let folder = acquainted();
    issued(&folder, "--hours 1000");
    let badge = folder.read("badge");
    issued(&folder, "--hours 1000 --force");
    folder.write("revoked", badge);
    // One that begins before the revocation and runs for long.
    agent(&folder, "cred status -o long --hours 1000 --home alice").exits(0);
    std::thread::sleep(std::time::Duration::from_millis(1100));
    agent(&folder, "cred revoke revoked --home alice").exits(0);
    agent(&folder, "cred status -o list --force --home alice").exits(0);
    folder.run("agent cred status --add list --home bob").exits(0);
    let later = format!("--at {}", hours_from_now(169));
    for home in ["alice", "bob"] {
        for asked in ["", "--status-if-known"] {
            let line = format!("cred verify revoked {asked} --home {home}");
            assert_eq!(reason(&folder, &line), "revoked");
            assert_eq!(reason(&folder, &format!("{line} {later}")), "revoked", "{home} {asked}");
        }
        // Of what is not revoked the list tells nothing any more.
        assert_eq!(reason(&folder, &format!("cred verify badge --home {home} {later}")), "unknown-status");
        folder.run(&format!("agent cred verify badge --status-if-known --home {home} {later}")).exits(0);
    }
    // The older list, which still holds, takes nothing back.
    assert_eq!(reason(&folder, &format!("cred status --add long --home bob {later}")), "stale-status");
    assert_eq!(reason(&folder, &format!("cred verify revoked --home bob {later}")), "revoked");
    // A newer one takes the place of the one that ended.
    agent(&folder, &format!("cred status -o list --force --home alice {later}")).exits(0);
    folder.run(&format!("agent cred status --add list --home bob {later}")).exits(0);
    folder.run(&format!("agent cred verify badge --home bob {later}")).exits(0);
    assert_eq!(reason(&folder, &format!("cred verify revoked --home bob {later}")), "revoked");
    // What is signed for others is known to the signer too.
    folder.run(&format!("agent cred verify badge --home alice {later}")).exits(0);
    assert_eq!(reason(&folder, &format!("cred verify revoked --home alice {later}")), "revoked");
}

#[test]
fn a_list_whose_signature_ends_before_it_does_keeps_what_it_revokes() {
    use gambeson_identity::jose::Jws;
    use gambeson_identity::vc::{
        Credential, MIN_ENTRIES, StatusEntry, StatusList, StatusListCredential, StatusPurpose,
    };
    use gambeson_identity::{Agent, CardContent, CardLog, MasterSeed, Role, Timestamp};

    let folder = two();
    let now = Timestamp(std::time::UNIX_EPOCH.elapsed().unwrap().as_secs());
    let carol = Agent::from_seed(MasterSeed::from_bytes(&[3; 32]));
    let card = carol.first_card(now, now.after(YEAR), &CardContent::default()).unwrap();
    folder.write("carol.card", CardLog::new(card).unwrap().to_lines());
    folder.run("agent card --home bob --add carol.card").exits(0);
    let url = format!("{}/status/1", carol.did());
    let badge = |index| {
        let entry = StatusEntry { list: url.clone(), index, purpose: StatusPurpose::Revocation };
        let subject = serde_json::json!({"id": did(&folder, "bob"), "level": 3});
        Credential::builder().valid(now, now.after(YEAR)).status(&entry).subject(subject).issue(&carol)
    };
    folder.write("badge", badge(7).unwrap());
    folder.write("revoked", badge(8).unwrap());
    let mut list = StatusList::new(StatusPurpose::Revocation, MIN_ENTRIES).unwrap();
    list.set(8, true).unwrap();
    let subject = serde_json::json!({
        "type": "BitstringStatusList", "statusPurpose": "revocation", "encodedList": list.encode(),
    });
    let signed = |name: &str, value: serde_json::Value| {
        // By hand: the door of lists gives each an end.
        let list = serde_json::json!({
            "@context": ["https://www.w3.org/ns/credentials/v2"], "id": url,
            "type": ["VerifiableCredential", "BitstringStatusListCredential"],
            "issuer": carol.did().as_str(), "validFrom": now.to_string(), name: value, "credentialSubject": subject,
        });
        let kid = carol.key_url(Role::Signing).to_string();
        let header = serde_json::json!({"typ": "vc+jwt", "cty": "vc", "kid": kid});
        Jws::sign(carol.key(Role::Signing), header.as_object().unwrap().clone(), list.to_string().as_bytes())
            .unwrap()
    };
    // Without validUntil: only the token ends.
    let end = now.after(3600);
    let token = signed("exp", end.0.into());
    folder.write("list", &token);
    let cards = folder.read("carol.card");
    let mut store = gambeson_identity::CardStore::default();
    store.add(CardLog::verify(&cards).unwrap()).unwrap();
    let verified = StatusListCredential::verify(&token, &store, now).unwrap();
    assert_eq!(verified.validity(), (Some(now), Some(end)));
    folder.run("agent cred status --add list --home bob").exits(0);
    folder.run("agent cred verify badge --home bob").exits(0);
    for (asked, later) in [("", 0), ("--status-if-known", 0), ("", 2), ("--status-if-known", 2)] {
        let line = format!("cred verify revoked {asked} --home bob --at {}", hours_from_now(later));
        assert_eq!(reason(&folder, &line), "revoked", "{asked} in {later} hours");
    }
    // Of what it does not revoke it tells nothing when its signature is over.
    let later = hours_from_now(2);
    assert_eq!(reason(&folder, &format!("cred verify badge --home bob --at {later}")), "unknown-status");
    folder.run(&format!("agent cred verify badge --status-if-known --home bob --at {later}")).exits(0);
}

#[test]
fn an_old_list_under_a_key_that_was_revoked_does_not_hold() {
    let folder = acquainted();
    issued(&folder, "--hours 1000");
    let later = format!("--at {}", hours_from_now(169));
    agent(&folder, "rotate signing --compromised --home alice").exits(0);
    assert_eq!(reason(&folder, &format!("cred status --add list --home alice {later}")), "key-revoked");
}

#[test]
fn no_entry_of_a_list_is_given_out_twice() {
    let folder = acquainted();
    issued(&folder, "");
    let mut list: Value = serde_json::from_slice(&folder.read("alice/status/list.json")).unwrap();
    list["given"] =
        (0..65_536).map(|index| (index.to_string(), 1.into())).collect::<serde_json::Map<_, _>>().into();
    folder.write("alice/status/list.json", list.to_string());
    let line = format!("cred issue --subject {} -o more --home alice", did(&folder, "bob"));
    agent_with(&folder, &line, b"{}").exits(3).tells("the status list is full");
}

#[test]
fn a_status_that_nobody_here_knows_is_refused_unless_that_is_said() {
    let folder = acquainted();
    let line = format!("cred issue --subject {} -o badge --home alice", did(&folder, "bob"));
    agent_with(&folder, &line, br#"{"level": 3}"#).exits(0);
    assert_eq!(reason(&folder, "cred verify badge --home bob"), "unknown-status");
    agent(&folder, "cred verify badge --status-if-known --home bob").exits(0);
    let line = format!("{line} --force --irrevocable");
    agent_with(&folder, &line, br#"{"level": 3}"#).exits(0);
    agent(&folder, "cred verify badge --home bob").exits(0);
    agent(&folder, "cred revoke badge --home alice").exits(2).tells("no status");
    agent_with(&folder, &line, b"[]").exits(3);
    agent_with(&folder, &line, br#"{"id": "did:web:example.com"}"#).exits(2);
    agent_with(&folder, "cred issue --subject bob --home alice", b"{}").exits(2);
}

#[test]
fn a_data_integrity_proof_is_a_credential_too() {
    let folder = acquainted();
    issued(&folder, "--data-integrity");
    let text: Value = serde_json::from_slice(&folder.read("badge")).unwrap();
    assert_eq!(text["proof"]["cryptosuite"], "mldsa44-jcs-2024");
    folder.run("agent cred verify badge --home bob").exits(0);
    folder.write("badge", text.to_string().replace("\"level\":3", "\"level\":4"));
    assert_eq!(reason(&folder, "cred verify badge --home bob"), "bad-signature");
}

const CALL: &[u8] = br#"{"method": "tools/call", "name": "pay", "arguments": {"amount": 5}}"#;

/// Alice lets bob pay up to 10 at the bank, twice; both agents know the status list of alice.
fn granted(folder: &Folder, options: &str) {
    let line = format!(
        "delegate grant --to {} --action tools/call/* --resource did:web:bank.example --at-most /amount=10 --calls 2 \
         -o chain --force --home alice {options}",
        did(folder, "bob")
    );
    agent(folder, &line).exits(0);
    agent(folder, "cred status -o list --force --home alice").exits(0);
    folder.run("agent cred status --add list --home bob").exits(0);
}

/// Bob signs a call under the chain.
fn signed(folder: &Folder, call: &[u8]) {
    agent_with(folder, "act sign --aud did:web:bank.example --under chain -o act --force --home bob", call)
        .exits(0);
}

#[test]
fn a_call_that_its_chain_does_not_permit_is_signed_with_a_warning() {
    let folder = acquainted();
    granted(&folder, "");
    let sign = |audience: &str, call: &[u8]| {
        agent_with(
            &folder,
            &format!("act sign --aud {audience} --under chain -o act --force --home bob"),
            call,
        )
        .exits(0)
        .stderr
    };
    let pay = |amount: u32| {
        format!("{{\"method\": \"tools/call\", \"name\": \"pay\", \"arguments\": {{\"amount\": {amount}}}}}")
    };
    let bank = "did:web:bank.example";
    assert_eq!(sign(bank, pay(5).as_bytes()), "");
    for told in [sign(bank, pay(11).as_bytes()), sign("did:web:other.example", pay(5).as_bytes())] {
        assert!(told.contains("warning: the delegation does not permit this call"), "{told}");
    }
    // The approval that a capability asks for comes to the verifier.
    granted(&folder, &format!("--approval-by {}", did(&folder, "alice")));
    assert_eq!(sign(bank, pay(5).as_bytes()), "");
}

/// One resource reads as one, and one grant as one.
#[test]
fn what_a_link_grants_reads_as_one_however_it_is_written() {
    let folder = acquainted();
    let bob = did(&folder, "bob");
    let mut command = folder.command();
    command.args([
        "agent",
        "delegate",
        "grant",
        "--to",
        &bob,
        "--home",
        "alice",
        "-o",
        "odd",
        "--irrevocable",
    ]);
    command.env(PASSPHRASE.0, PASSPHRASE.1);
    command.args([
        "--action",
        "tools/call/a at x, tools/call/pay",
        "--resource",
        "bank.example, mint.example",
    ]);
    crate::program::finish(command, b"").exits(0);
    let text = folder.run("agent delegate show odd --home alice").exits(0);
    let line = "\"tools/call/a at x, tools/call/pay\" at \"bank.example, mint.example\"";
    assert!(text.text().contains(line), "{}", text.text());
}

#[test]
fn a_delegation_permits_what_it_grants_and_no_more() {
    let folder = acquainted();
    for condition in ["--at-most amount=10", "--one-of amount=[1]", "--prefix path=/home/"] {
        let line = format!(
            "delegate grant --home alice --to {} --action a --resource b {condition} -o no",
            did(&folder, "bob")
        );
        agent(&folder, &line).exits(2).tells("begins with /");
    }
    granted(&folder, "");
    let alice = did(&folder, "alice");
    folder.run(&format!("agent delegate verify chain --root {alice} --home bob")).exits(0);
    let shown = folder.run("agent delegate show chain --home bob --json").exits(0).json();
    assert_eq!(shown["path"], serde_json::json!([alice, did(&folder, "bob")]));
    assert_eq!(shown["rootChecked"], false);
    assert_eq!((&shown["links"][0]["maxCalls"], &shown["links"][0]["maxDepth"]), (&2.into(), &0.into()));
    let text = folder.run("agent delegate show chain --home bob").exits(0);
    assert!(text.text().contains("tools/call/* at did:web:bank.example"), "{}", text.text());
    let other = format!("delegate verify chain --root {} --home bob", did(&folder, "bob"));
    assert_eq!(reason(&folder, &other), "untrusted-root");

    let verify = format!("act verify act --aud did:web:bank.example --trust {alice} --home alice");
    for _ in 0..2 {
        signed(&folder, CALL);
        let permitted = agent(&folder, &format!("{verify} --json")).exits(0).json();
        assert_eq!(
            (&permitted["root"], &permitted["action"]),
            (&alice.as_str().into(), &"tools/call/pay".into())
        );
    }
    signed(&folder, CALL);
    assert_eq!(reason(&folder, &verify), "over-count");
    signed(&folder, br#"{"method": "tools/call", "name": "pay", "arguments": {"amount": 11}}"#);
    assert_eq!(reason(&folder, &verify), "not-permitted");
    signed(&folder, br#"{"method": "tools/list"}"#);
    assert_eq!(reason(&folder, &verify), "not-permitted");
    signed(&folder, CALL);
    let other = verify.replace(&alice, &did(&folder, "bob"));
    assert_eq!(reason(&folder, &other), "untrusted-root");
    folder.write("alice/ledger.json", "[]");
    agent(&folder, &verify).exits(3).tells("ledger.json");
}

#[test]
fn a_revoked_delegation_permits_nothing() {
    let folder = acquainted();
    granted(&folder, "");
    let alice = did(&folder, "alice");
    agent(&folder, "cred revoke chain --home alice").exits(0);
    signed(&folder, CALL);
    let verify = format!("act verify act --aud did:web:bank.example --trust {alice} --home alice");
    assert_eq!(reason(&folder, &verify), "revoked");
    assert_eq!(reason(&folder, "delegate verify chain --home alice"), "revoked");
}

#[test]
fn a_link_can_only_narrow() {
    let folder = acquainted();
    granted(&folder, "--depth 1");
    let alice = did(&folder, "alice");
    let grant = |options: &str| {
        format!(
            "delegate grant --to {alice} --resource did:web:bank.example --under chain -o more --force --home bob {options}"
        )
    };
    let narrow = "--action tools/call/pay --at-most /amount=5 --calls 1 --hours 1";
    agent(&folder, &grant(narrow)).exits(0);
    assert_eq!(String::from_utf8(folder.read("more")).unwrap().lines().count(), 2);
    agent(&folder, "cred status -o list2 --home bob").exits(0);
    folder.run("agent cred status --add list2 --home alice").exits(0);
    folder.run("agent delegate verify more --home alice").exits(0);
    for wide in [
        "--action tools/* --at-most /amount=5 --calls 1 --hours 1",
        "--action tools/call/pay --at-most /amount=11 --calls 1 --hours 1",
        "--action tools/call/pay --calls 1 --hours 1",
        "--action tools/call/pay --at-most /amount=5 --hours 1",
        "--action tools/call/pay --at-most /amount=5 --calls 1 --hours 48",
    ] {
        let refused = agent(&folder, &format!("{} --json", grant(wide))).exits(2).json();
        assert_eq!(refused["reason"], "widened", "{wide}");
    }
    let strange =
        format!("delegate grant --to {alice} --action x --resource y --under chain -o z --home alice --json");
    assert_eq!(agent(&folder, &strange).exits(2).json()["reason"], "wrong-delegate");
    for nonsense in ["--action *", "--action x --at-most 5", "--action x --budget 5"] {
        agent(&folder, &grant(nonsense)).exits(2);
    }
    folder.tamper("more");
    agent(&folder, "delegate verify more --home alice").exits(1);
}

#[test]
fn every_condition_has_an_option_and_is_shown() {
    let folder = acquainted();
    let (alice, bob) = (did(&folder, "alice"), did(&folder, "bob"));
    let line = format!(
        "delegate grant --to {bob} --action tools/call/pay --resource did:web:bank.example --irrevocable -o chain \
         --at-most /amount=10 --at-least /amount=2.5 --one-of /currency=[\"EUR\",\"USD\"] --one-of /a=b=[1,null] \
         --prefix /to/iban=DE --prefix /note==x --approval-by {alice} --home alice"
    );
    agent(&folder, &line).exits(0);
    let shown = folder.run("agent delegate show chain --home bob --json").exits(0).json();
    assert_eq!(
        shown["links"][0]["capabilities"][0]["caveats"],
        serde_json::json!([
            {"argument": "/amount", "atMost": 10},
            {"argument": "/amount", "atLeast": 2.5},
            {"argument": "/currency", "oneOf": ["EUR", "USD"]},
            {"argument": "/a=b", "oneOf": [1, null]},
            {"argument": "/to/iban", "prefix": "DE"},
            {"argument": "/note", "prefix": "=x"},
            {"approval": [alice]},
        ])
    );
    let text = folder.run("agent delegate show chain --home bob").exits(0);
    for told in [
        "only if \"/amount\" is at most 10",
        "only if \"/amount\" is at least 2.5",
        "only if \"/currency\" is one of [\"EUR\",\"USD\"]",
        "only if \"/to/iban\" is a text that begins with \"DE\"",
        &format!("only with an approval by {alice}"),
    ] {
        assert!(text.text().contains(told), "{told}: {}", text.text());
    }
    for nonsense in [
        "--at-least /amount",
        "--at-least /amount=much",
        "--one-of /currency=EUR",
        "--one-of /currency=[EUR]",
        "--one-of /currency=[]",
        "--one-of /currency=[{\"a\":1,\"a\":2}]",
        "--one-of currency=[1]",
        "--prefix /path",
        "--prefix path=x",
        "--prefix /path=/home/../root",
        "--at-most ~2=1",
    ] {
        let line = format!("delegate grant --to {bob} --action x --resource y -o z {nonsense} --home alice");
        agent(&folder, &line).exits(2);
        assert!(!folder.exists("z"), "{nonsense}");
    }
}

#[test]
fn a_condition_permits_what_meets_it_and_no_more() {
    let folder = acquainted();
    let (alice, bob) = (did(&folder, "alice"), did(&folder, "bob"));
    let verify = format!("act verify act --aud did:web:bank.example --trust {alice} --home alice");
    let mut ran = 0;
    for (option, good, bad) in [
        ("--at-most /n=10", "10", "10.5"),
        ("--at-least /n=2", "2", "1"),
        ("--one-of /n=[1,\"x\"]", "\"x\"", "\"y\""),
        ("--prefix /n=/home/", "\"/home/a\"", "\"/root\""),
        ("--prefix /n=/home/", "\"/home/a/b\"", "\"/home/../root\""),
        ("--prefix /n=/home/a", "\"/home/a/b\"", "\"/home/ab\""),
    ] {
        let line = format!(
            "delegate grant --to {bob} --action tools/call/pay --resource did:web:bank.example --irrevocable -o chain \
             --force --home alice {option}"
        );
        agent(&folder, &line).exits(0);
        let call =
            |n: &str| format!(r#"{{"method": "tools/call", "name": "pay", "arguments": {{"n": {n}}}}}"#);
        signed(&folder, call(good).as_bytes());
        agent(&folder, &verify).exits(0);
        for bad in [bad, "true"] {
            signed(&folder, call(bad).as_bytes());
            assert_eq!(reason(&folder, &verify), "not-permitted", "{option} {bad}");
        }
        ran += 1;
    }
    assert_eq!(ran, 6);
}

#[test]
fn an_approval_is_for_one_exact_action() {
    let folder = acquainted();
    let (alice, bob) = (did(&folder, "alice"), did(&folder, "bob"));
    granted(&folder, &format!("--approval-by {alice}"));
    signed(&folder, CALL);
    let verify = format!("act verify act --aud did:web:bank.example --trust {alice} --home alice");
    assert_eq!(reason(&folder, &verify), "not-approved");
    let approved =
        agent(&folder, &format!("approve act --actor {bob} -o yes --home alice --json")).exits(0).json();
    assert_eq!(approved["action"], "tools/call/pay");
    // Before the signature it is shown, arguments and audience too.
    let told = agent(&folder, &format!("approve act --actor {bob} -o yes --force --home alice")).exits(0);
    for line in ["tools/call/pay", "\"amount\"", "did:web:bank.example", &bob] {
        assert!(told.stderr.contains(line), "{line}: {}", told.stderr);
    }
    signed(&folder, CALL);
    assert_eq!(reason(&folder, &format!("{verify} --approval yes")), "not-approved");
    agent(&folder, &format!("approve act --actor {bob} -o yes --force --home alice")).exits(0);
    let permitted = agent(&folder, &format!("{verify} --approval yes --json")).exits(0).json();
    assert_eq!(permitted["approvers"][0], alice.as_str());
    agent(&folder, &format!("approve chain --actor {bob} --home alice")).exits(3);
}

const REQUEST: &[u8] = b"POST /pay?id=7 HTTP/1.1\r\nHost: bank.example\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{\"amount\":5}";

#[test]
fn a_signed_request_is_taken_once() {
    let folder = acquainted();
    agent_with(&folder, "http sign -o request --home alice", REQUEST).exits(0);
    let text = String::from_utf8(folder.read("request")).unwrap();
    assert!(text.contains("\r\nsignature: ") && text.ends_with("\r\n\r\n{\"amount\":5}"), "{text}");
    let verified = folder.run("agent http verify request --home bob --json").exits(0).json();
    assert_eq!(verified["uri"], "https://bank.example/pay?id=7");
    assert_eq!(reason(&folder, "http verify request --home bob"), "replayed");
    agent_with(&folder, "http sign -o request --force --home alice", REQUEST).exits(0);
    assert_eq!(reason(&folder, "http verify request --capability --home bob"), "wrong-purpose");
    let text = String::from_utf8(folder.read("request")).unwrap();
    for (change, expected) in [
        (text.replace("\"amount\":5", "\"amount\":6"), "wrong-digest"),
        (text.replace("/pay?id=7", "/pay?id=8"), "bad-signature"),
        (text.replacen("POST", "PUT", 1), "bad-signature"),
        (String::from_utf8(REQUEST.to_vec()).unwrap(), "unsecured"),
        // A server would read less, or wait for more.
        (text.replace("Length: 12", "Length: 2"), "bad-form"),
        (text.replace("Length: 12", "Length: 120"), "bad-form"),
        (text.replace("{\"amount\":5}", ""), "bad-form"),
        (text.replace("Content-Length: 12", "Transfer-Encoding: chunked"), "bad-form"),
        (text.replace("Host: bank.example", "Host: bank.example\r\nHost: evil.example"), "bad-form"),
        (text.replace("Content-Length", "Content-Encoding: gzip\r\nContent-Length"), "uncovered"),
        // It would wait for the next request, and take these bytes for it.
        (text.replace("Content-Length: 12\r\n", ""), "bad-form"),
    ] {
        folder.write("changed", change);
        assert_eq!(reason(&folder, "http verify changed --home bob"), expected);
    }
    folder.write("changed", "not a request");
    agent(&folder, "http verify changed --home bob").exits(3);
    agent_with(&folder, "http sign --home alice", b"POST /pay HTTP/1.1\r\n\r\n")
        .exits(3)
        .tells("no field Host");
    let short = b"POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 2\r\n\r\n{}\n";
    agent_with(&folder, "http sign -o short --home alice", short).exits(2).tells("Content-Length");
    agent_with(&folder, "http sign --capability -o request --force --home alice", REQUEST).exits(0);
    folder.run("agent http verify request --capability --home bob").exits(0);
}

#[test]
fn a_request_whose_digest_is_wrong_is_not_signed() {
    let folder = acquainted();
    let text = String::from_utf8(REQUEST.to_vec()).unwrap();
    let wrong =
        "Host: bank.example\r\nContent-Digest: sha-256=:3DMgKEGTNpEQGPXGJXJ6qTfKzRgCBBLIkZgkPL3Go0c=:";
    for message in [
        text.replace("Host: bank.example", wrong),
        // Without content, too.
        format!("GET / HTTP/1.1\r\n{wrong}\r\n\r\n"),
    ] {
        agent_with(&folder, "http sign -o signed --home alice", message.as_bytes())
            .exits(2)
            .tells("content-digest");
        assert!(!folder.exists("signed"));
    }
}

#[test]
fn signatures_of_others_beside_ours_do_not_count() {
    let folder = acquainted();
    let (alice, bob) = (did(&folder, "alice"), did(&folder, "bob"));
    agent_with(&folder, "http sign -o request --home alice", REQUEST).exits(0);
    let text = String::from_utf8(folder.read("request")).unwrap();
    let proxy = "signature-input: proxy=(\"@method\");created=1;keyid=\"proxy\";alg=\"rsa-pss-sha512\"\r\nsignature: proxy=:AAAA:\r\n\r\n";
    folder.write("passed", text.replacen("\r\n\r\n", &format!("\r\n{proxy}"), 1));
    folder.run("agent http verify passed --home bob").exits(0);

    // A label stands for one signature.
    agent_with(&folder, "http sign -o again --home bob", text.as_bytes()).exits(2).tells("label");
    agent_with(&folder, "http sign --label second --tag pay -o both --home bob", text.as_bytes()).exits(0);
    let told = folder.run("agent http verify both --home bob").exits(1);
    assert!(told.text().contains("select one by tag or signer"), "{}", told.text());
    let help = folder.run("agent http verify --help").exits(0);
    let help = help.text();
    assert!(help.contains("--tag") && help.contains("--signer"), "{help}");
    let by = |options: &str| {
        folder.run(&format!("agent http verify both {options} --home bob --json")).exits(0).json()
    };
    assert!(by("--tag pay")["signer"].as_str().unwrap().starts_with(&bob));
    agent_with(&folder, "http sign -o request --force --home alice", REQUEST).exits(0);
    let text = String::from_utf8(folder.read("request")).unwrap();
    agent_with(&folder, "http sign --label second --tag pay -o both --force --home bob", text.as_bytes())
        .exits(0);
    assert!(by(&format!("--signer {alice}"))["signer"].as_str().unwrap().starts_with(&alice));
    assert_eq!(reason(&folder, "http verify request --tag pay --home bob"), "unsecured");
}

#[test]
fn the_host_in_other_letters_and_with_its_port_is_the_same() {
    let folder = acquainted();
    for (sent, received) in [
        ("Host: bank.example", "host: BANK.example"),
        ("Host: bank.example", "host: bank.example:443"),
        ("Host: Bank.Example:443", "Host: bank.example"),
    ] {
        let text = String::from_utf8(REQUEST.to_vec()).unwrap().replace("Host: bank.example", sent);
        agent_with(&folder, "http sign -o request --force --home alice", text.as_bytes()).exits(0);
        let text = String::from_utf8(folder.read("request")).unwrap();
        folder.write("passed", text.replace(sent, received));
        folder.run("agent http verify passed --home bob").exits(0);
        folder.write("passed", text.replace(sent, "Host: bank.example:8443"));
        assert_eq!(reason(&folder, "http verify passed --home bob"), "bad-signature");
    }
    // What is no host would move the border between host and path.
    for host in
        ["bank.example/pay", "bank.example?a", "bank.example#", "me@bank.example", "bank.example\\pay", ""]
    {
        let text = String::from_utf8(REQUEST.to_vec()).unwrap().replace("bank.example", host);
        agent_with(&folder, "http sign -o bad --home alice", text.as_bytes()).exits(3).tells("Host");
    }
}

/// Signed messages can be verified: the signer has the bounds of the verifier.
#[test]
fn what_would_not_be_verified_is_not_signed() {
    let folder = acquainted();
    let text = String::from_utf8(REQUEST.to_vec()).unwrap();
    for host in ["[::1", "h:99999", "a..b", ".a", "a..", "[fe80::1%eth0]", "h:https", "[::1]x"] {
        let text = text.replace("bank.example", host);
        agent_with(&folder, "http sign -o bad --home alice", text.as_bytes()).exits(2).tells("host");
    }
    for host in ["[::1]", "h:65535", "a.", "[2001:db8::1]:8443"] {
        let text = text.replace("bank.example", host);
        agent_with(&folder, "http sign -o good --force --home alice", text.as_bytes()).exits(0);
        folder.run("agent http verify good --home bob").exits(0);
    }
    // Three are there, and three are added.
    for (more, code) in [(126, 0), (128, 0), (250, 0), (251, 2), (253, 2), (254, 3)] {
        let text = text.replacen("\r\n", &format!("\r\n{}", "X-A: b\r\n".repeat(more)), 1);
        agent_with(&folder, "http sign -o good --force --home alice", text.as_bytes()).exits(code);
        if code == 0 {
            folder.run("agent http verify good --home bob").exits(0);
        }
    }
    let long = "a".repeat(33_000);
    for options in [format!("--label {long}"), format!("--tag {long}")] {
        agent_with(&folder, &format!("http sign {options} -o bad --home alice"), REQUEST)
            .exits(2)
            .tells("at most");
    }
    // Nobody could tell the second from the first.
    agent_with(&folder, "http sign -o good --force --home alice", REQUEST).exits(0);
    let once = folder.read("good");
    agent_with(&folder, "http sign --label second -o bad --home alice", &once).exits(2).tells("tag");
    let large = format!(
        "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 4194000\r\n\r\n{}",
        "x".repeat(4_194_000)
    );
    agent_with(&folder, "http sign -o bad --home alice", large.as_bytes()).exits(2);
    assert!(!folder.exists("bad"));
}

const RESPONSE: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{\"paid\":true}";

#[test]
fn a_signed_response_is_the_answer_to_one_request() {
    let folder = acquainted();
    folder.write("request", REQUEST);
    let signed =
        agent_with(&folder, "http sign --request request -o response --home alice --json", RESPONSE).exits(0);
    let signed = signed.json();
    assert_eq!((&signed["status"], &signed["request"]["method"]), (&200.into(), &"POST".into()));
    let text = String::from_utf8(folder.read("response")).unwrap();
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.ends_with("\r\n\r\n{\"paid\":true}"), "{text}");
    for component in ["\"@status\"", "\"@method\";req", "\"@target-uri\";req", "\"content-digest\""] {
        assert!(text.contains(component), "{component}: {text}");
    }
    let verify = "http verify response --request request --home bob";
    let verified = folder.run(&format!("agent {verify} --json")).exits(0).json();
    assert_eq!(
        (&verified["status"], &verified["request"]["uri"]),
        (&200.into(), &"https://bank.example/pay?id=7".into())
    );
    assert!(verified["signer"].as_str().unwrap().starts_with(&did(&folder, "alice")));
    assert_eq!(reason(&folder, verify), "replayed");

    let sign = |options: &str| {
        let line = format!("http sign {options} -o response --force --home alice");
        agent_with(&folder, &line, RESPONSE).exits(0);
        String::from_utf8(folder.read("response")).unwrap()
    };
    let text = sign("--request request");
    for (change, expected) in [
        (text.replace("200 OK", "201 Created"), "bad-signature"),
        (text.replace("true", "1234"), "wrong-digest"),
        (text.replace("application/json", "application/text"), "bad-signature"),
        (String::from_utf8(RESPONSE.to_vec()).unwrap(), "unsecured"),
    ] {
        folder.write("changed", change);
        assert_eq!(reason(&folder, "http verify changed --request request --home bob"), expected);
    }
    for (from, to) in [("/pay?id=7", "/pay?id=8"), ("POST", "PUT"), ("bank.example", "bonk.example")] {
        folder.write("other", String::from_utf8(REQUEST.to_vec()).unwrap().replace(from, to));
        assert_eq!(reason(&folder, "http verify response --request other --home bob"), "bad-signature");
    }
    // Whoever does not have the request cannot judge the signature, and must not.
    assert_eq!(reason(&folder, "http verify response --home bob"), "bad-form");
    let signer = format!("{verify} --signer {}", did(&folder, "bob"));
    assert_eq!(reason(&folder, &signer), "other-signer");
    assert_eq!(reason(&folder, &format!("{verify} --capability")), "wrong-purpose");
    let told = folder.run(&format!("agent {verify}")).exits(0);
    assert!(told.text().contains("response 200 to POST https://bank.example/pay?id=7"), "{}", told.text());

    // A response that was signed by itself is no answer to a request, but still one of its signer.
    sign("");
    assert_eq!(reason(&folder, verify), "uncovered");
    let alone = folder.run("agent http verify response --home bob --json").exits(0).json();
    assert_eq!((&alone["status"], &alone["request"]), (&200.into(), &serde_json::Value::Null));
    sign("--capability --request request");
    folder.run(&format!("agent {verify} --capability")).exits(0);
}

#[test]
fn components_that_a_verifier_requires_are_signed() {
    let folder = acquainted();
    let request = String::from_utf8(REQUEST.to_vec()).unwrap();
    let asking = request.replacen("\r\n", "\r\nAuthorization: Bearer secret\r\n", 1);
    let sign = |more: &str| {
        let line = format!("http sign {more} -o signed --force --home alice");
        agent_with(&folder, &line, asking.as_bytes())
    };
    let verify = "http verify signed --required authorization --home bob";
    sign("").exits(0);
    assert_eq!(reason(&folder, verify), "uncovered");
    sign("--required authorization").exits(0);
    // A refusal takes nothing: the signature is good afterwards.
    assert_eq!(reason(&folder, &format!("{verify} --required @query")), "uncovered");
    folder.run(&format!("agent {verify}")).exits(0);
    let text = String::from_utf8(folder.read("signed")).unwrap();
    folder.write("signed", text.replace("Bearer secret", "Bearer stolen"));
    assert_eq!(reason(&folder, verify), "bad-signature");
    sign("--required x-missing").exits(2).tells("x-missing");
    sign("--required Not-a-component").exits(2).tells("--required");
}

#[test]
fn a_response_to_one_body_is_no_answer_to_another() {
    let folder = acquainted();
    folder.write("plain", REQUEST);
    // Of a request without signature and digest nothing but method and target can be bound.
    agent_with(&folder, "http sign --request plain -o response --home alice", RESPONSE).exits(0);
    folder.run("agent http verify response --request plain --home bob").exits(0);
    let other = String::from_utf8(REQUEST.to_vec()).unwrap().replace("\"amount\":5", "\"amount\":6");
    agent_with(&folder, "http sign -o signed --home bob", other.as_bytes()).exits(0);
    assert_eq!(reason(&folder, "http verify response --request signed --home bob"), "uncovered");
    let signed = String::from_utf8(folder.read("signed")).unwrap();
    let digest =
        signed.lines().find(|line| line.to_ascii_lowercase().starts_with("content-digest:")).unwrap();
    folder.write("digested", other.replacen("\r\n", &format!("\r\n{digest}\r\n"), 1));
    assert_eq!(reason(&folder, "http verify response --request digested --home bob"), "uncovered");
}

/// As it is when it is verified itself.
#[test]
fn the_request_that_is_answered_is_read_as_servers_read_it() {
    let folder = acquainted();
    agent_with(&folder, "http sign -o request --home bob", REQUEST).exits(0);
    let sign = || agent_with(&folder, "http sign --request asked -o response --force --home alice", RESPONSE);
    let verify = "http verify response --request asked --home bob";
    let asked = String::from_utf8(folder.read("request")).unwrap();
    folder.write("asked", &asked);
    sign().exits(0);
    for (change, expected) in [
        (asked.replace("\"amount\":5", "\"amount\":6"), "wrong-digest"),
        (asked.replace("{\"amount\":5}", "").replace("Length: 12", "Length: 0"), "wrong-digest"),
        (asked.replace("Length: 12", "Length: 2"), "bad-form"),
        (asked.replace("Length: 12", "Length: 120"), "bad-form"),
        (asked.replace("{\"amount\":5}", ""), "bad-form"),
        (asked.replace("Content-Length: 12", "Transfer-Encoding: chunked"), "bad-form"),
        (asked.replace("Content-Length: 12", "Content-Length: 12\r\nTransfer-Encoding: chunked"), "bad-form"),
        (asked.replace("Host: bank.example", "Host: bank.example\r\nHost: evil.example"), "bad-form"),
        (asked.replace("Content-Length: 12\r\n", ""), "bad-form"),
    ] {
        folder.write("asked", &change);
        assert_eq!(reason(&folder, verify), expected, "{change}");
        sign().exits(2);
        folder.write("asked", &asked);
        sign().exits(0);
    }
    folder.run(&format!("agent {verify}")).exits(0);
}

#[test]
fn what_is_no_response_to_a_request_is_refused() {
    let folder = acquainted();
    folder.write("request", REQUEST);
    folder.write("response", RESPONSE);
    for (line, code, told) in [
        ("http sign request --request request --home alice", 2, "request is a request"),
        ("http sign response --request response --home alice", 3, "is a response, not a request"),
        ("http sign response --request missing --home alice", 3, "missing"),
        ("http sign - --request - --home alice", 2, "standard input"),
        ("http verify request --request request --home alice", 2, "request is a request"),
        ("http verify response --request response --home alice", 3, "is a response, not a request"),
    ] {
        agent(&folder, line).exits(code).tells(told);
    }
    for bad in
        ["HTTP/1.1", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 200 OK\r\na b: c\r\n\r\n"]
    {
        agent_with(&folder, "http sign --home alice", bad.as_bytes())
            .exits(3)
            .tells("not a message of HTTP/1.1");
    }
    // Nobody has a status of 0 to 99.
    let status = agent_with(&folder, "http sign --home alice --json", b"HTTP/1.1 099 OK\r\n\r\n").exits(2);
    assert!(status.stderr.contains("@status"), "{}", status.stderr);
}

#[test]
fn a_signed_agent_card_says_who_stands_for_it() {
    let folder = acquainted();
    agent_with(&folder, "a2a sign -o card --home alice", br#"{"name": "Teller", "version": "1.0.0"}"#)
        .exits(0);
    let alice = did(&folder, "alice");
    let verified =
        folder.run(&format!("agent a2a verify card --signer {alice} --home bob --json")).exits(0).json();
    assert_eq!(verified["agentCard"]["name"], "Teller");
    assert_eq!(
        reason(&folder, &format!("a2a verify card --signer {} --home bob", did(&folder, "bob"))),
        "wrong-issuer"
    );
    let text = String::from_utf8(folder.read("card")).unwrap();
    folder.write("changed", text.replace("Teller", "Robber"));
    assert_eq!(reason(&folder, "a2a verify changed --home bob"), "bad-signature");
    folder.write("changed", br#"{"name": "Teller"}"#);
    assert_eq!(reason(&folder, "a2a verify changed --home bob"), "unsecured");
    agent_with(&folder, "a2a sign --home alice", b"{}").exits(3);
}

/// An answer of `vc-api` to one request.
fn ask(address: &str, method: &str, target: &str, body: &str) -> (u16, Value) {
    ask_with(address, method, target, "Host: localhost\r\nContent-Type: application/json", body)
}

fn ask_with(address: &str, method: &str, target: &str, fields: &str, body: &str) -> (u16, Value) {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(address.trim_start_matches("http://")).unwrap();
    let head = format!("{method} {target} HTTP/1.1\r\n{fields}\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all((head + body).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap())
}

#[test]
fn the_vc_api_issues_and_verifies() {
    use std::io::{BufRead, BufReader};
    let folder = two();
    let alice = did(&folder, "alice");
    let mut command = folder.command();
    command
        .args(["agent", "vc-api", "--home", "alice", "--json"])
        .env("GAMBESON_PASSPHRASE", "correct horse");
    let mut server = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = serde_json::from_str::<Value>(&line).unwrap()["address"].as_str().unwrap().to_owned();
    let credential = serde_json::json!({"credential": {
        "@context": ["https://www.w3.org/ns/credentials/v2"],
        "type": ["VerifiableCredential"],
        "issuer": alice,
        "credentialSubject": {"id": "did:web:example.com"},
    }});
    let (status, issued) = ask(&address, "POST", "/credentials/issue", &credential.to_string());
    assert_eq!(
        (status, &issued["verifiableCredential"]["type"]),
        (201, &"EnvelopedVerifiableCredential".into())
    );
    let (status, verified) = ask(&address, "POST", "/credentials/verify", &issued.to_string());
    assert_eq!((status, &verified["verified"]), (200, &true.into()));
    let bad = credential.to_string().replace("https://www.w3.org/ns/credentials/v2", "https://example.com");
    assert_eq!(ask(&address, "POST", "/credentials/issue", &bad).0, 400);
    assert_eq!(ask(&address, "POST", "/presentations/verify", "{}").0, 400);
    assert_eq!(ask(&address, "GET", "/credentials/issue", "").0, 405);
    assert_eq!(ask(&address, "POST", "/elsewhere", "").0, 404);
    // What a page in a browser can send, and what one can whose name was let point here.
    for (status, fields) in [
        (415, "Host: localhost"),
        (415, "Host: localhost\r\nContent-Type: text/plain"),
        (403, "Host: evil.example\r\nContent-Type: application/json"),
        (403, "Host: localhost\r\nOrigin: https://evil.example\r\nContent-Type: application/json"),
    ] {
        let (found, _) = ask_with(&address, "POST", "/credentials/issue", fields, &credential.to_string());
        assert_eq!(found, status, "{fields}");
    }
    // Content may come in chunks, and its length is told once.
    for (status, framing, body) in [
        (
            201,
            "Transfer-Encoding: chunked",
            format!("{:x}\r\n{credential}\r\n0\r\n\r\n", credential.to_string().len()),
        ),
        (400, "Transfer-Encoding: gzip, chunked", "0\r\n\r\n".to_owned()),
        (400, "Content-Length: 2\r\nContent-Length: 3", "{}".to_owned()),
        (400, "Content-Length: 99999999", "{}".to_owned()),
    ] {
        use std::io::{Read, Write};
        let mut stream = std::net::TcpStream::connect(address.trim_start_matches("http://")).unwrap();
        let fields = format!("Host: localhost\r\nContent-Type: application/json\r\n{framing}");
        write!(stream, "POST /credentials/issue HTTP/1.1\r\n{fields}\r\n\r\n{body}").unwrap();
        let mut answer = String::new();
        // What was not read makes the end a reset.
        let _ = stream.read_to_string(&mut answer);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{framing}: {answer}");
    }
    server.kill().unwrap();
    server.wait().unwrap();
}

/// Content that a server or a client finds elsewhere than the verifier of the message.
#[test]
fn content_that_others_would_find_elsewhere_is_refused() {
    let folder = acquainted();
    let verify = |message: &str, request: &str| {
        folder.write("message", message);
        folder.run(&format!("agent http verify message --home bob {request}"))
    };
    agent_with(&folder, "http sign -o request --home alice", REQUEST).exits(0);
    let request = String::from_utf8(folder.read("request")).unwrap();
    let absolute = request.replace("POST /pay", "POST https://bank.example/pay");
    for host in ["Host: evil.example\r\n", "Host: \r\n", ""] {
        verify(&absolute.replace("Host: bank.example\r\n", host), "").exits(3).tells("Host");
    }
    verify(&absolute.replace("Host: bank.example", "Host: BANK.example:443"), "").exits(0);

    agent_with(&folder, "http sign -o response --home alice", RESPONSE).exits(0);
    let response = String::from_utf8(folder.read("response")).unwrap();
    let head = response.strip_suffix("{\"paid\":true}").unwrap();
    verify(&head.replace("Content-Length: 13", "Content-Length: 0"), "").exits(1);
    verify(&head.replace("Content-Length: 13\r\n", ""), "").exits(1);
    for status in ["100 Continue", "204 No Content", "304 Not Modified"] {
        let message = response.replace("200 OK", status);
        assert!(verify(&message, "").exits(1).text().contains("without content"));
        agent_with(&folder, "http sign --home alice", message.as_bytes()).exits(2).tells("without content");
    }
    folder.write("head", "HEAD /pay HTTP/1.1\r\nHost: bank.example\r\n\r\n");
    assert!(verify(&response, "--request head").exits(1).text().contains("without content"));
}

/// Without `--hours` a link ends with the one above it, where that ends before the usual 24 hours.
#[test]
fn a_link_without_hours_ends_with_its_parent() {
    let folder = acquainted();
    let (alice, bob) = (did(&folder, "alice"), did(&folder, "bob"));
    let first = format!(
        "delegate grant --to {bob} --action x --resource y --hours 2 --depth 1 --irrevocable -o chain"
    );
    let first = agent(&folder, &format!("{first} --home alice --json")).exits(0).json();
    let line =
        format!("delegate grant --to {alice} --action x --resource y --under chain --irrevocable --home bob");
    let second = agent(&folder, &format!("{line} -o more --json")).exits(0).json();
    assert_eq!(second["validUntil"], first["validUntil"]);
    let told = agent(&folder, &format!("{line} -o again")).exits(0);
    assert!(told.text().contains("the end of the chain above"), "{}", told.text());
    agent(&folder, &format!("{line} --hours 24 -o no")).exits(2).tells("widens the time");
    agent(&folder, &format!("{line} --hours 1 -o hour")).exits(0);
}

/// A store that is empty or damaged is told as such, and reading writes nothing.
#[test]
fn a_store_of_channels_that_is_damaged_is_told_and_none_is_made_by_reading() {
    let folder = Folder::new();
    agent(&folder, "init --channels --home alice").exits(0);
    let list = |code| folder.run_with("channel list --home alice", b"", &[PASSPHRASE]).exits(code);
    list(0);
    assert!(!folder.exists("alice/channels.redb"));
    for bytes in [&b""[..], b"redb", &[0; 4096], &[0xff; 100_000]] {
        folder.write("alice/channels.redb", bytes);
        #[cfg(unix)]
        std::fs::set_permissions(
            folder.path("alice/channels.redb"),
            std::os::unix::fs::PermissionsExt::from_mode(0o600),
        )
        .unwrap();
        let told = list(3).tells("channels.redb").tells("damaged");
        assert_eq!(told.stderr.lines().count(), 1, "{}", told.stderr);
        assert!(folder.read("alice/channels.redb") == bytes);
    }
}

/// Of another kind of status no list is looked up, and it is no credential without a status.
#[test]
fn a_status_of_another_kind_that_is_let_pass_is_said() {
    use gambeson_identity::jose::Jws;
    use gambeson_identity::{Agent, CardContent, CardLog, MasterSeed, Role, Timestamp};

    let folder = two();
    let now = Timestamp(std::time::UNIX_EPOCH.elapsed().unwrap().as_secs());
    let carol = Agent::from_seed(MasterSeed::from_bytes(&[3; 32]));
    let card = carol.first_card(now, now.after(YEAR), &CardContent::default()).unwrap();
    folder.write("carol.card", CardLog::new(card).unwrap().to_lines());
    folder.run("agent card --home bob --add carol.card").exits(0);
    let credential = serde_json::json!({
        "@context": ["https://www.w3.org/ns/credentials/v2", "https://www.w3.org/ns/credentials/undefined-terms/v2"],
        "type": ["VerifiableCredential"],
        "issuer": carol.did().as_str(), "credentialSubject": {"id": did(&folder, "bob")},
        "credentialStatus": {"id": "urn:status:1", "type": "AnotherStatus"},
    });
    let kid = carol.key_url(Role::Signing).to_string();
    let header = serde_json::json!({"typ": "vc+jwt", "cty": "vc", "kid": kid});
    let header = header.as_object().unwrap().clone();
    let signed = Jws::sign(carol.key(Role::Signing), header, credential.to_string().as_bytes()).unwrap();
    folder.write("badge", &signed);
    assert_eq!(reason(&folder, "cred verify badge --home bob"), "unknown-status");
    let line = "agent cred verify badge --status-if-known --home bob";
    let told = folder.run(&format!("{line} --json")).exits(0).json();
    assert_eq!(told["revocation"], "not-checked", "{told}");
    let text = folder.run(line).exits(0);
    assert!(text.text().contains("status NOT checked"), "{}", text.text());
}
