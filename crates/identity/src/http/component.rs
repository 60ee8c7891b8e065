//! Component identifiers (RFC 9421, §2), and what they stand for in a message.

use super::message::{Message, Start, Uri};
use super::{MAX_PARAMETERS, too_large};
use crate::error::bad;
use crate::{Error, Result};
use core::fmt;
use core::str::FromStr;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};
use sfv::{BareItem, Dictionary, Item, ItemSerializer, ListEntry, ListSerializer, Parser};

/// What `application/x-www-form-urlencoded` does not escape, besides letters and digits.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'*').remove(b'-').remove(b'.').remove(b'_');

/// Fields whose values are dictionaries, which the parameter `sf` is understood for.
const DICTIONARIES: &str = "accept-signature content-digest priority repr-digest signature signature-input want-content-digest \
    want-repr-digest";

const DERIVED: &str =
    "@authority @method @path @query @query-param @request-target @scheme @status @target-uri";

/// A part of a message that a signature covers: a field such as `content-digest`, or a derived component such as
/// `@method`, with parameters: `"@query-param";name="id"`, `"signature";key="sig1";req`, `"x-odd";bs`.
///
/// ```
/// use gambeson_identity::http::Component;
///
/// let plain: Component = "@method".parse()?;
/// assert_eq!(plain.to_string(), "\"@method\"");
/// let with: Component = "\"@query-param\";name=\"id\"".parse()?;
/// assert_eq!(with.to_string(), "\"@query-param\";name=\"id\"");
/// assert!("@unknown".parse::<Component>().is_err());
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
#[derive(Clone)]
pub struct Component {
    item: Item,
    name: String,
    key: Option<String>,
    query: Option<String>,
    req: bool,
    bs: bool,
    sf: bool,
}

impl PartialEq for Component {
    /// The order of parameters means nothing (RFC 9421, §2).
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.key, &self.query, self.req, self.bs, self.sf)
            == (&other.name, &other.key, &other.query, other.req, other.bs, other.sf)
    }
}

impl Eq for Component {}

impl Component {
    pub(super) fn from_item(item: &Item) -> Result<Self> {
        let BareItem::String(name) = &item.bare_item else {
            return Err(bad("a component identifier must be a string"));
        };
        let name = name.as_str().to_owned();
        let mut component =
            Self { item: item.clone(), key: None, query: None, req: false, bs: false, sf: false, name };
        for (parameter, value) in &item.params {
            match (parameter.as_str(), value) {
                ("req", BareItem::Boolean(true)) => component.req = true,
                ("bs", BareItem::Boolean(true)) => component.bs = true,
                ("sf", BareItem::Boolean(true)) => component.sf = true,
                ("key", BareItem::String(key)) => component.key = Some(key.as_str().to_owned()),
                ("name", BareItem::String(name)) => component.query = Some(name.as_str().to_owned()),
                _ => return Err(bad(format_args!("unknown parameter {parameter} of a component"))),
            }
        }
        component.check()?;
        Ok(component)
    }

    fn check(&self) -> Result<()> {
        let of_field = self.bs || self.sf || self.key.is_some();
        let token =
            |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9') || b"!#$%&'*+-.^_`|~".contains(&byte);
        let fits = match self.name.starts_with('@') {
            true => {
                is_among(DERIVED, &self.name)
                    && !of_field
                    && self.query.is_some() == (self.name == "@query-param")
            }
            false => {
                !self.name.is_empty()
                    && self.name.bytes().all(token)
                    && self.query.is_none()
                    && usize::from(self.bs) + usize::from(self.sf) + usize::from(self.key.is_some()) <= 1
                    && (!self.sf || is_among(DICTIONARIES, &self.name))
            }
        };
        match fits {
            true => Ok(()),
            false => Err(bad(format_args!("unknown component {self}"))),
        }
    }

    pub(super) fn item(&self) -> &Item {
        &self.item
    }

    /// The value of the component in a message (RFC 9421, §2.1 and §2.2).
    pub(super) fn value(&self, message: &Message<'_>, parsed: &mut Parsed) -> Result<String> {
        #[cfg(test)]
        crate::counts::add(|counts| counts.values += 1);
        let message = match self.req {
            false => message,
            true => message.request.ok_or_else(|| bad("the request that was answered is not there"))?,
        };
        let value = match self.name.strip_prefix('@') {
            Some(name) => self.derived(name, message, parsed)?,
            None => self.field(message, parsed)?,
        };
        match value.bytes().all(|byte| byte == b' ' || byte == b'\t' || byte.is_ascii_graphic()) {
            true => Ok(value),
            false => Err(bad(format_args!("the value of {self} is not printable ASCII on one line"))),
        }
    }

    fn derived(&self, name: &str, message: &Message<'_>, parsed: &mut Parsed) -> Result<String> {
        let (method, target) = match (name, message.start) {
            ("status", Start::Response(status)) if (100..=999).contains(&status) => {
                return Ok(status.to_string());
            }
            ("status", _) | (_, Start::Response(_)) => {
                return Err(bad(format_args!("this message has no {self}")));
            }
            (_, Start::Request(method, target)) => (method, target),
        };
        let uri = Uri::read(target)?;
        let target = || match uri.query {
            None => uri.path.to_owned(),
            Some(query) => format!("{}?{query}", uri.path),
        };
        Ok(match name {
            "method" => method.to_owned(),
            "target-uri" => format!("{}://{}{}", uri.scheme, uri.authority(), target()),
            "authority" => uri.authority(),
            "scheme" => uri.scheme,
            "path" => uri.path.to_owned(),
            "query" => format!("?{}", uri.query.unwrap_or_default()),
            "query-param" => self.query_parameter(&uri, parsed)?,
            _ if method == "CONNECT" => {
                return Err(bad("the request target of CONNECT is not understood here"));
            }
            _ => target(),
        })
    }

    fn query_parameter(&self, uri: &Uri<'_>, parsed: &mut Parsed) -> Result<String> {
        let wanted = self.query.as_deref().unwrap_or_default();
        match parsed.query(self.req, uri.query.unwrap_or_default())?.get(wanted) {
            Some(Value::String(value)) => Ok(value.clone()),
            _ => Err(bad(format_args!("the query has not exactly one parameter {wanted:?} in UTF-8"))),
        }
    }

    fn field(&self, message: &Message<'_>, parsed: &mut Parsed) -> Result<String> {
        let values: Vec<&str> = message.field(&self.name).collect();
        if values.is_empty() {
            return Err(bad(format_args!("the message has no field {}", self.name)));
        }
        if self.bs {
            let mut list = ListSerializer::new();
            for value in &values {
                _ = list.bare_item(value.as_bytes());
            }
            return list.finish().ok_or_else(|| bad("no value"));
        }
        if let Some(key) = &self.key {
            return match parsed.dictionary(self.req, message, &self.name)?.get(key.as_str()) {
                Some(entry) => Ok(serialize(entry)),
                None => Err(bad(format_args!("the field {} has no member {key}", self.name))),
            };
        }
        if self.sf {
            let mut out = sfv::DictSerializer::new();
            out.members(parsed.dictionary(self.req, message, &self.name)?);
            return out.finish().ok_or_else(|| bad(format_args!("the field {} is empty", self.name)));
        }
        Ok(values.join(", "))
    }
}

/// What was parsed of a message, and of the request that it answers (`true`): each dictionary and each query once.
#[derive(Default)]
pub(super) struct Parsed {
    dictionaries: Vec<(bool, String, Dictionary)>,
    queries: [Option<Map<String, Value>>; 2],
}

impl Parsed {
    fn dictionary(&mut self, req: bool, message: &Message<'_>, name: &str) -> Result<&Dictionary> {
        let found = self.dictionaries.iter().position(|it| it.0 == req && it.1 == name);
        let at = found.unwrap_or(self.dictionaries.len());
        if found.is_none() {
            self.dictionaries.push((req, name.to_owned(), super::dictionary(message, name)?));
        }
        Ok(&self.dictionaries[at].2)
    }

    /// The parameters by name, decoded and encoded again, so that `+`, `%20` and the case of hex digits make no difference (RFC 9421, §2.2.8);
    /// null for one that stands twice or is not UTF-8.
    fn query(&mut self, req: bool, query: &str) -> Result<&Map<String, Value>> {
        let room = &mut self.queries[usize::from(req)];
        if room.is_none() {
            *room = Some(parameters(query)?);
        }
        Ok(room.get_or_insert_default())
    }
}

fn parameters(query: &str) -> Result<Map<String, Value>> {
    #[cfg(test)]
    crate::counts::add(|counts| counts.parses += 1);
    let number = query.split('&').count();
    if number > MAX_PARAMETERS {
        return Err(too_large("query parameters", number, MAX_PARAMETERS));
    }
    let encode = |text: &str| utf8_percent_encode(text, QUERY).to_string();
    let mut found = Map::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let name = encode(&name);
        let once = !found.contains_key(&name) && !value.contains('\u{fffd}');
        found.insert(name, if once { encode(&value).into() } else { Value::Null });
    }
    Ok(found)
}

fn is_among(names: &str, name: &str) -> bool {
    names.split(' ').any(|one| one == name)
}

/// A member of a dictionary by itself, without its key.
pub(super) fn serialize(entry: &ListEntry) -> String {
    match entry {
        ListEntry::Item(item) => {
            ItemSerializer::new().bare_item(&item.bare_item).parameters(&item.params).finish()
        }
        ListEntry::InnerList(list) => {
            let mut out = ListSerializer::new();
            let mut inner = out.inner_list();
            inner.items(&list.items);
            _ = inner.finish().parameters(&list.params);
            out.finish().unwrap_or_default()
        }
    }
}

impl FromStr for Component {
    type Err = Error;

    /// A name alone, or an identifier with its quotes and parameters.
    fn from_str(text: &str) -> Result<Self> {
        let quoted = if text.starts_with('"') { text.to_owned() } else { format!("\"{text}\"") };
        let item: Item = Parser::new(&quoted)
            .parse()
            .map_err(|error| bad(format_args!("{text:?} is not a component identifier: {error}")))?;
        Self::from_item(&item)
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serialize(&ListEntry::Item(self.item.clone())))
    }
}

impl fmt::Debug for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
