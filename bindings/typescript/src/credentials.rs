//! What an agent says of others, and what it shows of that.

use gambeson_identity::vc::data_integrity::{self, ProofOptions};
use gambeson_identity::vc::{Credential, MAX_PRESENTATION, Presentation};
use gambeson_identity::{Agent, Result, json};
use serde_json::Value;

#[cfg(not(feature = "whole"))]
use crate::border::NO_VERB;
use crate::border::{Answer, Input, MAX_JSON, bad, said};
#[cfg(feature = "whole")]
use crate::disclosure;

/// What an agent is asked about credentials.
pub fn ask(agent: &Agent, verb: &str, input: &Input<'_>) -> Result<Answer> {
    match verb {
        "issue" => {
            let mut builder = Credential::builder();
            for (name, value) in input.json("credential", MAX_JSON)? {
                builder = match (name.as_str(), value) {
                    ("type", Value::Array(kinds)) => kinds.iter().try_fold(builder, |builder, kind| {
                        kind.as_str()
                            .map(|kind| builder.kind(kind))
                            .ok_or_else(|| bad("a type must be a string"))
                    })?,
                    ("@context", Value::Array(contexts)) => {
                        contexts.into_iter().fold(builder, |builder, context| builder.context(context))
                    }
                    ("credentialSubject", Value::Array(subjects)) => {
                        subjects.into_iter().fold(builder, |builder, subject| builder.subject(subject))
                    }
                    ("credentialSubject", claims) => builder.subject(claims),
                    (_, value) => builder.member(&name, value),
                };
            }
            match input.flag("proof")? {
                true => said(json::text(&builder.issue_with_proof(agent, input.now()?)?.into())?),
                false => said(builder.issue(agent)?),
            }
        }
        "present" => {
            let (audience, nonce) = (input.text("audience")?, input.text("nonce")?);
            said(Presentation::sign(agent, &input.texts("credentials")?, audience, nonce, input.now()?)?)
        }
        "signDocument" => {
            let document = input.json("document", MAX_PRESENTATION)?;
            said(data_integrity::sign(agent, document, &ProofOptions::assertion(input.now()?))?)
        }
        #[cfg(feature = "whole")]
        _ => disclosure::ask(agent, verb, input),
        #[cfg(not(feature = "whole"))]
        _ => Err(bad(NO_VERB)),
    }
}
