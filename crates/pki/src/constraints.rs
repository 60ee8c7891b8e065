//! Name constraints of authorities (RFC 5280, §4.2.1.10): which names may stand in the certificates below them.

use std::net::IpAddr;

use der::asn1::{AnyRef, ObjectIdentifier};
use der::{Decode, Reader, SliceReader, Tag, TagNumber, Tagged};

use crate::certificate::Certificate;
use crate::general_name::{GeneralName, SMTP_UTF8_MAILBOX};

/// `emailAddress` (RFC 2985, §5.2.1), which is constrained like an address of mail in the extension.
const EMAIL_ADDRESS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.1");

/// What an authority permits and excludes: all names below one, of each form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NameConstraints {
    permitted: Vec<GeneralName>,
    excluded: Vec<GeneralName>,
}

/// Why a certificate may not stand below an authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Violation {
    /// A name is outside of what is permitted, or within what is excluded.
    Name(String),
    /// A form of names is constrained that is compared nowhere here.
    Unsupported(&'static str),
    /// So many comparisons that they were given up.
    TooMuchWork,
}

impl NameConstraints {
    /// Reads the value of the extension.
    pub(crate) fn read(der: &[u8]) -> Option<Self> {
        let outside = AnyRef::from_der(der).ok().filter(|any| any.tag() == Tag::Sequence)?;
        let mut reader = SliceReader::new(outside.value()).ok()?;
        let mut constraints = Self::default();
        for (number, subtrees) in [(0, &mut constraints.permitted), (1, &mut constraints.excluded)] {
            let tag = Tag::ContextSpecific { constructed: true, number: TagNumber(number) };
            if Tag::peek(&reader).ok() == Some(tag) {
                let list: AnyRef<'_> = reader.decode().ok()?;
                let mut list = SliceReader::new(list.value()).ok()?;
                while !list.is_finished() {
                    subtrees.push(base(list.decode().ok()?)?);
                }
            }
        }
        reader.is_finished().then_some(constraints)
    }

    /// Checks the names of a certificate, and takes the comparisons from `budget`.
    pub(crate) fn check(&self, certificate: &Certificate, budget: &mut usize) -> Result<(), Violation> {
        let subject = certificate.subject();
        let mails = subject.texts_of(EMAIL_ADDRESS).into_iter().map(GeneralName::Email);
        let own = (!subject.is_empty()).then(|| GeneralName::Directory(subject.clone()));
        let beside: Vec<_> = mails.chain(own).collect();
        let mut names = certificate.extensions().general_names.iter().chain(&beside);
        names.try_for_each(|name| self.check_name(name, budget))
    }

    fn check_name(&self, name: &GeneralName, budget: &mut usize) -> Result<(), Violation> {
        // Long names are long work.
        let work = |base: &GeneralName| match (base, name) {
            (GeneralName::Directory(base), GeneralName::Directory(name)) => 1 + base.len() + name.len(),
            _ => 1,
        };
        let all: usize = self.permitted.iter().chain(&self.excluded).map(work).sum();
        *budget = budget.checked_sub(all).ok_or(Violation::TooMuchWork)?;
        let bounds = |subtree: &&GeneralName| subtree.form() == name.form();
        let constrained = self.permitted.iter().chain(&self.excluded).any(|subtree| bounds(&subtree));
        match name {
            GeneralName::Other(SMTP_UTF8_MAILBOX, _) => {
                // RFC 9598, §6: addresses of mail in the other form are constrained like these.
                let mail = |subtree: &GeneralName| matches!(subtree, GeneralName::Email(_));
                if constrained || self.permitted.iter().chain(&self.excluded).any(mail) {
                    return Err(Violation::Unsupported("SmtpUTF8Mailbox"));
                }
            }
            GeneralName::Other(..) | GeneralName::RegisteredId(_) | GeneralName::Unread(_) if constrained => {
                return Err(Violation::Unsupported(name.form()));
            }
            _ => {}
        }
        let mut permitted = self.permitted.iter().filter(bounds).peekable();
        let outside = permitted.peek().is_some() && !permitted.any(|base| holds(base, name));
        if outside || self.excluded.iter().any(|base| may_hold(base, name)) {
            return Err(Violation::Name(name.to_string()));
        }
        Ok(())
    }
}

/// Reads a subtree, which is a base and nothing else: the least and the greatest distance have no use (RFC 5280, §4.2.1.10).
fn base(subtree: AnyRef<'_>) -> Option<GeneralName> {
    let mut reader = SliceReader::new(subtree.value()).ok().filter(|_| subtree.tag() == Tag::Sequence)?;
    let base = GeneralName::read(reader.decode().ok()?)?;
    // A least distance of zero is the default, and some write it.
    if !reader.is_finished() && reader.tlv_bytes().ok()? != [0x80, 1, 0] || !reader.is_finished() {
        return None;
    }
    let is_one = match &base {
        GeneralName::Ip(bytes) => is_network(bytes),
        GeneralName::Dns(name) => name != ".",
        GeneralName::Uri(host) => !host.is_empty() && host != "." && !host.contains(['/', ':', '@']),
        GeneralName::Email(mail) => match mail.rsplit_once('@') {
            Some((mailbox, host)) => !mailbox.is_empty() && !host.is_empty(),
            None => !mail.is_empty() && mail != ".",
        },
        _ => true,
    };
    is_one.then_some(base)
}

/// Whether it is an address and a mask, which begins with ones and ends with zeros.
fn is_network(bytes: &[u8]) -> bool {
    let mask = &bytes[bytes.len() / 2..];
    let ones: u32 = mask.iter().map(|byte| byte.leading_ones()).sum();
    let zeros: u32 = mask.iter().map(|byte| byte.count_zeros()).sum();
    let in_order = mask.is_sorted_by(|one, next| *one == 0xff || *next == 0);
    matches!(bytes.len(), 8 | 32) && in_order && ones + zeros == 8 * mask.len() as u32
}

/// Whether the name, and every name that it stands for, is below `base`.
fn holds(base: &GeneralName, name: &GeneralName) -> bool {
    match (base, name) {
        (GeneralName::Dns(base), GeneralName::Dns(name)) => {
            is_below(base, name.strip_prefix("*.").unwrap_or(name))
        }
        (GeneralName::Ip(base), GeneralName::Ip(name)) => {
            let (address, mask) = base.split_at(base.len() / 2);
            let differs = |((one, other), mask): ((&u8, &u8), &u8)| (one ^ other) & mask != 0;
            name.len() == address.len() && !name.iter().zip(address).zip(mask).any(differs)
        }
        (GeneralName::Email(base), GeneralName::Email(address)) => is_mail_of(base, address),
        (GeneralName::Uri(base), GeneralName::Uri(uri)) => {
            host_of(uri).is_some_and(|host| is_host_of(base, host))
        }
        (GeneralName::Directory(base), GeneralName::Directory(name)) => name.begins_with(base),
        _ => false,
    }
}

/// Whether the name, or one that it may stand for, is below `base`.
fn may_hold(base: &GeneralName, name: &GeneralName) -> bool {
    match (base, name) {
        // Beyond the standard, a dot in front excludes the domain itself too, which never is more than its authority had in mind.
        (GeneralName::Dns(base), GeneralName::Dns(name)) => {
            let base = base.strip_prefix('.').unwrap_or(base);
            match name.strip_prefix("*.") {
                Some(parent) => is_below(base, parent) || is_one_label_below(parent, base),
                None => is_below(base, name),
            }
        }
        // An address without a host, and a URI whose host cannot be told, could be of any (RFC 5280, §4.2.1.10).
        (GeneralName::Uri(_), GeneralName::Uri(uri)) if host_of(uri).is_none() => true,
        (GeneralName::Email(_), GeneralName::Email(address)) if !address.contains('@') => true,
        (GeneralName::Directory(base), GeneralName::Directory(name)) => name.may_begin_with(base),
        // An address that is none is within nothing that is permitted, and may be within what is excluded.
        (GeneralName::Ip(_), GeneralName::Ip(name)) if GeneralName::address(name).is_none() => true,
        _ => holds(base, name),
    }
}

fn is_one_label_below(parent: &str, name: &str) -> bool {
    let label = name.split_once('.').filter(|(label, _)| !label.is_empty());
    label.is_some_and(|(_, above)| above.eq_ignore_ascii_case(parent.strip_suffix('.').unwrap_or(parent)))
}

/// Whether a DNS name is `base` or has labels before it; a `base` with a dot in front wants one label at least.
fn is_below(base: &str, name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let base = base.strip_suffix('.').unwrap_or(base);
    if base.is_empty() {
        return true;
    }
    let Some(at) = name.len().checked_sub(base.len()) else { return false };
    let (Some(labels), Some(end)) = (name.get(..at), name.get(at..)) else { return false };
    let at_a_label =
        if base.starts_with('.') { !labels.is_empty() } else { labels.is_empty() || labels.ends_with('.') };
    end.eq_ignore_ascii_case(base) && at_a_label
}

/// A host itself, or with a dot in front the hosts below it.
fn is_host_of(base: &str, host: &str) -> bool {
    match base.starts_with('.') {
        true => is_below(base, host),
        false => base.eq_ignore_ascii_case(host.strip_suffix('.').unwrap_or(host)),
    }
}

/// A mailbox, all of a host, or with a dot in front those of the hosts below it.
fn is_mail_of(base: &str, address: &str) -> bool {
    let Some((local, host)) = address.rsplit_once('@') else { return false };
    match base.rsplit_once('@') {
        Some((mailbox, of)) => mailbox == local && of.eq_ignore_ascii_case(host),
        None => is_host_of(base, host),
    }
}

/// The host of a URI, if it has one that is a name.
fn host_of(uri: &str) -> Option<&str> {
    let (_, rest) = uri.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    let is_name = !host.is_empty() && !host.starts_with('[') && host.parse::<IpAddr>().is_err();
    is_name.then_some(host)
}
