//! The message `lf.a2a.v1.AgentCard` as its JSON form is read and written by the official SDK (`a2a-sdk` 1.3).

use crate::Result;
use crate::error::bad;
use serde_json::{Map, Value};

/// A member of a message: its name in JSON, its name in the schema, and what it is.
pub(super) type Field = (&'static str, &'static str, Shape);

/// What a member is.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    Text,
    Texts,
    /// Written only when true.
    Flag,
    /// Written when it is there.
    OptionalFlag,
    Message(&'static [Field]),
    /// A message of which at most one member is there.
    OneOf(&'static [Field]),
    Messages(&'static [Field]),
    TextMap,
    MessageMap(&'static [Field]),
    OneOfMap(&'static [Field]),
    Json,
}

/// What becomes of members that the schema does not have, and of names and items that canonical form loses because nothing
/// stands in them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    Refused,
    Dropped,
}

use Shape::{Flag, Json, Message, MessageMap, Messages, OneOf, OneOfMap, OptionalFlag, Text, TextMap, Texts};

pub(super) const CARD: &[Field] = &[
    ("name", "name", Text),
    ("description", "description", Text),
    ("supportedInterfaces", "supported_interfaces", Messages(INTERFACE)),
    ("provider", "provider", Message(&[("url", "url", Text), ("organization", "organization", Text)])),
    ("version", "version", Text),
    ("documentationUrl", "documentation_url", Text),
    ("capabilities", "capabilities", Message(CAPABILITIES)),
    ("securitySchemes", "security_schemes", OneOfMap(SCHEME)),
    ("securityRequirements", "security_requirements", Messages(REQUIREMENT)),
    ("defaultInputModes", "default_input_modes", Texts),
    ("defaultOutputModes", "default_output_modes", Texts),
    ("skills", "skills", Messages(SKILL)),
    ("iconUrl", "icon_url", Text),
];

const INTERFACE: &[Field] = &[
    ("url", "url", Text),
    ("protocolBinding", "protocol_binding", Text),
    ("tenant", "tenant", Text),
    ("protocolVersion", "protocol_version", Text),
];

const CAPABILITIES: &[Field] = &[
    ("streaming", "streaming", OptionalFlag),
    ("pushNotifications", "push_notifications", OptionalFlag),
    ("extensions", "extensions", Messages(EXTENSION)),
    ("extendedAgentCard", "extended_agent_card", OptionalFlag),
];

const EXTENSION: &[Field] = &[
    ("uri", "uri", Text),
    ("description", "description", Text),
    ("required", "required", Flag),
    ("params", "params", Json),
];

const SKILL: &[Field] = &[
    ("id", "id", Text),
    ("name", "name", Text),
    ("description", "description", Text),
    ("tags", "tags", Texts),
    ("examples", "examples", Texts),
    ("inputModes", "input_modes", Texts),
    ("outputModes", "output_modes", Texts),
    ("securityRequirements", "security_requirements", Messages(REQUIREMENT)),
];

const REQUIREMENT: &[Field] = &[("schemes", "schemes", MessageMap(&[("list", "list", Texts)]))];

const SCHEME: &[Field] = &[
    (
        "apiKeySecurityScheme",
        "api_key_security_scheme",
        Message(&[
            ("description", "description", Text),
            ("location", "location", Text),
            ("name", "name", Text),
        ]),
    ),
    (
        "httpAuthSecurityScheme",
        "http_auth_security_scheme",
        Message(&[
            ("description", "description", Text),
            ("scheme", "scheme", Text),
            ("bearerFormat", "bearer_format", Text),
        ]),
    ),
    (
        "oauth2SecurityScheme",
        "oauth2_security_scheme",
        Message(&[
            ("description", "description", Text),
            ("flows", "flows", OneOf(FLOWS)),
            ("oauth2MetadataUrl", "oauth2_metadata_url", Text),
        ]),
    ),
    (
        "openIdConnectSecurityScheme",
        "open_id_connect_security_scheme",
        Message(&[("description", "description", Text), ("openIdConnectUrl", "open_id_connect_url", Text)]),
    ),
    ("mtlsSecurityScheme", "mtls_security_scheme", Message(&[("description", "description", Text)])),
];

const FLOWS: &[Field] = &[
    (
        "authorizationCode",
        "authorization_code",
        Message(&[
            AUTHORIZATION_URL,
            TOKEN_URL,
            REFRESH_URL,
            SCOPES,
            ("pkceRequired", "pkce_required", Flag),
        ]),
    ),
    ("clientCredentials", "client_credentials", Message(&[TOKEN_URL, REFRESH_URL, SCOPES])),
    ("implicit", "implicit", Message(&[AUTHORIZATION_URL, REFRESH_URL, SCOPES])),
    ("password", "password", Message(&[TOKEN_URL, REFRESH_URL, SCOPES])),
    (
        "deviceCode",
        "device_code",
        Message(&[
            ("deviceAuthorizationUrl", "device_authorization_url", Text),
            TOKEN_URL,
            REFRESH_URL,
            SCOPES,
        ]),
    ),
];

const AUTHORIZATION_URL: Field = ("authorizationUrl", "authorization_url", Text);
const TOKEN_URL: Field = ("tokenUrl", "token_url", Text);
const REFRESH_URL: Field = ("refreshUrl", "refresh_url", Text);
const SCOPES: Field = ("scopes", "scopes", TextMap);

/// The members of a card that say something, by their names in JSON. A card without any is refused.
pub(super) fn read(
    object: &Map<String, Value>,
    fields: &[Field],
    unknown: Unknown,
) -> Result<Map<String, Value>> {
    let signed: Map<String, Value> = object
        .iter()
        .filter(|(name, _)| *name != "signatures")
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    match message(&Value::Object(signed), fields, unknown)? {
        Some(Value::Object(card)) => Ok(card),
        _ => Err(bad("the card is empty")),
    }
}

/// A message without what is empty; `None` if nothing is left.
fn message(value: &Value, fields: &[Field], unknown: Unknown) -> Result<Option<Value>> {
    let object = value.as_object().ok_or_else(|| bad("a message of an agent card must be an object"))?;
    if unknown == Unknown::Refused {
        let known = |name: &str| fields.iter().any(|(json, schema, _)| name == *json || name == *schema);
        if let Some(name) = object.keys().find(|name| !known(name)) {
            return Err(bad(format_args!("an agent card has an unknown member {name:?}")));
        }
    }
    let mut out = Map::new();
    for (json, schema, shape) in fields {
        let value = match (object.get(*json), object.get(*schema).filter(|_| json != schema)) {
            (Some(_), Some(_)) => {
                return Err(bad(format_args!("{json} is in the agent card under two names")));
            }
            (Some(value), None) | (None, Some(value)) => value,
            (None, None) => continue,
        };
        if value.is_null() {
            continue;
        }
        if let Some(value) = member(value, *shape, unknown).map_err(|error| match error.detail() {
            "" => bad(format_args!("the member {json} of an agent card has another type")),
            _ => error,
        })? {
            out.insert((*json).to_owned(), value);
        }
    }
    Ok(kept(out))
}

fn member(value: &Value, shape: Shape, unknown: Unknown) -> Result<Option<Value>> {
    let other = || bad("");
    // Who signs is told: a name without a value, or an item that is empty, says something, and would not be signed.
    let lost = |kept: Option<Value>, what: &str| match kept {
        None if unknown == Unknown::Refused => {
            Err(bad(format_args!("{what} of an agent card is empty, and a signature would not cover it")))
        }
        kept => Ok(kept),
    };
    let map = |value: &Value, each: &dyn Fn(&Value) -> Result<Option<Value>>| -> Result<Option<Value>> {
        let mut out = Map::new();
        for (name, value) in value.as_object().ok_or_else(other)? {
            if let Some(value) = lost(each(value)?, name)? {
                out.insert(name.clone(), value);
            }
        }
        Ok(kept(out))
    };
    let list = |value: &Value, each: &dyn Fn(&Value) -> Result<Option<Value>>| -> Result<Option<Value>> {
        let items = value.as_array().ok_or_else(other)?.iter();
        let items = items.filter_map(|item| each(item).and_then(|kept| lost(kept, "an item")).transpose());
        let items = items.collect::<Result<Vec<_>>>()?;
        Ok((!items.is_empty()).then_some(items.into()))
    };
    let text = |value: &Value| match value {
        Value::String(text) => Ok((!text.is_empty()).then(|| value.clone())),
        _ => Err(other()),
    };
    match (shape, value) {
        (Text, _) => text(value),
        (Texts, _) => list(value, &text),
        (Flag, Value::Bool(flag)) => Ok(flag.then_some(Value::Bool(true))),
        (OptionalFlag, Value::Bool(_)) => Ok(Some(value.clone())),
        (Flag | OptionalFlag, _) => Err(other()),
        (Message(fields), _) => message(value, fields, unknown),
        (OneOf(fields), _) => one_of(value, fields, unknown),
        (Messages(fields), _) => list(value, &|item| message(item, fields, unknown)),
        (TextMap, _) => map(value, &text),
        (MessageMap(fields), _) => map(value, &|item| message(item, fields, unknown)),
        (OneOfMap(fields), _) => map(value, &|item| one_of(item, fields, unknown)),
        (Json, Value::Object(object)) => match clean(value) {
            kept if unknown == Unknown::Refused && !object.is_empty() && kept.as_ref() != Some(value) => {
                lost(None, "a member of params")
            }
            kept => Ok(kept),
        },
        (Json, _) => Err(other()),
    }
}

fn one_of(value: &Value, fields: &[Field], unknown: Unknown) -> Result<Option<Value>> {
    let object = value.as_object().ok_or_else(|| bad(""))?;
    let there = |(json, schema, _): &&Field| {
        [json, schema].iter().any(|name| object.get(**name).is_some_and(|value| !value.is_null()))
    };
    match fields.iter().filter(there).count() {
        // One kind that is there and says no more is still that kind.
        1 if unknown == Unknown::Refused && message(value, fields, unknown)?.is_none() => {
            Err(bad("a scheme or flow of an agent card is empty, and a signature would not cover it"))
        }
        0 | 1 => message(value, fields, unknown),
        _ => Err(bad("an agent card has one kind of scheme or flow, not several in one")),
    }
}

/// Free JSON without null and what is empty, all the way down.
fn clean(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::String(text) if text.is_empty() => None,
        Value::Array(items) => {
            let items: Vec<Value> = items.iter().filter_map(clean).collect();
            (!items.is_empty()).then_some(items.into())
        }
        Value::Object(object) => {
            kept(object.iter().filter_map(|(name, value)| Some((name.clone(), clean(value)?))).collect())
        }
        _ => Some(value.clone()),
    }
}

fn kept(object: Map<String, Value>) -> Option<Value> {
    (!object.is_empty()).then_some(object.into())
}
