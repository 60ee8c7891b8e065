//! `vectors/card-log.json`: logs of identity cards, and what is to be refused.

use crate::vector_file;
use crate::world::{DAY, NOW};
use gambeson_identity::{
    Agent, CardContent, CardLog, CardStore, Error, Kind, MasterSeed, Reason, Relationship, Resolver, Result,
    Retired, Role, Suite, Timestamp,
};
use serde_json::{Value, json};

/// One rotation: the roles, what becomes of the old keys, days after the first card, and the content.
type Step = (&'static [Role], Retired, u64);

fn content() -> CardContent {
    CardContent {
        also_known_as: vec!["did:web:example.com:agents:one".into(), "https://example.com/agents/one".into()],
        services: vec![
            json!({"id": "#inbox", "type": "Inbox", "serviceEndpoint": "https://example.com/inbox"}),
            json!({"id": "#many", "type": ["A", "B"], "serviceEndpoint": ["https://a.example", {"é": 1.5}]}),
        ],
        groups: Vec::new(),
    }
}

fn window(day: u64) -> (Timestamp, Timestamp) {
    (NOW.after(day * DAY), NOW.after((day + 30) * DAY))
}

fn story(suite: Suite, seed: u8, content: &CardContent, steps: &[Step]) -> CardLog {
    let mut agent = Agent::with_suite(MasterSeed::from_bytes(&[seed; 32]), suite).deterministic();
    let (from, until) = window(0);
    let mut log = CardLog::new(agent.first_card(from, until, content).unwrap()).unwrap();
    for (roles, retired, day) in steps {
        let kept = log.newest().content();
        agent.rotate(&mut log, roles, *retired, window(*day), &kept).unwrap();
    }
    log
}

struct Good {
    id: &'static str,
    seed: u8,
    log: CardLog,
    cases: Vec<Value>,
}

impl Good {
    fn new(id: &'static str, suite: Suite, seed: u8, content: &CardContent, steps: &[Step]) -> Self {
        Self { id, seed, log: story(suite, seed, content, steps), cases: Vec::new() }
    }

    fn outcome<T>(mut case: Value, found: Result<T>, expected: core::result::Result<(), Reason>) -> Value {
        assert_eq!(found.map(drop).map_err(|error: Error| error.reason()), expected, "{case}");
        match expected {
            Ok(()) => case["result"] = "ok".into(),
            Err(reason) => {
                case["result"] = "reject".into();
                case["reason"] = reason.code().into();
            }
        }
        case
    }

    fn resolve(&mut self, at: Timestamp, expected: core::result::Result<(), Reason>) {
        let mut store = CardStore::default();
        store.add(self.log.clone()).unwrap();
        let found = store.resolve(self.log.did(), at);
        self.cases.push(Self::outcome(json!({"resolve": at.to_string()}), found, expected));
    }

    fn key(
        &mut self,
        fragment: &str,
        kind: Kind,
        relationship: Relationship,
        at: Timestamp,
        expected: core::result::Result<(), Reason>,
    ) {
        let url = self.log.did().url(fragment);
        let found = self.log.newest().document().key_for(&url, kind, relationship, at);
        let case = json!({
            "key": url.to_string(), "form": format!("{kind:?}"), "relationship": relationship.name(), "at": at.to_string(),
        });
        self.cases.push(Self::outcome(case, found, expected));
    }

    fn role(
        &mut self,
        fragment: &str,
        role: Role,
        at: Timestamp,
        expected: core::result::Result<(), Reason>,
    ) {
        let url = self.log.did().url(fragment);
        let found = self.log.newest().document().key_of_role(&url, role, at);
        let case = json!({"key": url.to_string(), "role": role.fragment(), "at": at.to_string()});
        self.cases.push(Self::outcome(case, found, expected));
    }

    fn agreement(&mut self, algorithm: &str, at: Timestamp, expected: core::result::Result<&str, Reason>) {
        let found = self.log.newest().document().agreement_key(algorithm, at);
        let mut case = json!({"agreement": algorithm, "at": at.to_string()});
        if let (Ok((url, _)), Ok(fragment)) = (&found, expected) {
            assert_eq!(url.fragment(), fragment);
            case["key"] = url.to_string().into();
        }
        self.cases.push(Self::outcome(case, found, expected.map(drop)));
    }

    fn vector(&self) -> Value {
        let seed = || MasterSeed::from_bytes(&[self.seed; 32]);
        let lines = self.log.to_lines();
        assert_eq!(CardLog::verify(lines.as_bytes()).as_ref(), Ok(&self.log));
        let agent = Agent::recover(seed(), &self.log).unwrap();
        let indexes: serde_json::Map<_, _> = Role::ALL
            .iter()
            .map(|role| (role.fragment().to_owned(), agent.index(*role).to_string().into()))
            .collect();
        json!({
            "id": self.id, "suite": self.log.did().suite().name(), "seed": format!("{:02x}", self.seed).repeat(32),
            "did": self.log.did().as_str(), "log": lines,
            "hashes": self.log.cards().iter().map(gambeson_identity::Card::hash).collect::<Vec<_>>(),
            "indexes": indexes, "cases": self.cases,
        })
    }
}

/// How a log to be refused is made from a good one.
#[derive(Default)]
struct Change<'a> {
    lines: Option<&'a [usize]>,
    edits: Vec<(usize, String, String)>,
    pad: Option<usize>,
    known: Option<&'a [usize]>,
    other: Option<&'a Good>,
    seed: Option<u8>,
}

fn edit(line: usize, from: &str, to: &str) -> Change<'static> {
    Change { edits: vec![(line, from.into(), to.into())], ..Change::default() }
}

fn refused(id: &str, of: &Good, change: &Change<'_>, reason: Reason) -> Value {
    let text = of.log.to_lines();
    let good: Vec<&str> = text.lines().collect();
    let order: Vec<usize> = change.lines.map_or_else(|| (0..good.len()).collect(), <[usize]>::to_vec);
    let mut lines: Vec<String> = order.iter().map(|line| good[*line].to_owned()).collect();
    for (line, from, to) in &change.edits {
        assert!(lines[*line].contains(from.as_str()), "{id}: {from} is not there");
        lines[*line] = lines[*line].replacen(from.as_str(), to, 1);
    }
    if let Some(len) = change.pad {
        let missing = len - lines[0].len();
        lines[0].push_str(&" ".repeat(missing));
    }
    let of_lines = |lines: Vec<String>| lines.into_iter().map(|line| line + "\n").collect::<String>();
    let verdict = || {
        let log = CardLog::verify(of_lines(lines).as_bytes())?;
        let mut store = CardStore::default();
        if let Some(known) = change.known {
            let known = of_lines(known.iter().map(|line| good[*line].to_owned()).collect());
            store.add(CardLog::verify(known.as_bytes()).expect("the lines that are known are good"))?;
        }
        if let Some(other) = change.other {
            store.add(other.log.clone())?;
        }
        store.add(log.clone())?;
        change.seed.map_or(Ok(()), |seed| Agent::recover(MasterSeed::from_bytes(&[seed; 32]), &log).map(drop))
    };
    let found: Error = verdict().expect_err(id);
    assert_eq!(found.reason(), reason, "{id}: {found}");
    let mut vector = json!({
        "id": id, "result": "reject", "reason": reason.code(), "of": of.id, "lines": order, "edits": change.edits,
    });
    if let Some(pad) = change.pad {
        vector["pad"] = pad.into();
    }
    if let Some(known) = change.known {
        vector["known"] = known.into();
    }
    if let Some(other) = change.other {
        vector["other"] = other.id.into();
    }
    if let Some(seed) = change.seed {
        vector["seed"] = format!("{seed:02x}").repeat(32).into();
    }
    vector
}

#[allow(clippy::too_many_lines, reason = "a list of cases")]
fn goods() -> Vec<Good> {
    use Reason::{Expired, KeyRevoked, NotYetValid, UnknownKey, WrongPurpose};
    use Relationship::{
        AssertionMethod, Authentication, CapabilityDelegation, CapabilityInvocation, KeyAgreement,
    };
    let plain = CardContent::default();
    let grace = Retired::Superseded(DAY);
    let long: &[Step] = &[
        (&[Role::Signing, Role::DataIntegrity], grace, 1),
        (&[Role::Signing, Role::Sealed, Role::Log], Retired::Compromised, 2),
        (&[], grace, 3),
    ];
    let mut goods = vec![
        Good::new("default-1", Suite::Default, 0x11, &plain, &[]),
        Good::new("default-2", Suite::Default, 0x11, &plain, &[(&[], grace, 1)]),
        Good::new("default-3", Suite::Default, 0x12, &content(), &long[..2]),
        Good::new("default-4", Suite::Default, 0x12, &content(), long),
        Good::new("cnsa2-1", Suite::Cnsa2, 0x11, &plain, &[]),
        Good::new("cnsa2-2", Suite::Cnsa2, 0x13, &content(), &[(&[Role::Identity], Retired::Compromised, 0)]),
        Good::new("cnsa2-4", Suite::Cnsa2, 0x12, &plain, long),
        // The same agent as that of default-2, but its second card is another one.
        Good::new("default-2-fork", Suite::Default, 0x11, &plain, &[(&[Role::Signing], grace, 1)]),
    ];
    for good in &mut goods {
        let (from, until) = good.log.newest().validity();
        good.resolve(from, Ok(()));
        good.resolve(until, Ok(()));
        good.resolve(Timestamp(from.0 - 1), Err(NotYetValid));
        good.resolve(until.after(1), Err(Expired));
    }
    for first in [0, 4] {
        let good = &mut goods[first];
        for relationship in Relationship::ALL {
            let for_signing =
                [AssertionMethod, CapabilityInvocation, CapabilityDelegation].contains(&relationship);
            let allowed = |yes: bool| if yes { Ok(()) } else { Err(WrongPurpose) };
            good.key("signing-0", Kind::JsonWebKey, relationship, NOW, allowed(for_signing));
            good.key(
                "identity-0",
                Kind::JsonWebKey,
                relationship,
                NOW,
                allowed(relationship == Authentication),
            );
            good.key(
                "data-integrity-0",
                Kind::Multikey,
                relationship,
                NOW,
                allowed(relationship == AssertionMethod),
            );
            good.key("did-0", Kind::JsonWebKey, relationship, NOW, Err(WrongPurpose));
            good.key("log-0", Kind::JsonWebKey, relationship, NOW, Err(WrongPurpose));
            good.key("sealed-0", Kind::JsonWebKey, relationship, NOW, Err(WrongPurpose));
        }
        good.key("signing-0", Kind::Multikey, AssertionMethod, NOW, Err(WrongPurpose));
        good.key("data-integrity-0", Kind::JsonWebKey, AssertionMethod, NOW, Err(WrongPurpose));
        good.key("signing-1", Kind::JsonWebKey, AssertionMethod, NOW, Err(UnknownKey));
        good.role("log-0", Role::Log, NOW, Ok(()));
        good.role("did-0", Role::Did, NOW, Ok(()));
        good.role("log-0", Role::Did, NOW, Err(WrongPurpose));
        good.role("signing-0", Role::Log, NOW, Err(WrongPurpose));
        good.role("signing-0", Role::Signing, NOW, Err(WrongPurpose));
        good.role("sealed-0", Role::Sealed, NOW, Err(WrongPurpose));
        good.role("log-7", Role::Log, NOW, Err(UnknownKey));
        let suite = good.log.did().suite();
        for role in [Role::Backup, Role::Sealed, Role::Encapsulation] {
            let algorithm = role.agreement_algorithm(suite).unwrap();
            good.agreement(algorithm, NOW, Ok(&format!("{}-0", role.fragment())));
        }
        good.agreement("HPKE-9", NOW, Err(UnknownKey));
        good.agreement("ML-DSA-65", NOW, Err(UnknownKey));
    }
    for rotated in [2, 6] {
        let good = &mut goods[rotated];
        let (one, two) = (NOW.after(DAY), NOW.after(2 * DAY));
        good.key("signing-2", Kind::JsonWebKey, AssertionMethod, two, Ok(()));
        good.key("signing-1", Kind::JsonWebKey, AssertionMethod, two, Err(KeyRevoked));
        // Before it was revoked it was in a relationship, but this card no longer says so.
        good.key("signing-1", Kind::JsonWebKey, AssertionMethod, one, Err(WrongPurpose));
        good.key("signing-0", Kind::JsonWebKey, AssertionMethod, two, Err(KeyRevoked));
        good.key("signing-1", Kind::JsonWebKey, Authentication, two, Err(KeyRevoked));
        good.role("log-0", Role::Log, two, Err(KeyRevoked));
        good.role("log-0", Role::Log, one, Ok(()));
        good.role("log-1", Role::Log, two, Ok(()));
        good.role("did-0", Role::Did, two, Err(UnknownKey));
        let suite = good.log.did().suite();
        good.agreement(Role::Sealed.agreement_algorithm(suite).unwrap(), two, Ok("sealed-1"));
        good.key("sealed-0", Kind::JsonWebKey, KeyAgreement, two, Err(KeyRevoked));
    }
    let superseded = &mut goods[2];
    let end = NOW.after(2 * DAY);
    superseded.key("data-integrity-0", Kind::Multikey, AssertionMethod, end, Ok(()));
    superseded.key("data-integrity-0", Kind::Multikey, AssertionMethod, end.after(1), Err(Expired));
    superseded.key("data-integrity-1", Kind::Multikey, AssertionMethod, end, Ok(()));
    // A key whose grace is over is no longer listed.
    goods[3].key("data-integrity-0", Kind::Multikey, AssertionMethod, end, Err(UnknownKey));
    goods
}

#[test]
#[allow(clippy::too_many_lines, reason = "a list of cases")]
fn the_vectors_of_card_logs() {
    use Reason::{
        BadDid, BadEncoding, BadForm, BadJson, BadKey, BadSignature, BadTime, BrokenChain, KeyRevoked,
        NotBound, StaleCard, TooLarge, UnknownKey, WrongPurpose, WrongSeed,
    };
    let goods = goods();
    let (one, two, three, four) = (&goods[0], &goods[1], &goods[2], &goods[3]);
    let (cnsa2, cnsa2_long, fork) = (&goods[4], &goods[6], &goods[7]);
    let mut vectors: Vec<Value> = goods.iter().map(Good::vector).collect();
    let mut add =
        |id: &str, of: &Good, change: Change<'_>, reason| vectors.push(refused(id, of, &change, reason));

    // The chain.
    let order = |lines| Change { lines: Some(lines), ..Change::default() };
    add("no-card", one, order(&[]), BadForm);
    add("without-the-first", three, order(&[1, 2]), BrokenChain);
    add("without-the-second", three, order(&[0, 2]), BrokenChain);
    add("the-first-twice", three, order(&[0, 0, 1]), BrokenChain);
    add("the-last-twice", three, order(&[0, 1, 2, 2]), BrokenChain);
    add("in-another-order", four, order(&[0, 2, 1, 3]), BrokenChain);
    add("backwards", cnsa2_long, order(&[3, 2, 1, 0]), BrokenChain);
    let other = one.log.did().as_str();
    let did = three.log.did().as_str();
    let (id_3, id_1) = (format!("\"id\":\"{did}\""), format!("\"id\":\"{other}\""));
    add("a-card-of-another-did", three, edit(1, &id_3, &id_1), UnknownKey);

    // The first card.
    let hash = |log: &CardLog, at: usize| log.cards()[at].hash();
    let next = |good: &Good, at: usize| {
        good.log.cards()[at].document().json()["card"]["next"].as_str().unwrap().to_owned()
    };
    let key = |good: &Good, fragment: &str| {
        let url = good.log.did().url(fragment);
        let methods = good.log.newest().document();
        let method = methods.methods().find(|method| *method.id() == url).unwrap();
        method.verifying_key().unwrap().to_jwk()["pub"].as_str().unwrap().to_owned()
    };
    add("another-did-key", one, edit(0, &key(one, "did-0"), &key(one, "signing-0")), NotBound);
    add("a-did-key-of-another-algorithm", cnsa2, edit(0, &key(cnsa2, "did-0"), &key(one, "did-0")), BadKey);
    add("the-first-with-a-previous", one, edit(0, "\"previous\":null", "\"previous\":\"uHiA\""), BrokenChain);
    add("the-first-with-another-number", one, edit(0, "\"version\":1", "\"version\":2"), UnknownKey);

    // What it says.
    add("version-0", one, edit(0, "\"version\":1", "\"version\":0"), BadForm);
    add("version-a-text", one, edit(0, "\"version\":1", "\"version\":\"1\""), BadForm);
    add("version-a-fraction", one, edit(0, "\"version\":1", "\"version\":1.5"), BadForm);
    add("version-negative", one, edit(0, "\"version\":1", "\"version\":-1"), BadForm);
    add("version-missing", one, edit(0, ",\"version\":1", ""), BadForm);
    let from = NOW.to_string();
    let valid_from = format!("\"validFrom\":\"{from}\"");
    let from_edit = |to: &str| format!("\"validFrom\":{to}");
    add("valid-from-missing", one, edit(0, &format!(",{}", &valid_from), ""), BadForm);
    add("valid-from-a-number", one, edit(0, &valid_from, &from_edit("1795330800")), BadForm);
    add("valid-from-lower-case", one, edit(0, &valid_from, &from_edit("\"2026-11-22t07:00:00z\"")), BadTime);
    add(
        "valid-from-without-offset",
        one,
        edit(0, &valid_from, &from_edit("\"2026-11-22T07:00:00\"")),
        BadTime,
    );
    add(
        "valid-from-after-valid-until",
        one,
        edit(0, &valid_from, &from_edit("\"2027-11-22T07:00:00Z\"")),
        BadForm,
    );
    let begin = one.log.cards()[0].validity().1.to_string();
    add(
        "valid-until-no-time",
        one,
        edit(0, &format!("\"validUntil\":\"{begin}\""), "\"validUntil\":\"soon\""),
        BadTime,
    );
    let early = format!("\"validFrom\":\"{}\"", NOW.after(DAY));
    add(
        "beginning-before-the-card-before",
        two,
        edit(1, &early, &from_edit("\"2026-11-22T06:59:59Z\"")),
        BrokenChain,
    );
    let first_next = next(one, 0);
    let next_member = format!("\"next\":\"{first_next}\"");
    let next_edit = |to: &str| format!("\"next\":{to}");
    add("next-missing", one, edit(0, &format!("{next_member},"), ""), BadForm);
    add("next-null", one, edit(0, &next_member, &next_edit("null")), BadForm);
    add("next-base58", one, edit(0, &next_member, &next_edit("\"zHiA\"")), BadEncoding);
    add("next-too-short", one, edit(0, &next_member, &next_edit("\"uHiA\"")), BadForm);
    add(
        "next-of-the-other-suite",
        one,
        edit(0, &next_member, &next_edit(&format!("\"{}\"", next(cnsa2, 0)))),
        BadForm,
    );
    add(
        "next-in-hex",
        one,
        edit(0, &next_member, &next_edit(&format!("\"{}\"", "1e20".repeat(17)))),
        BadEncoding,
    );
    add(
        "card-missing",
        one,
        edit(
            0,
            "{\"document\":{\"@context\"",
            "{\"document\":{\"id\":\"did:web:a.example\"},\"x\":{\"@context\"",
        ),
        BadForm,
    );
    add("card-a-list", one, edit(0, "\"card\":{\"next\"", "\"card\":[],\"x\":{\"next\""), BadForm);
    let second_next = next(two, 1);
    let previous = hash(&two.log, 0);
    add("previous-of-another", two, edit(1, &previous, &hash(&three.log, 0)), BrokenChain);
    add(
        "previous-null",
        two,
        edit(1, &format!("\"previous\":\"{previous}\""), "\"previous\":null"),
        BrokenChain,
    );
    add("previous-itself", two, edit(1, &previous, &hash(&two.log, 1)), BrokenChain);
    add("next-changed-in-the-first", two, edit(0, &first_next, &second_next), BadSignature);
    add("next-changed-in-the-last", two, edit(1, &second_next, &first_next), BadSignature);
    let did_1 = key(two, "did-1");
    add("a-did-key-that-nobody-announced", two, edit(1, &did_1, &key(one, "did-0")), BrokenChain);

    // The signature.
    let signature_of = |good: &Good, line: usize| {
        let card: Value = serde_json::from_str(good.log.to_lines().lines().nth(line).unwrap()).unwrap();
        card["signature"].as_str().unwrap().to_owned()
    };
    let (first, second) = (signature_of(two, 0), signature_of(two, 1));
    add("signature-of-another-card", two, edit(1, &second, &first), BadSignature);
    add("signature-changed", one, edit(0, "\"signature\":\"", "\"signature\":\"AAAA"), BadSignature);
    add("signature-empty", one, edit(0, &first, ""), BadSignature);
    add("signature-padded", one, edit(0, &first, &format!("{first}=")), BadEncoding);
    add("signature-too-long", one, edit(0, &first, &"A".repeat(10_928)), BadEncoding);
    add("signature-a-number", one, edit(0, &format!("\"{first}\""), "1"), BadForm);
    add("valid-until-moved", one, edit(0, &begin, "2099-01-01T00:00:00Z"), BadSignature);
    add("a-key-changed", one, edit(0, &key(one, "signing-0"), &key(one, "identity-0")), BadSignature);
    add(
        "a-relationship-added",
        one,
        edit(0, "\"authentication\":[", "\"authentication\":[\"#log-0\","),
        BadSignature,
    );
    add(
        "a-service-changed",
        three,
        edit(2, "https://example.com/inbox", "https://example.org/inbox"),
        BadSignature,
    );
    add("a-revocation-taken-back", three, edit(2, "\"revoked\":", "\"expires\":"), BadSignature);

    // The document.
    add("not-json", one, edit(0, "{", "["), BadJson);
    add("a-key-twice", one, edit(0, "\"document\":", "\"signature\":\"\",\"document\":"), BadJson);
    add("a-number-not-exact", one, edit(0, "\"version\":1", "\"version\":9007199254740993"), BadJson);
    add("more-members", one, edit(0, "{", "{\"a\":1,"), BadForm);
    add("not-an-object", one, edit(0, "{", "[{"), BadJson);
    add("too-large", one, Change { pad: Some(65_537), ..Change::default() }, TooLarge);
    add(
        "context-of-something-else",
        one,
        edit(0, "https://www.w3.org/ns/did/v1", "https://www.w3.org/ns/credentials/v2"),
        BadForm,
    );
    add("id-no-did", one, edit(0, "\"id\":\"did:gambeson:uHi", "\"id\":\"did:gambeson:zHi"), BadDid);
    add(
        "a-relationship-no-list",
        one,
        edit(0, "\"authentication\":[", "\"authentication\":{},\"x\":["),
        BadForm,
    );
    add(
        "a-key-named-twice",
        one,
        edit(0, "\"authentication\":[", "\"authentication\":[\"#identity-0\","),
        BadForm,
    );
    add("a-method-twice", three, edit(2, "#signing-1\"", "#signing-2\""), BadForm);
    add("a-method-without-a-key", one, edit(0, "\"publicKeyJwk\":", "\"publicKeyPem\":"), BadForm);
    add(
        "a-key-in-two-forms",
        one,
        edit(0, "\"publicKeyMultibase\":", "\"publicKeyJwk\":{},\"publicKeyMultibase\":"),
        BadForm,
    );
    add("a-private-key", one, edit(0, "\"kty\":\"AKP\"", "\"kty\":\"AKP\",\"priv\":\"AA\""), BadKey);
    add(
        "an-expiry-that-is-no-time",
        one,
        edit(0, "\"type\":\"JsonWebKey\"", "\"type\":\"JsonWebKey\",\"expires\":\"now\""),
        BadTime,
    );
    add(
        "a-controller-that-is-no-did",
        one,
        edit(0, "\"controller\":\"did:", "\"controller\":\"dod:"),
        BadDid,
    );
    let did_method = format!("{}#did-0\"", one.log.did());
    let revoked = format!("{did_method},\"revoked\":\"{from}\"");
    add("a-did-key-that-is-revoked", one, edit(0, &did_method, &revoked), KeyRevoked);
    add("a-did-key-of-another-name", one, edit(0, "#did-0\"", "#dad-0\""), UnknownKey);
    let in_pem = format!(
        "\"publicKeyJwk\":{{\"alg\":\"ML-DSA-65\",\"kty\":\"AKP\",\"pub\":\"{}\"}},\"type\":\"JsonWebKey\"",
        key(one, "did-0")
    );
    let foreign = in_pem.replace("\"type\":\"JsonWebKey\"", "\"type\":\"Other\"");
    let did_line = in_pem.clone();
    add("a-did-key-of-another-type", one, edit(0, &did_line, &foreign), WrongPurpose);
    add(
        "the-alias-twice",
        three,
        edit(0, "https://example.com/agents/one\"", "did:web:example.com:agents:one\""),
        BadForm,
    );
    add(
        "an-alias-that-is-no-uri",
        three,
        edit(0, "https://example.com/agents/one\"", "agents/one\""),
        BadForm,
    );
    add("a-service-without-endpoint", three, edit(0, "\"serviceEndpoint\":", "\"endpoint\":"), BadForm);

    // What the keeper of logs knows.
    let known = |lines, known| Change { lines: Some(lines), known: Some(known), ..Change::default() };
    add("older-than-what-is-known", three, known(&[0, 1], &[0, 1, 2]), StaleCard);
    add("older-than-what-is-known-by-far", four, known(&[0], &[0, 1, 2, 3]), StaleCard);
    let fork_known = || Change { other: Some(fork), ..Change::default() };
    add("two-cards-of-one-number", two, fork_known(), BrokenChain);

    // Recovery.
    let from_seed = |seed| Change { seed: Some(seed), ..Change::default() };
    add("the-seed-of-somebody-else", three, from_seed(0x11), WrongSeed);
    add("the-seed-of-somebody-else-cnsa2", cnsa2, from_seed(0x12), WrongSeed);

    vector_file::committed("card-log", vectors, 8 + 76);
}
