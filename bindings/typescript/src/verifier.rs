//! Who is known and trusted, what was seen before, and what is held against that.

use std::collections::BTreeMap;
use std::sync::Arc;

use gambeson_identity::action::{self, Action, Expectations};
use gambeson_identity::delegation::{self, Authority, Chain, Evidence, MemoryLedger, Policy};
use gambeson_identity::vc::data_integrity::{self, Expected};
use gambeson_identity::vc::{
    Binding, Credential, MAX_PRESENTATION, Presentation, Request, Status, StatusStore,
};
use gambeson_identity::{
    Agent, CardLog, CardStore, Did, DidDocument, DidUrl, Error, Fetch, Kind, MemoryReplayCache, Method,
    PendingReplay, Reason, Relationship, ReplayCache, ReplayId, Resolver, Result, Suite, Timestamp, Verified,
    Web, a2a, application_context, http, json, mcp, sealed,
};
use serde_json::Value;

use crate::agent::{amount, evidence};
use crate::border::{Answer, Input, MAX_JSON, NO_VERB, bad, object, said, texts};
#[cfg(feature = "whole")]
use crate::disclosure;
use crate::handle::Memory;
use crate::{forms, messages};

/// How many nonces, and how many grants, are remembered unless more is said.
const CAPACITY: usize = 100_000;

/// For how many seconds a presentation is good, unless whoever asks says otherwise.
pub const MAX_AGE: u64 = 300;

/// A verifier's cards, status lists, policy and memory.
pub struct Verifier {
    pub known: Known,
    pub lists: StatusStore,
    policy: Policy,
    replay: Replay,
    ledger: MemoryLedger,
}

impl Verifier {
    /// Knows nobody. Remembers so many nonces, of them so many of each signer, and so many grants, of them so many below each root.
    pub fn new(input: &Input<'_>, memory: Option<Memory>) -> Result<Self> {
        let most = |name: &str| input.member(name).map(|_| input.size(name)).transpose();
        let capacity = most("capacity")?.unwrap_or(CAPACITY);
        let (mut own, mut ledger) = (MemoryReplayCache::new(capacity), MemoryLedger::new(capacity));
        let per_signer = most("perSigner")?;
        if per_signer.is_some() && memory.is_some() {
            return Err(bad("a custom replay cache has no count per signer"));
        }
        if let Some(most) = per_signer {
            own = own.per_signer(most);
        }
        if let Some(most) = most("perRoot")? {
            ledger = ledger.per_root(most);
        }
        Ok(Self {
            known: Known::default(),
            lists: StatusStore::default(),
            policy: Policy::default(),
            replay: memory.map_or(Replay::Own(own), Replay::Given),
            ledger,
        })
    }

    /// What is asked of the status of a credential.
    pub fn status(&self, input: &Input<'_>) -> Result<Status<'_>> {
        Ok(match input.flag("statusIfKnown")? {
            true => Status::IfKnown(&self.lists),
            false => Status::Required(&self.lists),
        })
    }
}

/// Cards, and documents of `did:web` that somebody fetched.
#[derive(Default)]
pub struct Known {
    cards: CardStore,
    web: BTreeMap<Did, Arc<DidDocument>>,
}

impl Resolver for Known {
    fn resolve(&self, did: &Did, now: Timestamp) -> Result<Arc<DidDocument>> {
        match self.web.get(did) {
            Some(document) => Ok(document.clone()),
            None => self.cards.resolve(did, now),
        }
    }
}

/// The body that was fetched.
struct Fetched<'a>(&'a [u8]);

impl Fetch for Fetched<'_> {
    fn get(&self, _: &str, _: usize) -> Result<Vec<u8>> {
        Ok(self.0.to_vec())
    }
}

/// What was used before.
enum Replay {
    Own(MemoryReplayCache),
    Given(Memory),
}

impl ReplayCache for Replay {
    fn remember(&mut self, id: &ReplayId, until: Timestamp, now: Timestamp) -> Result<()> {
        let memory = match self {
            Self::Own(memory) => return memory.remember(id, until, now),
            Self::Given(memory) => memory,
        };
        let answer = memory.remember(id.as_bytes().to_vec(), until.0 as f64, now.0 as f64);
        match (answer == 1.0, answer == 0.0) {
            (true, _) => Ok(()),
            (_, true) => Err(Error::new(Reason::Replayed, "it was seen before")),
            _ => Err(Error::new(Reason::CacheFull, "the replay cache failed")),
        }
    }
}

/// What a verifier is asked.
pub fn ask(verifier: &mut Verifier, verb: &str, input: &Input<'_>) -> Result<Answer> {
    match verb {
        "addCards" => {
            let log = CardLog::verify(input.text("cards")?.as_bytes())?;
            let did = log.did().to_string();
            verifier.known.cards.add(log)?;
            said(did)
        }
        "addWebDocument" => {
            let did: Did = input.text("did")?.parse()?;
            if did.method() != Method::Web {
                return Err(Error::new(Reason::BadDid, "only did:web has a document address"));
            }
            let document =
                Web::new(Fetched(input.bytes()), CardStore::default()).resolve(&did, Timestamp(0))?;
            verifier.known.web.insert(did, document);
            said(Value::Null)
        }
        "addStatusList" => {
            verifier.lists.add(input.text("list")?, &verifier.known, input.now()?)?;
            said(Value::Null)
        }
        "statusDue" => said(texts(verifier.lists.due(input.now()?))),
        "trust" => {
            let (resource, root) = (input.text("resource")?.parse()?, input.text("root")?.parse()?);
            verifier.policy = core::mem::take(&mut verifier.policy).trust(resource, root);
            said(Value::Null)
        }
        "requireApproval" => {
            let action = input.text("action")?.parse()?;
            let approvers = input.texts("approvers")?.into_iter().map(str::parse).collect::<Result<_>>()?;
            verifier.policy = core::mem::take(&mut verifier.policy).require_approval(action, approvers);
            said(Value::Null)
        }
        "resolve" => {
            let document = verifier.known.resolve(&input.text("did")?.parse()?, input.now()?)?;
            said(document.json().clone())
        }
        #[cfg(feature = "whole")]
        "resolution" => {
            use gambeson_identity::resolution;
            let (known, url) = (&verifier.known, input.text("url")?);
            let (accept, now) = (input.text_if("accept")?, input.now()?);
            said(Value::from(match input.text("function")? {
                "resolve" => resolution::resolve(known, url, now).into_json(),
                "resolveRepresentation" => {
                    resolution::resolve_representation(known, url, accept, now).into_json()
                }
                _ => resolution::dereference(known, url, accept, now).into_json(),
            }))
        }
        "verify" => {
            let [signature, message, context] = input.exactly()?;
            let context = application_context(context)?;
            let (url, now) = (input.url("keyUrl")?, input.now()?);
            let document = verifier.known.resolve(url.did(), now)?;
            let key = document.key_for(&url, Kind::JsonWebKey, Relationship::AssertionMethod, now)?;
            key.verify(context, message, signature)?;
            said(Value::Null)
        }
        "credential" => {
            let secured = input.text("credential")?;
            let status = verifier.status(input)?;
            said(shown(&Credential::verify(secured, &verifier.known, input.now()?, status)?))
        }
        "presentation" => presentation(verifier, input),
        "document" => {
            let document = input.json("document", MAX_PRESENTATION)?;
            let expected = Expected::assertion();
            let verified = data_integrity::verify(&document, &verifier.known, input.now()?, &expected)?;
            let (signer, document) = (signer(verified.signer()), verified.into_inner());
            said(signed(signer, vec![("document", document.into())]))
        }
        "delegation" => chain(verifier, input),
        "action" | "toolCall" => {
            let Asking { action, evidence, seen } = asking(verifier, verb, input)?;
            seen.settle(&mut verifier.replay, input.now()?)?;
            said(described(&action, evidence, vec![]))
        }
        "receipt" => {
            let result = input.json("result", MAX_JSON)?;
            let action = Action::from_json(input.text("action")?.as_bytes())?;
            let server = input.text("server")?.parse()?;
            let receipt = mcp::verify_receipt(&result, &action, &server, &verifier.known, input.now()?)?;
            let members =
                vec![("action", receipt.action.as_str().into()), ("issued", receipt.issued.0.into())];
            said(signed(signer(receipt.signer()), members))
        }
        "http" => message(verifier, input),
        "agentCard" => {
            let expected: Option<Did> = input.text_if("signer")?.map(str::parse).transpose()?;
            let card = input.text("card")?.as_bytes();
            let card = a2a::verify(card, expected.as_ref(), &verifier.known, input.now()?)?;
            said(signed(signer(card.signer()), vec![("card", card.json().clone().into())]))
        }
        #[cfg(feature = "whole")]
        _ => disclosure::ask_verifier(verifier, verb, input),
        #[cfg(not(feature = "whole"))]
        _ => Err(bad(NO_VERB)),
    }
}

/// What a verifier is asked together with an agent: its cards say to whom is sealed, and who did.
pub fn ask_with(verifier: &mut Verifier, agent: &Agent, verb: &str, input: &Input<'_>) -> Result<Answer> {
    let now = input.now()?;
    match verb {
        "seal" => {
            let document = verifier.known.resolve(&input.text("to")?.parse()?, now)?;
            let (media_type, until) = (input.text("mediaType")?, input.time("until")?);
            let sealed = sealed::seal(agent, &document, media_type, input.bytes(), until, now)?;
            Ok((Value::Null, sealed))
        }
        "open" => {
            let Verifier { known, replay, .. } = verifier;
            let opened = sealed::open(agent, input.bytes(), known, replay, now)?;
            let head = object(vec![
                ("sender", opened.sender().as_str().into()),
                ("signer", opened.signer().to_string().into()),
                ("id", forms::hex(opened.id()).into()),
                ("mediaType", opened.media_type().into()),
                ("expires", opened.expires().0.into()),
            ]);
            Ok((head, opened.payload().to_vec()))
        }
        _ => Err(bad(NO_VERB)),
    }
}

/// The URL of a key, and the agent whose it is.
pub fn signer(url: &DidUrl) -> [Value; 2] {
    [url.to_string().into(), url.did().as_str().into()]
}

/// What was verified, with who signed it.
pub fn signed([signer, agent]: [Value; 2], mut members: Vec<(&str, Value)>) -> Value {
    members.extend([("signer", signer), ("agent", agent)]);
    object(members)
}

fn shown(verified: &Verified<Credential>) -> Value {
    object(vec![
        ("issuer", verified.issuer().as_str().into()),
        ("signer", verified.signer().to_string().into()),
        ("claims", verified.json().clone().into()),
    ])
}

fn presentation(verifier: &Verifier, input: &Input<'_>) -> Result<Answer> {
    let request = Request {
        audience: input.text("audience")?,
        nonce: input.text("nonce")?,
        max_age: input.number_if("maxAge")?.unwrap_or(MAX_AGE),
        binding: if input.flag("bearer")? { Binding::Bearer } else { Binding::Subject },
    };
    let (secured, status) = (input.text("presentation")?, verifier.status(input)?);
    let verified = Presentation::verify(secured, &verifier.known, input.now()?, &request, status)?;
    said(object(vec![
        ("holder", verified.holder().as_str().into()),
        ("signer", verified.signer().to_string().into()),
        ("credentials", verified.credentials().iter().map(shown).collect()),
    ]))
}

fn chain(verifier: &Verifier, input: &Input<'_>) -> Result<Answer> {
    let status = verifier.status(input)?;
    let verified = Chain::verify(&input.texts("chain")?, &verifier.known, &status, input.now()?)?;
    let links = verified.links().iter().map(|link| {
        let terms = link.terms();
        let budget = terms.budget.as_ref();
        object(vec![
            ("issuer", link.issuer().as_str().into()),
            ("delegate", terms.delegate.as_str().into()),
            ("from", terms.from.0.into()),
            ("until", terms.until.0.into()),
            ("capabilities", terms.capabilities.iter().map(|it| it.to_json()).collect()),
            ("maxDepth", terms.max_depth.into()),
            ("maxCalls", terms.max_calls.into()),
            (
                "budget",
                budget
                    .map(|it| object(vec![("amount", it.amount.into()), ("unit", it.unit.as_str().into())]))
                    .into(),
            ),
        ])
    });
    let links = links.collect();
    said(object(vec![("links", links), ("signer", verified.signer().to_string().into())]))
}

fn expectations<'a>(input: &'a Input<'_>) -> Result<Expectations<'a>> {
    let expected = Expectations::new(input.text("audience")?);
    Ok(match input.number_if("lifetime")? {
        Some(seconds) => expected.lasting(seconds),
        None => expected,
    })
}

/// Somebody who asks, whose signature holds, and what for. Whether it was seen before is not known yet.
pub struct Asking {
    action: Verified<Action>,
    evidence: Evidence,
    seen: PendingReplay,
}

/// Who asks for what: an action by its signature, or the MCP request that has it inside.
pub fn asking(verifier: &Verifier, verb: &str, input: &Input<'_>) -> Result<Asking> {
    let (expected, known, now) = (expectations(input)?, &verifier.known, input.now()?);
    let mut seen = PendingReplay::default();
    let (action, evidence) = match verb {
        "action" => {
            let (text, token) = (input.text("action")?.as_bytes(), input.text("token")?);
            (action::verify(text, token, &expected, known, now, &mut seen)?, evidence(input)?)
        }
        "toolCall" => {
            let params = input.json("params", MAX_JSON)?;
            mcp::verify(input.text("method")?, &params, &expected, known, now, &mut seen)?
        }
        _ => return Err(bad(NO_VERB)),
    };
    Ok(Asking { action, evidence, seen })
}

/// Whether they may, and in whose name. `cost` is JSON. That it was seen is remembered when all else is decided, so that who may do
/// nothing fills no memory.
pub fn permitted(
    verifier: &mut Verifier,
    Asking { action, evidence, seen }: Asking,
    cost: Option<&str>,
    input: &Input<'_>,
) -> Result<Answer> {
    let cost = cost.map(|cost| amount(&json::parse(cost.as_bytes(), MAX_JSON)?)).transpose()?;
    let status = match input.flag("statusIfKnown")? {
        true => Status::IfKnown(&verifier.lists),
        false => Status::Required(&verifier.lists),
    };
    let authority = Authority { policy: &verifier.policy, resolver: &verifier.known, status: &status };
    let mut ledger = seen.before(&mut verifier.replay, &mut verifier.ledger);
    let authorized =
        delegation::authorize(&action, &evidence, cost.as_ref(), &authority, &mut ledger, input.now()?)?;
    let members = vec![
        ("root", authorized.root.as_str().into()),
        ("path", texts(authorized.path.iter().map(Did::as_str))),
        ("capability", authorized.capability.as_ref().map(|it| it.to_json()).into()),
        ("approvers", texts(authorized.approvers.iter().map(Did::as_str))),
    ];
    said(described(&action, evidence, members))
}

fn described(action: &Verified<Action>, evidence: Evidence, mut members: Vec<(&str, Value)>) -> Value {
    members.extend([
        ("action", String::from_utf8_lossy(&action.to_json()).into()),
        ("digest", action.digest(Suite::Default).into()),
        ("method", action.call().method.as_str().into()),
        ("name", action.call().name.as_str().into()),
        ("arguments", action.call().arguments.clone().into()),
        ("chain", evidence.chain.into()),
    ]);
    signed(signer(action.signer()), members)
}

fn message(verifier: &mut Verifier, input: &Input<'_>) -> Result<Answer> {
    let Verifier { known, replay, .. } = verifier;
    messages::with(input, &mut |message| {
        let required = messages::components(input, "required")?;
        // The usual ones are asked for by a policy that names none.
        let policy = http::Policy {
            required: Vec::new(),
            relationship: match input.flag("capability")? {
                true => Relationship::CapabilityInvocation,
                false => Relationship::Authentication,
            },
            tag: input.text_if("tag")?.map(str::to_owned),
            signer: input.text_if("signer")?.map(str::parse).transpose()?,
            max_age: input.number_if("maxAge")?.unwrap_or(http::MAX_AGE),
        };
        let (now, mut seen) = (input.now()?, PendingReplay::default());
        let verified = http::verify(message, &policy, known, now, &mut seen)?;
        if let Some(missing) = required.iter().find(|it| !verified.components().contains(it)) {
            let what = format_args!("the signature does not cover {missing}");
            return Err(Error::new(Reason::Uncovered, what));
        }
        seen.settle(replay, now)?;
        let components = verified.components().iter().map(|it| Value::from(it.to_string()));
        let members = vec![
            ("components", components.collect()),
            ("label", verified.label().into()),
            ("base", verified.base().into()),
            ("tag", verified.tag().into()),
        ];
        said(signed(signer(verified.signer()), members))
    })
}
