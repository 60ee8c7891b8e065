//! Files of vectors of the identity layer: `SUBJECT.json`, an object with `subject`, `count` and `vectors`.
//!
//! A vector has an `id` of its own and a `kind`. One with `"result": "reject"` must be refused for its `reason`; any other
//! must hold, and what it tells besides its inputs must be what the library finds.

use super::{authority, kept, log, secrets, session, standards};
use crate::harness::{from_hex, hex};
use crate::vectors::{Counts, Report};
use gambeson_identity::jose::Jws;
use gambeson_identity::vc::{
    Binding, Credential, KeyBinding, Presentation, Request, SdJwt, Status, StatusListCredential,
    StatusPurpose, StatusStore, data_integrity,
};
use gambeson_identity::{
    Agent, CardLog, CardStore, Error, Kind, MasterSeed, Path, Purpose, Reason, Relationship, Resolver, Role,
    Suite, Timestamp, VerifyingKey, json as strict,
};
use hkdf::Hkdf;
use serde_json::{Map, Value};
use sha2::Sha384;
use std::collections::HashSet;

/// Values to compare with those of the vector, by name.
pub(super) type Values = Vec<(&'static str, Value)>;

/// What the library finds.
pub(super) type Found = Result<Values, Error>;

/// Judges one vector of a file; `None` for a kind that is not known.
type Judge = fn(&File, &Value) -> Option<Found>;

/// The subjects, and what judges them.
const SUBJECTS: [(&str, Judge); 21] = [
    ("a2a", standards::agent_card),
    ("action", authority::calls),
    ("backup", kept::backup),
    ("card-log", card_log),
    ("data-integrity", credential),
    ("delegation", authority::delegation),
    ("did", standards::did),
    ("httpsig", standards::request),
    ("json", json_),
    ("jws", jws),
    ("kdf", kdf),
    ("log", log::log),
    ("memory", kept::memory),
    ("recovery", secrets::kept),
    ("sd-jwt", credential),
    ("sealed", secrets::envelope),
    ("signed-file", kept::signed_file),
    ("state", kept::state),
    ("status", credential),
    ("vc", standards::credential),
    ("vc-jwt", credential),
];

/// One more subject, whose reasons are those of another crate.
const SESSION: &str = "session";

/// A file, with what its vectors share.
pub(super) struct File {
    vectors: Vec<Value>,
    cards: CardStore,
    lists: StatusStore,
}

/// Judges a file; vectors of a subject that this version does not know are skipped.
pub(super) fn check(file: Value) -> Result<Report, String> {
    let (Some(subject), Some(vectors)) = (file["subject"].as_str(), file["vectors"].as_array()) else {
        return Err("expected an object with `subject` and `vectors`".to_owned());
    };
    if file["version"] != 1 {
        return Err("`version` is not 1".to_owned());
    }
    let ids: HashSet<&str> = vectors.iter().filter_map(|vector| vector["id"].as_str()).collect();
    if file["count"] != vectors.len() || ids.len() != vectors.len() {
        return Err(format!(
            "the file has {} vectors with {} ids; its `count` is {}",
            vectors.len(),
            ids.len(),
            file["count"]
        ));
    }
    let mut report = Report::default();
    let known = SUBJECTS.iter().find(|(name, _)| *name == subject).map(|(_, judge)| judge);
    if known.is_none() && subject != SESSION {
        report.counts = Counts { skipped: vectors.len() as u64, ..Counts::default() };
        return Ok(report);
    }
    let file = if subject == SESSION { File::of(vectors) } else { File::new(vectors)? };
    for vector in vectors {
        let found = match known {
            Some(judge) => judge(&file, vector).map(|found| found.map_err(coded)),
            None => session::said(&file, vector)
                .map(|found| found.map_err(|error| (error.code(), error.to_string()))),
        };
        let complaint = match found {
            None => {
                report.counts.unsupported += 1;
                report.complaints.push(format!("{}: unknown `kind`", vector["id"]));
                continue;
            }
            Some(found) => compare(vector, found).err(),
        };
        match complaint {
            None => report.counts.passed += 1,
            Some(why) => {
                report.counts.failed += 1;
                report.complaints.push(format!("{}: {why}", vector["id"]));
            }
        }
    }
    Ok(report)
}

fn coded(error: Error) -> (&'static str, String) {
    (error.reason().code(), error.to_string())
}

/// Whether the library found what the vector says.
fn compare(vector: &Value, found: Result<Values, (&str, String)>) -> Result<(), String> {
    let refused = match vector.get("result").map(Value::as_str) {
        // Cases of card logs say ok.
        None | Some(Some("accept" | "ok")) => false,
        Some(Some("reject")) => true,
        _ => return Err(format!("unknown `result` {} (expected accept, ok or reject)", vector["result"])),
    };
    match (refused, found) {
        (true, Ok(_)) => Err("is accepted and must be refused".to_owned()),
        (false, Err((code, error))) => Err(format!("is refused ({code}): {error}")),
        (true, Err((code, _))) => match vector["reason"] == code {
            true => Ok(()),
            false => Err(format!("is refused with the reason {code}, expected {}", vector["reason"])),
        },
        (false, Ok(values)) => {
            let other = values.iter().find(|(name, value)| vector[*name] != *value);
            other.map_or(Ok(()), |(name, value)| Err(format!("{name} is {value}, not {}", vector[*name])))
        }
    }
}

impl File {
    fn of(vectors: &[Value]) -> Self {
        Self { vectors: vectors.to_vec(), cards: CardStore::default(), lists: StatusStore::default() }
    }

    /// Reads the cards and lists that the vectors refer to.
    fn new(vectors: &[Value]) -> Result<Self, String> {
        let mut file = Self::of(vectors);
        for vector in vectors.iter().filter(|vector| matches!(text(vector, "kind"), "card-log" | "cards")) {
            let known = CardLog::verify(text(vector, "log").as_bytes()).and_then(|log| file.cards.add(log));
            known.map_err(|error| format!("{}: {error}", vector["id"]))?;
        }
        for vector in vectors.iter().filter(|vector| vector["kind"] == "list" && vector["result"] != "reject")
        {
            let known = file.lists.add(text(vector, "token"), &file.cards, now(vector));
            known.map_err(|error| format!("{}: {error}", vector["id"]))?;
        }
        Ok(file)
    }

    /// The cards that its vectors refer to.
    pub(super) fn cards(&self) -> &CardStore {
        &self.cards
    }

    /// The status lists that its vectors refer to.
    pub(super) fn lists(&self) -> &StatusStore {
        &self.lists
    }

    /// The vector of this id.
    pub(super) fn find(&self, id: &Value) -> Option<&Value> {
        self.vectors.iter().find(|vector| vector["id"] == *id)
    }
}

pub(super) fn text<'a>(vector: &'a Value, name: &str) -> &'a str {
    vector[name].as_str().unwrap_or_default()
}

pub(super) fn now(vector: &Value) -> Timestamp {
    Timestamp(vector["now"].as_u64().unwrap_or_default())
}

fn bytes(vector: &Value, name: &str) -> Vec<u8> {
    from_hex(text(vector, name)).unwrap_or_default()
}

pub(super) fn size(vector: &Value, name: &str, otherwise: usize) -> usize {
    vector[name].as_u64().and_then(|size| usize::try_from(size).ok()).unwrap_or(otherwise)
}

pub(super) fn bad(what: &str) -> Error {
    Error::new(Reason::BadForm, what)
}

/// `key` and `path` of the hierarchy.
fn kdf(_: &File, vector: &Value) -> Option<Found> {
    match text(vector, "kind") {
        "path" => Some(
            text(vector, "path")
                .parse::<Path>()
                .map(|path| vec![("role", path.role.into()), ("index", path.index.to_string().into())]),
        ),
        "key" => Some(derived(vector)),
        _ => None,
    }
}

fn derived(vector: &Value) -> Found {
    let suite: Suite = text(vector, "suite").parse()?;
    let name = text(vector, "purpose");
    let purpose = Purpose::ALL.iter().find(|purpose| format!("{purpose:?}") == name);
    let purpose = *purpose.ok_or_else(|| bad("unknown purpose"))?;
    let index: u64 = text(vector, "index").parse().map_err(|_| bad("the index is not a number"))?;
    let seed = bytes(vector, "seed");
    let seed: &[u8; 32] = seed[..].try_into().map_err(|_| bad("a seed must have 32 bytes"))?;
    let (context, length) = (purpose.context(suite), purpose.output_len(suite));
    let key = by_formula(suite, context, seed, index, length)?;
    let mut found = vec![("context", context.into()), ("length", length.into()), ("key", hex(&key).into())];
    // Keys that agents show are made by the library itself: those before any rotation, and those of fleets.
    let agent = || Agent::with_suite(MasterSeed::from_bytes(seed), suite);
    if let (Some(role), 0, Some(_)) = (role_of(purpose), index, vector.get("public_key_blake3")) {
        let public = agent().public_key(role);
        found.push(("public_key_blake3", blake3::hash(&public).to_hex().as_str().into()));
        if role == Role::Did {
            found.push(("did", agent().did().as_str().into()));
        }
    }
    if purpose == Purpose::Child {
        let child: &[u8; 32] = key[..].try_into().map_err(|_| bad("a seed must have 32 bytes"))?;
        if agent().child(index).did() != Agent::with_suite(MasterSeed::from_bytes(child), suite).did() {
            return Err(bad("the fleet has another agent"));
        }
    }
    Ok(found)
}

/// What `docs/spec/kdf.md` says, with the context of the library.
pub(super) fn by_formula(
    suite: Suite,
    context: &str,
    seed: &[u8; 32],
    index: u64,
    length: usize,
) -> Result<Vec<u8>, Error> {
    let mut key = vec![0; length];
    match suite {
        Suite::Default => {
            let mut hasher = blake3::Hasher::new_derive_key(context);
            hasher.update(seed).update(&index.to_be_bytes()).finalize_xof().fill(&mut key);
        }
        Suite::Cnsa2 => Hkdf::<Sha384>::new(None, seed)
            .expand_multi_info(&[context.as_bytes(), &index.to_be_bytes()], &mut key)
            .map_err(|_| bad("longer than HKDF's output"))?,
    }
    Ok(key)
}

fn role_of(purpose: Purpose) -> Option<Role> {
    let name = format!("{purpose:?}");
    Role::ALL.into_iter().chain(Role::GROUPS).find(|role| format!("{role:?}") == name)
}

/// `json` and `time`.
fn json_(_: &File, vector: &Value) -> Option<Found> {
    match text(vector, "kind") {
        "json" => {
            let input = match vector.get("hex") {
                Some(_) => bytes(vector, "hex"),
                None => text(vector, "text").as_bytes().to_vec(),
            };
            let max = size(vector, "max", 4096);
            let read = match vector["object"] == true {
                true => strict::parse_object(&input, max).map(Value::Object),
                false => strict::parse(&input, max),
            };
            Some(read.and_then(|value| strict::canonicalize(&value)).map(|canonical| {
                vec![("canonical", String::from_utf8_lossy(&canonical).into_owned().into())]
            }))
        }
        "time" => Some(
            text(vector, "text")
                .parse::<Timestamp>()
                .map(|time| vec![("seconds", time.0.into()), ("written", time.to_string().into())]),
        ),
        _ => None,
    }
}

/// `jws`, `jwk`, `multikey`.
fn jws(file: &File, vector: &Value) -> Option<Found> {
    let object = |value: &Value| value.as_object().cloned().unwrap_or_default();
    match text(vector, "kind") {
        "jwk" => Some(VerifyingKey::from_jwk(&object(&vector["jwk"])).map(|key| {
            vec![
                ("alg", key.algorithm().jose().into()),
                ("multikey", key.to_multikey().into()),
                ("jwk", key.to_jwk()),
            ]
        })),
        "multikey" => Some(VerifyingKey::from_multikey(text(vector, "multikey")).map(|_| Vec::new())),
        "jws" => {
            // A vector that is refused names the one whose key it is judged with.
            let jwk = match vector.get("key") {
                Some(id) => &file.find(id)?["jwk"],
                None => &vector["jwk"],
            };
            let judged = || {
                let (token, max) = (text(vector, "token"), size(vector, "max", 64 << 10));
                let jws = match vector["detached"] == true {
                    true => Jws::parse_detached(token, text(vector, "payload").as_bytes(), max)?,
                    false => Jws::parse(token, max)?,
                };
                if vector.get("typ").is_some() {
                    jws.expect_type(text(vector, "typ"))?;
                }
                if vector["kid"] == true {
                    jws.key_id()?;
                }
                jws.verify(&VerifyingKey::from_jwk(&object(jwk))?)?;
                let payload = String::from_utf8_lossy(jws.payload_unverified()).into_owned();
                Ok(vec![("payload", payload.into()), ("header", jws.header().clone().into())])
            };
            Some(judged())
        }
        _ => None,
    }
}

/// Logs, and lines of them that are changed.
fn card_log(file: &File, vector: &Value) -> Option<Found> {
    match vector.get("of") {
        None => Some(good_log(vector)),
        Some(of) => Some(changed_log(file, file.find(of)?, vector)),
    }
}

fn good_log(vector: &Value) -> Found {
    let log = CardLog::verify(text(vector, "log").as_bytes())?;
    let seed = bytes(vector, "seed");
    let seed: &[u8; 32] = seed[..].try_into().map_err(|_| bad("a seed must have 32 bytes"))?;
    let agent = Agent::recover(MasterSeed::from_bytes(seed), &log)?;
    let indexes: Map<String, Value> = Role::ALL
        .iter()
        .map(|role| (role.fragment().to_owned(), agent.index(*role).to_string().into()))
        .collect();
    for case in vector["cases"].as_array().into_iter().flatten() {
        compare(case, case_of(&log, case).map_err(coded)).map_err(|why| bad(&format!("{case}: {why}")))?;
    }
    let hashes: Vec<String> = log.cards().iter().map(gambeson_identity::Card::hash).collect();
    Ok(vec![("did", log.did().as_str().into()), ("hashes", hashes.into()), ("indexes", indexes.into())])
}

/// What a log answers to one question.
fn case_of(log: &CardLog, case: &Value) -> Found {
    let document = log.newest().document();
    if case.get("resolve").is_some() {
        let mut store = CardStore::default();
        store.add(log.clone())?;
        return store.resolve(log.did(), text(case, "resolve").parse()?).map(|_| Vec::new());
    }
    let at = text(case, "at").parse()?;
    if case.get("agreement").is_some() {
        let (url, _) = document.agreement_key(text(case, "agreement"), at)?;
        return Ok(vec![("key", url.to_string().into())]);
    }
    let url = text(case, "key").parse()?;
    if case.get("role").is_some() {
        let role = Role::ALL.into_iter().find(|role| role.fragment() == text(case, "role"));
        let role = role.ok_or_else(|| bad("no such role"))?;
        return document.key_of_role(&url, role, at).map(|_| Vec::new());
    }
    let kind = if case["form"] == "Multikey" { Kind::Multikey } else { Kind::JsonWebKey };
    let relationship = Relationship::ALL.into_iter().find(|it| it.name() == text(case, "relationship"));
    let relationship = relationship.ok_or_else(|| bad("unknown relationship"))?;
    document.key_for(&url, kind, relationship, at).map(|_| Vec::new())
}

fn changed_log(file: &File, of: &Value, vector: &Value) -> Found {
    let good: Vec<&str> = text(of, "log").lines().collect();
    let chosen = |name: &str| -> Vec<String> {
        let lines = vector[name].as_array().into_iter().flatten().filter_map(Value::as_u64);
        lines
            .filter_map(|line| good.get(usize::try_from(line).ok()?).map(|line| (*line).to_owned()))
            .collect()
    };
    let mut lines = chosen("lines");
    for edit in vector["edits"].as_array().into_iter().flatten() {
        let line = edit[0].as_u64().and_then(|line| lines.get_mut(usize::try_from(line).ok()?));
        if let (Some(line), Some(from), Some(to)) = (line, edit[1].as_str(), edit[2].as_str()) {
            *line = line.replacen(from, to, 1);
        }
    }
    if let Some(line) = lines.first_mut() {
        let missing = size(vector, "pad", 0).saturating_sub(line.len());
        line.push_str(&" ".repeat(missing));
    }
    let of_lines = |lines: Vec<String>| lines.into_iter().map(|line| line + "\n").collect::<String>();
    let log = CardLog::verify(of_lines(lines).as_bytes())?;
    let mut store = CardStore::default();
    if vector.get("known").is_some() {
        store.add(CardLog::verify(of_lines(chosen("known")).as_bytes())?)?;
    }
    if let Some(other) = vector.get("other").and_then(|id| file.find(id)) {
        store.add(CardLog::verify(text(other, "log").as_bytes())?)?;
    }
    store.add(log.clone())?;
    if vector.get("seed").is_some() {
        let seed = bytes(vector, "seed");
        let seed: &[u8; 32] = seed[..].try_into().map_err(|_| bad("a seed must have 32 bytes"))?;
        Agent::recover(MasterSeed::from_bytes(seed), &log)?;
    }
    Ok(Vec::new())
}

/// Cards, status lists, credentials, presentations, signatures of Data Integrity.
fn credential(file: &File, vector: &Value) -> Option<Found> {
    let (token, now) = (text(vector, "token"), now(vector));
    let status = match text(vector, "status") {
        "if-known" => Status::IfKnown(&file.lists),
        "ignored" => Status::Ignored,
        _ => Status::Required(&file.lists),
    };
    match text(vector, "kind") {
        "card-log" => Some(CardLog::verify(text(vector, "log").as_bytes()).map(|_| Vec::new())),
        "list" => {
            Some(StatusListCredential::verify(token, &file.cards, now).and_then(|it| list(&it, vector)))
        }
        "credential" => {
            let embedded = vector.get("document").map(Value::to_string);
            let secured = embedded.as_deref().unwrap_or(token);
            Some(Credential::verify(secured, &file.cards, now, status).map(|it| {
                let mut found = Vec::new();
                if vector.get("signer").is_some() {
                    found.push(("signer", it.signer().to_string().into()));
                }
                if vector.get("payload").is_some() {
                    found.push(("payload", it.json().clone().into()));
                }
                found
            }))
        }
        "presentation" => {
            let binding = if vector["binding"] == "subject" { Binding::Subject } else { Binding::Bearer };
            let max_age = vector["maxAge"].as_u64().unwrap_or_default();
            let (audience, nonce) = (text(vector, "audience"), text(vector, "nonce"));
            let request = Request { audience, nonce, max_age, binding };
            Some(Presentation::verify(token, &file.cards, now, &request, status).map(|it| {
                vec![
                    ("signer", it.signer().to_string().into()),
                    ("credentials", it.credentials().len().into()),
                ]
            }))
        }
        "presented" => {
            let max_age = vector["maxAge"].as_u64().unwrap_or_default();
            let (audience, nonce) = (text(vector, "audience"), text(vector, "nonce"));
            let binding = match text(vector, "binding") {
                "required" => KeyBinding::Required { audience, nonce, max_age },
                _ => KeyBinding::None,
            };
            Some(SdJwt::verify(token, &file.cards, now, binding).map(|it| {
                vec![("signer", it.signer().to_string().into()), ("claims", it.claims().clone().into())]
            }))
        }
        "signature" => {
            let judged = || {
                let key = VerifyingKey::from_multikey(text(vector, "multikey"))?;
                let document = vector["document"].as_object().cloned().unwrap_or_default();
                data_integrity::verify_with_key(&document, &key).map(|_| Vec::new())
            };
            Some(judged())
        }
        _ => None,
    }
}

fn list(found: &StatusListCredential, vector: &Value) -> Found {
    let purpose = [StatusPurpose::Revocation, StatusPurpose::Suspension]
        .into_iter()
        .find(|purpose| purpose.name() == text(vector, "purpose"));
    let bits = purpose
        .and_then(|purpose| found.list(purpose))
        .ok_or_else(|| bad("there is no status list of this purpose"))?;
    let mut set = Vec::new();
    for index in 0..bits.entries() {
        if bits.is_set(index)? {
            set.push(index);
        }
    }
    Ok(vec![("url", found.url().into()), ("entries", bits.entries().into()), ("set", set.into())])
}
