//! What may be done to what, under which conditions.

use super::hierarchy;
use super::pattern::Pattern;
use crate::action::Action;
use crate::error::bad;
use crate::{Did, Result};
use serde_json::{Map, Number, Value};

/// The most conditions of one capability.
const MAX_CAVEATS: usize = 32;

/// The most values of one condition.
const MAX_VALUES: usize = 64;

/// The longest JSON Pointer, in bytes.
const MAX_POINTER: usize = 512;

/// A permission: a call whose `method/name` the action covers, to an audience that the resource covers, under conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct Capability {
    /// Covers `method/name` of a call, or `method` where there is no name.
    pub action: Pattern,
    /// Covers the audience.
    pub resource: Pattern,
    /// All of them hold.
    pub caveats: Vec<Caveat>,
}

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Caveat {
    /// The argument at this JSON Pointer (RFC 6901) is there and meets the test.
    Argument(String, Test),
    /// One of these approved the exact action.
    Approval(Vec<Did>),
}

/// A test of an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// It is one of these values.
    OneOf(Vec<Value>),
    /// It is a number that is not greater.
    AtMost(Number),
    /// It is a number that is not less.
    AtLeast(Number),
    /// It is a text that begins so. A prefix that begins with `/` or contains `://` is one of segments: `/home/al` covers `/home/al/a` and not
    /// `/home/alice`, and no text with dot segments, empty ones or encoded separators.
    Prefix(String),
}

impl Capability {
    /// Whether it covers the action, approvals aside. Of calls with the same text only the plain one is covered
    /// ([`Call::is_plain`](crate::action::Call::is_plain)).
    pub fn permits(&self, action: &Action) -> bool {
        action.call().is_plain()
            && self.action.matches(&action.call().action())
            && self.resource.matches(action.audience())
            && self.caveats.iter().all(|caveat| match caveat {
                Caveat::Argument(pointer, test) => argument(action, pointer).is_some_and(|it| test.holds(it)),
                Caveat::Approval(_) => true,
            })
    }

    /// Whether it covers all that `other` covers: its patterns do, and each of its caveats follows from one of `other`'s.
    pub fn covers(&self, other: &Self) -> bool {
        self.action.covers(&other.action)
            && self.resource.covers(&other.resource)
            && self.caveats.iter().all(|ours| other.caveats.iter().any(|theirs| theirs.implies(ours)))
    }

    /// Reads a capability, as it stands in a delegation.
    ///
    /// # Errors
    ///
    /// [`Reason::BadForm`](crate::Reason::BadForm), [`Reason::BadDid`](crate::Reason::BadDid).
    pub fn from_json(value: &Value) -> Result<Self> {
        let object = members(value, &["action", "resource", "caveats"], "a capability")?;
        let pattern = |name: &str| text(object, name)?.parse();
        let caveats = match object.get("caveats") {
            None => Vec::new(),
            Some(Value::Array(items)) if items.len() <= MAX_CAVEATS => {
                items.iter().map(Caveat::from_json).collect::<Result<_>>()?
            }
            Some(_) => return Err(bad(format_args!("caveats must be a list of at most {MAX_CAVEATS}"))),
        };
        Ok(Self { action: pattern("action")?, resource: pattern("resource")?, caveats })
    }

    /// The capability as it stands in a delegation.
    pub fn to_json(&self) -> Value {
        let mut object = Map::from_iter([
            ("action".to_owned(), self.action.to_string().into()),
            ("resource".to_owned(), self.resource.to_string().into()),
        ]);
        if !self.caveats.is_empty() {
            object.insert("caveats".into(), self.caveats.iter().map(Caveat::to_json).collect());
        }
        object.into()
    }
}

impl Caveat {
    /// How many values and approvers it lists.
    pub(super) fn values(&self) -> usize {
        match self {
            Self::Approval(approvers) => approvers.len(),
            Self::Argument(_, Test::OneOf(values)) => values.len(),
            Self::Argument(..) => 0,
        }
    }

    /// Whether `other` holds wherever this holds.
    fn implies(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Approval(ours), Self::Approval(theirs)) => ours.iter().all(|did| theirs.contains(did)),
            (Self::Argument(here, ours), Self::Argument(there, theirs)) => {
                here == there && ours.implies(theirs)
            }
            _ => false,
        }
    }

    fn from_json(value: &Value) -> Result<Self> {
        let known = ["argument", "oneOf", "atMost", "atLeast", "prefix", "approval"];
        let object = members(value, &known, "a caveat")?;
        if let (1, Some(Value::Array(items))) = (object.len(), object.get("approval")) {
            let approvers = items
                .iter()
                .map(|item| item.as_str().unwrap_or_default().parse())
                .collect::<Result<Vec<Did>>>()?;
            return match approvers.len() {
                1..=MAX_VALUES => Ok(Self::Approval(approvers)),
                _ => Err(bad(format_args!("an approval must name 1 to {MAX_VALUES} approvers"))),
            };
        }
        let pointer = text(object, "argument")?;
        if object.len() != 2 || pointer.len() > MAX_POINTER || !is_pointer(pointer) {
            return Err(bad(
                "a caveat must be a JSON Pointer to an argument with one test of it, or approval",
            ));
        }
        let test = match object.iter().find(|(name, _)| *name != "argument") {
            Some((name, Value::Array(values)))
                if name == "oneOf" && (1..=MAX_VALUES).contains(&values.len()) =>
            {
                Test::OneOf(values.clone())
            }
            Some((name, Value::Number(number))) if name == "atMost" => Test::AtMost(number.clone()),
            Some((name, Value::Number(number))) if name == "atLeast" => Test::AtLeast(number.clone()),
            Some((name, Value::String(prefix))) if name == "prefix" => Test::Prefix(prefix.clone()),
            _ => {
                return Err(bad(
                    "the test of an argument must be oneOf (values), atMost or atLeast (a number), or prefix",
                ));
            }
        };
        Ok(Self::Argument(pointer.into(), test))
    }

    fn to_json(&self) -> Value {
        match self {
            Self::Approval(approvers) => {
                let approvers: Vec<&str> = approvers.iter().map(Did::as_str).collect();
                serde_json::json!({"approval": approvers})
            }
            Self::Argument(pointer, test) => {
                let (name, value): (_, Value) = match test {
                    Test::OneOf(values) => ("oneOf", values.clone().into()),
                    Test::AtMost(number) => ("atMost", number.clone().into()),
                    Test::AtLeast(number) => ("atLeast", number.clone().into()),
                    Test::Prefix(prefix) => ("prefix", prefix.as_str().into()),
                };
                serde_json::json!({"argument": pointer, name: value})
            }
        }
    }
}

impl Test {
    /// A prefix that some text continues.
    ///
    /// # Errors
    ///
    /// [`Reason::BadForm`](crate::Reason::BadForm) for a hierarchical one of which a segment is empty, is read as dots and white space alone, hides a
    /// separator or a control character, or has a malformed escape: no text would be below it.
    pub fn prefix(text: &str) -> Result<Self> {
        match !hierarchy::is_hierarchical(text) || hierarchy::is_unambiguous(text) {
            true => Ok(Self::Prefix(text.to_owned())),
            false => Err(bad(format_args!(
                "nothing is below {text:?}: it has dot segments, empty ones, hidden separators or malformed escapes"
            ))),
        }
    }

    fn holds(&self, value: &Value) -> bool {
        match self {
            Self::OneOf(values) => values.iter().any(|one| equal(one, value)),
            Self::AtMost(most) => float(value).is_some_and(|it| Some(it) <= most.as_f64()),
            Self::AtLeast(least) => float(value).is_some_and(|it| Some(it) >= least.as_f64()),
            Self::Prefix(prefix) => value.as_str().is_some_and(|it| hierarchy::is_below(prefix, it)),
        }
    }

    /// Whether `other` holds wherever this holds.
    fn implies(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::OneOf(values), _) => values.iter().all(|value| other.holds(value)),
            (Self::AtMost(ours), Self::AtMost(theirs)) => ours.as_f64() <= theirs.as_f64(),
            (Self::AtLeast(ours), Self::AtLeast(theirs)) => ours.as_f64() >= theirs.as_f64(),
            (Self::Prefix(ours), Self::Prefix(theirs)) => hierarchy::continues(theirs, ours),
            _ => false,
        }
    }
}

/// Equality of JSON values as their canonical forms have it: `1` and `1.0` are one number.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

/// Every number of I-JSON is a double.
fn float(value: &Value) -> Option<f64> {
    value.as_f64()
}

fn argument<'a>(action: &'a Action, pointer: &str) -> Option<&'a Value> {
    let mut parts = pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~"));
    let mut value = action.call().arguments.get(&parts.next()?)?;
    for part in parts {
        value = match value {
            Value::Object(object) => object.get(&part)?,
            Value::Array(items) => items.get(usize::try_from(crate::kdf::decimal(&part)?).ok()?)?,
            _ => return None,
        };
    }
    Some(value)
}

/// RFC 6901, §3, without the pointer to the whole.
fn is_pointer(text: &str) -> bool {
    let mut rest = text.split('~').skip(1);
    text.starts_with('/') && rest.all(|after| after.starts_with(['0', '1']))
}

pub(super) fn members<'a>(value: &'a Value, known: &[&str], what: &str) -> Result<&'a Map<String, Value>> {
    let object = value.as_object().ok_or_else(|| bad(format_args!("{what} must be an object")))?;
    match object.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(bad(format_args!("{what} has an unknown member {name:?}"))),
        None => Ok(object),
    }
}

pub(super) fn text<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a str> {
    object
        .get(name)
        .and_then(Value::as_str)
        .ok_or_else(|| bad(format_args!("the string {name:?} is missing")))
}
