//! The objects that live in the module, behind one class: what JavaScript holds is a number.

#[cfg(feature = "whole")]
use gambeson_identity::vc::StatusList;
use gambeson_identity::{Agent, Result};
use wasm_bindgen::prelude::*;

use crate::border::{Answer, Input, NO_VERB, bad, written};
use crate::failure::{GambesonError, refused};
#[cfg(feature = "whole")]
use crate::log::Log;
use crate::verifier::Verifier;
use crate::{agent, forms, verifier};
#[cfg(feature = "whole")]
use crate::{log, status};

/// An object of the module: wiped when it is freed.
#[wasm_bindgen]
pub struct Handle(Object);

enum Object {
    Agent(Box<Agent>),
    Verifier(Box<Verifier>),
    #[cfg(feature = "whole")]
    Log(Box<Log>),
    #[cfg(feature = "whole")]
    StatusList(StatusList),
}

#[wasm_bindgen]
impl Handle {
    /// An agent, from what the verb names.
    pub fn agent(verb: &str, input: &str, bytes: &[u8]) -> Result<Handle, GambesonError> {
        let made = Input::read(input, bytes).and_then(|input| agent::made(verb, &input));
        made.map(|agent| Self(Object::Agent(Box::new(agent)))).map_err(refused)
    }

    /// A verifier, which remembers what was used in a memory of its own, or in this one.
    pub fn verifier(input: &str, memory: Option<Memory>) -> Result<Handle, GambesonError> {
        let made = Input::read(input, &[]).and_then(|input| Verifier::new(&input, memory));
        made.map(|verifier| Self(Object::Verifier(Box::new(verifier)))).map_err(refused)
    }

    /// A status list.
    #[wasm_bindgen(js_name = statusList)]
    pub fn status_list(input: &str) -> Result<Handle, GambesonError> {
        #[cfg(feature = "whole")]
        let made = Input::read(input, &[]).and_then(|input| status::new_list(&input)).map(Object::StatusList);
        #[cfg(not(feature = "whole"))]
        let made = Input::read(input, &[]).and_then(|_| Err(bad(NO_VERB)));
        made.map(Self).map_err(refused)
    }

    /// What comes from an agent: the agent of a fleet, or a log.
    pub fn derive(&self, verb: &str, input: &str, bytes: &[u8]) -> Result<Handle, GambesonError> {
        let derive = || {
            let (Object::Agent(agent), input) = (&self.0, Input::read(input, bytes)?) else {
                return Err(bad("the value does not come from an agent"));
            };
            Ok(match verb {
                "child" => Object::Agent(Box::new(agent.child(input.number("index")?))),
                #[cfg(feature = "whole")]
                _ => Object::Log(Box::new(log::of(agent, verb, &input)?)),
                #[cfg(not(feature = "whole"))]
                _ => return Err(bad(NO_VERB)),
            })
        };
        derive().map(Self).map_err(refused)
    }

    /// Asks the object.
    pub fn call(&mut self, verb: &str, input: &str, bytes: &[u8]) -> Result<Vec<u8>, GambesonError> {
        answered(input, bytes, &mut |input| match &mut self.0 {
            Object::Agent(agent) => agent::ask(agent, verb, input),
            Object::Verifier(verifier) => verifier::ask(verifier, verb, input),
            #[cfg(feature = "whole")]
            Object::Log(log) => log::ask(log, verb, input),
            #[cfg(feature = "whole")]
            Object::StatusList(list) => status::ask(list, verb, input),
        })
    }

    /// Asks a verifier whether somebody may do what they ask for. What it costs is asked once it is certain who asks, and for what; what
    /// that throws is thrown.
    #[wasm_bindgen(js_name = callPriced)]
    pub fn call_priced(
        &mut self,
        verb: &str,
        input: &str,
        bytes: &[u8],
        price: &Price,
    ) -> Result<Vec<u8>, JsValue> {
        let input = Input::read(input, bytes).map_err(refused)?;
        let Object::Verifier(verifier) = &mut self.0 else { return Err(refused(bad(NO_VERB)).into()) };
        let asking = verifier::asking(verifier, verb, &input).map_err(refused)?;
        let cost = price.ask()?;
        let answer = verifier::permitted(verifier, asking, cost.as_deref(), &input).and_then(written);
        Ok(answer.map_err(refused)?)
    }

    /// Asks the object for what needs an agent too.
    #[wasm_bindgen(js_name = callWith)]
    pub fn call_with(
        &mut self,
        agent: &Handle,
        verb: &str,
        input: &str,
        bytes: &[u8],
    ) -> Result<Vec<u8>, GambesonError> {
        answered(input, bytes, &mut |input| match (&mut self.0, &agent.0) {
            (Object::Verifier(verifier), Object::Agent(agent)) => {
                verifier::ask_with(verifier, agent, verb, input)
            }
            #[cfg(feature = "whole")]
            (Object::Log(log), Object::Agent(agent)) => log::append(log, agent, input),
            #[cfg(feature = "whole")]
            (Object::StatusList(list), Object::Agent(agent)) => status::issue_list(list, agent, input),
            _ => Err(bad(NO_VERB)),
        })
    }
}

/// What needs no object.
#[wasm_bindgen]
pub fn call(verb: &str, input: &str, bytes: &[u8]) -> Result<Vec<u8>, GambesonError> {
    answered(input, bytes, &mut |input| forms::ask(verb, input))
}

/// Whether this is the module that has all.
#[wasm_bindgen]
pub fn whole() -> bool {
    cfg!(feature = "whole")
}

#[wasm_bindgen]
extern "C" {
    /// A memory of what was used that outlives the page or the process: JavaScript's.
    pub type Memory;

    /// 1 if the id was new and is stored until then, 0 if it was known, anything else if that cannot be told.
    #[wasm_bindgen(method)]
    pub fn remember(this: &Memory, id: Vec<u8>, until: f64, now: f64) -> f64;

    /// A function of JavaScript that says what a call costs: JSON, or nothing.
    pub type Price;

    #[wasm_bindgen(method, catch, js_name = call)]
    fn ask(this: &Price) -> Result<Option<String>, JsValue>;
}

fn answered(
    input: &str,
    bytes: &[u8],
    ask: &mut dyn FnMut(&Input<'_>) -> Result<Answer>,
) -> Result<Vec<u8>, GambesonError> {
    Input::read(input, bytes).and_then(|input| ask(&input)).and_then(written).map_err(refused)
}
