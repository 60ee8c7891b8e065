//! Where frames go.

use std::fmt;

/// A name on a link: organisation, namespace and service, and which of those that listen on it.
///
/// Listeners subscribe with an instance; who publishes to the name without one reaches all of them.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name {
    parts: [String; 3],
    instance: Option<u128>,
}

impl Name {
    /// A name without an instance.
    pub fn new(
        organisation: impl Into<String>,
        namespace: impl Into<String>,
        service: impl Into<String>,
    ) -> Self {
        Self { parts: [organisation.into(), namespace.into(), service.into()], instance: None }
    }

    /// The same name with this instance.
    #[must_use]
    pub fn with_instance(mut self, instance: u128) -> Self {
        self.instance = Some(instance);
        self
    }

    /// The same name without an instance.
    #[must_use]
    pub fn everyone(mut self) -> Self {
        self.instance = None;
        self
    }

    /// Organisation, namespace and service.
    #[must_use]
    pub const fn parts(&self) -> &[String; 3] {
        &self.parts
    }

    /// Which of those that listen, if the name says so.
    #[must_use]
    pub const fn instance(&self) -> Option<u128> {
        self.instance
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.parts[0], self.parts[1], self.parts[2])?;
        self.instance.map_or(Ok(()), |instance| write!(f, "#{instance:032x}"))
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Which channel: 32 random bytes, also the group's id in MLS. Members and the delivery service know it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChannelId(pub [u8; 32]);

impl fmt::Display for ChannelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", base16ct::HexDisplay(&self.0))
    }
}

impl fmt::Debug for ChannelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
