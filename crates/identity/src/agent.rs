//! An agent: everything that comes from one seed.

use crate::card::{Card, CardContent, CardLog, Retired};
use crate::document::{Kind, Relationship};
use crate::entropy::Hedge;
use crate::{
    Algorithm, Did, DidUrl, Error, MasterSeed, Purpose, Reason, Result, SigningKey, Suite, Timestamp,
    encoding,
};
use gambeson::RngError;
use gambeson::mlkem::{self, MlKem768, MlKem1024};
use gambeson::rand_core::{TryCryptoRng, TryRng};
use gambeson::secret::{Secret, StackGuard};
use gambeson_hybrid::xwing;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Map, Value, json};
use sha2::Sha384;
use std::sync::OnceLock;

pub(crate) mod group;
#[cfg(feature = "groups")]
mod leaf;

/// What a key of an agent is for. A key serves one role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Authenticates sessions (`m/0'`).
    Identity,
    /// Signs credentials, delegations and actions (`m/1'`).
    Signing,
    /// Signs identity cards (`m/2'`).
    Did,
    /// Opens the agent's own backups and age files to it (`m/3'`).
    Backup,
    /// Opens what other agents seal to it (`m/3'`).
    Sealed,
    /// Plain ML-KEM (`m/3'`).
    Encapsulation,
    /// Data Integrity proofs (`m/6'`).
    DataIntegrity,
    /// Checkpoints of logs (`m/6'`).
    Log,
    /// A leaf of groups (MLS) whose suite signs with ML-DSA-44 (`m/5'`).
    GroupMlDsa44,
    /// A leaf of groups whose suite signs with ML-DSA-65 (`m/5'`).
    GroupMlDsa65,
    /// A leaf of groups whose suite signs with ML-DSA-87 (`m/5'`).
    GroupMlDsa87,
    /// A leaf of groups whose suite signs with Ed25519 (`m/5'`).
    GroupEd25519,
    /// A leaf of groups whose suite signs with ECDSA on P-256 (`m/5'`).
    GroupEcdsaP256,
    /// A leaf of groups whose suite signs with ECDSA on P-384 (`m/5'`).
    GroupEcdsaP384,
    /// A leaf of groups whose suite signs with ECDSA on P-521 (`m/5'`).
    GroupEcdsaP521,
    /// A leaf of groups whose suite signs with the composite of ML-DSA-65 and Ed25519 (`m/5'`).
    GroupMlDsa65Ed25519,
    /// A leaf of groups whose suite signs with the composite of ML-DSA-87 and ECDSA on P-384 (`m/5'`).
    GroupMlDsa87EcdsaP384,
}

impl Role {
    /// Every role that all cards have, in the order of cards. Those of groups stand only in cards that ask for them.
    pub const ALL: [Self; 8] = [
        Self::Identity,
        Self::Signing,
        Self::Did,
        Self::Backup,
        Self::Sealed,
        Self::Encapsulation,
        Self::DataIntegrity,
        Self::Log,
    ];

    /// The roles of groups, in the order of cards: [`CardContent::groups`] says which a card has.
    pub const GROUPS: [Self; 9] = [
        Self::GroupMlDsa44,
        Self::GroupMlDsa65,
        Self::GroupMlDsa87,
        Self::GroupEd25519,
        Self::GroupEcdsaP256,
        Self::GroupEcdsaP384,
        Self::GroupEcdsaP521,
        Self::GroupMlDsa65Ed25519,
        Self::GroupMlDsa87EcdsaP384,
    ];

    /// The role of this name.
    pub(crate) fn of_fragment(name: &str) -> Option<Self> {
        Self::ALL.into_iter().chain(Self::GROUPS).find(|role| role.fragment() == name)
    }

    /// The name in URLs of keys, before `-` and the index.
    pub const fn fragment(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Signing => "signing",
            Self::Did => "did",
            Self::Backup => "backup",
            Self::Sealed => "sealed",
            Self::Encapsulation => "encapsulation",
            Self::DataIntegrity => "data-integrity",
            Self::Log => "log",
            Self::GroupMlDsa44 => "group-ml-dsa-44",
            Self::GroupMlDsa65 => "group-ml-dsa-65",
            Self::GroupMlDsa87 => "group-ml-dsa-87",
            Self::GroupEd25519 => "group-ed25519",
            Self::GroupEcdsaP256 => "group-ecdsa-p256",
            Self::GroupEcdsaP384 => "group-ecdsa-p384",
            Self::GroupEcdsaP521 => "group-ecdsa-p521",
            Self::GroupMlDsa65Ed25519 => "group-mldsa65-ed25519",
            Self::GroupMlDsa87EcdsaP384 => "group-mldsa87-ecdsa-p384",
        }
    }

    /// What a card says that the key may be used for. The keys of cards, logs and groups are in no relationship, so that nobody
    /// takes their signatures for something else.
    pub const fn relationships(self) -> &'static [Relationship] {
        match self {
            Self::Identity => &[Relationship::Authentication],
            Self::Signing => &[
                Relationship::AssertionMethod,
                Relationship::CapabilityInvocation,
                Relationship::CapabilityDelegation,
            ],
            Self::Backup | Self::Sealed | Self::Encapsulation => &[Relationship::KeyAgreement],
            Self::DataIntegrity => &[Relationship::AssertionMethod],
            Self::Did
            | Self::Log
            | Self::GroupMlDsa44
            | Self::GroupMlDsa65
            | Self::GroupMlDsa87
            | Self::GroupEd25519
            | Self::GroupEcdsaP256
            | Self::GroupEcdsaP384
            | Self::GroupEcdsaP521
            | Self::GroupMlDsa65Ed25519
            | Self::GroupMlDsa87EcdsaP384 => &[],
        }
    }

    const fn purpose(self) -> Purpose {
        match self {
            Self::Identity => Purpose::Identity,
            Self::Signing => Purpose::Signing,
            Self::Did => Purpose::Did,
            Self::Backup => Purpose::Backup,
            Self::Sealed => Purpose::Sealed,
            Self::Encapsulation => Purpose::Encapsulation,
            Self::DataIntegrity => Purpose::DataIntegrity,
            Self::Log => Purpose::Log,
            Self::GroupMlDsa44 => Purpose::GroupMlDsa44,
            Self::GroupMlDsa65 => Purpose::GroupMlDsa65,
            Self::GroupMlDsa87 => Purpose::GroupMlDsa87,
            Self::GroupEd25519 => Purpose::GroupEd25519,
            Self::GroupEcdsaP256 => Purpose::GroupEcdsaP256,
            Self::GroupEcdsaP384 => Purpose::GroupEcdsaP384,
            Self::GroupEcdsaP521 => Purpose::GroupEcdsaP521,
            Self::GroupMlDsa65Ed25519 => Purpose::GroupMlDsa65Ed25519,
            Self::GroupMlDsa87EcdsaP384 => Purpose::GroupMlDsa87EcdsaP384,
        }
    }

    /// The algorithm of the role's signatures; `None` for roles that open, and for those of groups whose algorithm is none of this crate's
    /// formats: not ML-DSA alone.
    pub const fn algorithm(self, suite: Suite) -> Option<Algorithm> {
        match (self, suite) {
            (Self::Backup | Self::Sealed | Self::Encapsulation, _) => None,
            (
                Self::GroupEd25519
                | Self::GroupEcdsaP256
                | Self::GroupEcdsaP384
                | Self::GroupEcdsaP521
                | Self::GroupMlDsa65Ed25519
                | Self::GroupMlDsa87EcdsaP384,
                _,
            ) => None,
            (Self::DataIntegrity | Self::Log | Self::GroupMlDsa44, _) => Some(Algorithm::MlDsa44),
            (Self::GroupMlDsa65, _) => Some(Algorithm::MlDsa65),
            (Self::GroupMlDsa87, _) => Some(Algorithm::MlDsa87),
            (_, Suite::Default) => Some(Algorithm::MlDsa65),
            (_, Suite::Cnsa2) => Some(Algorithm::MlDsa87),
        }
    }

    /// The `alg` of the JWK of a role that opens.
    pub const fn agreement_algorithm(self, suite: Suite) -> Option<&'static str> {
        match (self, suite) {
            (Self::Backup, Suite::Default) => Some("age-mlkem768x25519"),
            (Self::Backup, Suite::Cnsa2) => Some("gambeson-backup-cnsa2-v1"),
            (Self::Sealed, Suite::Default) => Some("gambeson-sealed-v1"),
            (Self::Sealed, Suite::Cnsa2) => Some("gambeson-sealed-cnsa2-v1"),
            (Self::Encapsulation, Suite::Default) => Some("ML-KEM-768"),
            (Self::Encapsulation, Suite::Cnsa2) => Some("ML-KEM-1024"),
            _ => None,
        }
    }

    const fn position(self) -> usize {
        self as usize
    }
}

/// How many roles there are.
const ROLES: usize = Role::ALL.len() + Role::GROUPS.len();

/// How much stack is wiped below what makes a private key that opens, in bytes: the frame that hands it over.
const OPENING_DEPTH: usize = 4 << 10;

/// A private key that opens, of the kind that the suite uses.
pub(crate) enum OpeningKey {
    XWing(Box<xwing::DecapsulationKey>),
    MlKem768(Box<mlkem::DecapsulationKey<MlKem768>>),
    MlKem1024(Box<mlkem::DecapsulationKey<MlKem1024>>),
}

impl OpeningKey {
    /// The public key.
    pub(crate) fn public(&self) -> Vec<u8> {
        match self {
            Self::XWing(key) => key.encapsulation_key().as_bytes().to_vec(),
            Self::MlKem768(key) => key.encapsulation_key().as_bytes().to_vec(),
            Self::MlKem1024(key) => key.encapsulation_key().as_bytes().to_vec(),
        }
    }
}

/// An agent: its seed, its DID, and the keys that come from the seed.
///
/// Keys are made when they are first used, and wiped with the agent. Nothing gives a private key or the seed away:
///
/// ```
/// use gambeson_identity::{Agent, CardContent, Role, Timestamp};
///
/// let agent = Agent::generate()?;
/// let signature = agent.key(Role::Signing).sign(b"example", b"hello")?;
/// agent.key(Role::Signing).verifying_key().verify(b"example", b"hello", &signature)?;
///
/// let now = Timestamp(1_795_330_800);
/// let card = agent.first_card(now, now.after(86_400), &CardContent::default())?;
/// assert_eq!(card.document().id(), agent.did());
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
///
/// It is not copied, gives no seed away and is written nowhere, where what is public is:
///
/// ```
/// # let agent = gambeson_identity::Agent::generate()?;
/// let copy = agent.did().clone();
/// let key = agent.public_key(gambeson_identity::Role::Sealed);
/// serde_json::to_string(agent.did().as_str());
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
///
/// ```compile_fail,E0599
/// # let agent = gambeson_identity::Agent::generate()?;
/// let copy = agent.clone();
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
///
/// ```compile_fail,E0599
/// # let agent = gambeson_identity::Agent::generate()?;
/// let seed = agent.seed();
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
///
/// ```compile_fail,E0277
/// # let agent = gambeson_identity::Agent::generate()?;
/// serde_json::to_string(&agent);
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
pub struct Agent {
    suite: Suite,
    seed: MasterSeed,
    did: Did,
    indexes: [u64; ROLES],
    session: u64,
    keys: [OnceLock<SigningKey>; ROLES],
    #[cfg(feature = "groups")]
    leaves: [OnceLock<leaf::LeafKey>; ROLES],
    sealing_hedge: OnceLock<Hedge>,
    #[cfg(feature = "test-vectors")]
    deterministic: bool,
}

impl Agent {
    /// A new agent of the default suite.
    ///
    /// # Errors
    ///
    /// [`Reason::NoRandomness`].
    pub fn generate() -> Result<Self> {
        Ok(Self::from_seed(MasterSeed::generate()?))
    }

    /// The agent of a seed, in the default suite, before any rotation.
    pub fn from_seed(seed: MasterSeed) -> Self {
        Self::with_suite(seed, Suite::Default)
    }

    /// The agent of a seed in this suite, before any rotation.
    pub fn with_suite(seed: MasterSeed, suite: Suite) -> Self {
        let first =
            signing_key(&seed, suite, Role::Did, 0, Hedge::new(&seed, suite, Purpose::SigningHedge, 0));
        let did = Did::of_key(suite, &first.verifying_key());
        Self {
            suite,
            seed,
            did,
            indexes: [0; ROLES],
            session: 0,
            keys: Default::default(),
            #[cfg(feature = "groups")]
            leaves: Default::default(),
            sealing_hedge: OnceLock::new(),
            #[cfg(feature = "test-vectors")]
            deterministic: false,
        }
    }

    /// The agent of a seed as its newest card has it: rotated keys are found again by the indexes in their URLs.
    ///
    /// # Errors
    ///
    /// [`Reason::WrongSeed`] if the card's keys are not those of the seed; [`Reason::BadAlgorithm`] if it lists keys of groups that only feature
    /// `groups` makes.
    pub fn recover(seed: MasterSeed, log: &CardLog) -> Result<Self> {
        let mut agent = Self::with_suite(seed, log.did().suite());
        let card = log.newest();
        agent.indexes[Role::Did.position()] = card.version() - 1;
        for method in card.document().methods() {
            let Some((name, index)) = method.id().fragment().rsplit_once('-') else { continue };
            if let (Some(role), Some(index), None, None) =
                (Role::of_fragment(name), crate::kdf::decimal(index), method.revoked(), method.expires())
            {
                agent.indexes[role.position()] = index;
            }
        }
        let known =
            card.document().json()["verificationMethod"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut ours = agent.did == *log.did();
        for role in Role::ALL.into_iter().chain(card.content().groups) {
            ours = ours && known.contains(&agent.verification_method(role)?);
        }
        match ours {
            true => Ok(agent),
            false => Err(Error::new(Reason::WrongSeed, "the newest card has keys of another seed")),
        }
    }

    /// Counts sessions: each has hedge keys of its own (`m/4'/n'`). A boot counter or a time will do. Without it the
    /// session is 0: 32 fresh bytes of the system stand in every draw all the same.
    pub fn begin_session(&mut self, n: u64) {
        self.session = n;
        self.forget();
    }

    /// Signatures of the deterministic variant, and the same "random" bytes in each run. For test vectors alone.
    #[cfg(feature = "test-vectors")]
    #[must_use]
    pub fn deterministic(mut self) -> Self {
        self.deterministic = true;
        self.forget();
        self
    }

    /// The DID.
    pub fn did(&self) -> &Did {
        &self.did
    }

    /// The suite.
    pub fn suite(&self) -> Suite {
        self.suite
    }

    /// The index of a role's present key: how often it was rotated.
    pub fn index(&self, role: Role) -> u64 {
        self.indexes[role.position()]
    }

    /// The URL of a role's present key.
    pub fn key_url(&self, role: Role) -> DidUrl {
        self.did.url(&format!("{}-{}", role.fragment(), self.index(role)))
    }

    /// The private key of a role that signs.
    ///
    /// # Panics
    ///
    /// For a role that opens, and for one of groups that signs with more or less than ML-DSA: [`Role::algorithm`] is `None`.
    pub fn key(&self, role: Role) -> &SigningKey {
        self.keys[role.position()].get_or_init(|| {
            signing_key(&self.seed, self.suite, role, self.index(role), self.hedge(Purpose::SigningHedge))
        })
    }

    /// The public key of a role that opens, or of one that signs.
    ///
    /// # Panics
    ///
    /// For a role of groups whose algorithm is not ML-DSA, without feature `groups`.
    pub fn public_key(&self, role: Role) -> Vec<u8> {
        match role.algorithm(self.suite) {
            Some(_) => self.key(role).verifying_key().as_bytes().to_vec(),
            None if role.leaf_form().is_some() => {
                self.group_public_key(role, self.index(role)).expect("feature groups is there")
            }
            None => self.opening_key(role, self.index(role)).public(),
        }
    }

    /// The agent of a fleet: its seed comes from this one's, and tells nothing about it.
    #[must_use]
    pub fn child(&self, index: u64) -> Self {
        Self::with_suite(self.seed.child(self.suite, index), self.suite)
    }

    /// Makes the first identity card.
    ///
    /// # Errors
    ///
    /// [`Reason::NoRandomness`]; [`Reason::BadForm`] for content that a DID document cannot have;
    /// [`Reason::BrokenChain`] if keys were rotated already.
    pub fn first_card(&self, from: Timestamp, until: Timestamp, content: &CardContent) -> Result<Card> {
        Card::first(self, from, until, content)
    }

    /// Makes the next identity card: new keys for these roles, and a new DID key in any case. Adds it to the log.
    ///
    /// # Errors
    ///
    /// [`Reason::WrongSeed`] if the log is not this agent's; [`Reason::TooLarge`] if it has [`MAX_CARDS`](crate::MAX_CARDS)
    /// cards, or the new one would be longer than [`MAX_CARD`](crate::MAX_CARD); [`Reason::BrokenChain`] if it would begin
    /// before the newest; [`Reason::NoRandomness`], [`Reason::BadForm`]. Agent and log stay as they were.
    pub fn rotate(
        &mut self,
        log: &mut CardLog,
        roles: &[Role],
        retired: Retired,
        (from, until): (Timestamp, Timestamp),
        content: &CardContent,
    ) -> Result<()> {
        let newest = log.newest();
        if *log.did() != self.did || newest.version() - 1 != self.index(Role::Did) {
            return Err(Error::new(
                Reason::WrongSeed,
                "the card log belongs to another agent or lacks its newest card",
            ));
        }
        let before = self.indexes;
        for role in Role::ALL
            .into_iter()
            .chain(Role::GROUPS)
            .filter(|role| *role == Role::Did || roles.contains(role))
        {
            self.indexes[role.position()] += 1;
        }
        self.forget();
        let kept = newest.retire(roles, retired, from);
        let made = Card::sign(self, Some(newest), from, until, content, &kept)
            .and_then(|card| log.push_verified(card));
        if made.is_err() {
            self.indexes = before;
            self.forget();
        }
        made
    }

    /// The entry of a role's present key in a card.
    ///
    /// # Errors
    ///
    /// [`Reason::BadAlgorithm`] for a role of groups whose algorithm is not ML-DSA, without feature `groups`.
    pub(crate) fn verification_method(&self, role: Role) -> Result<Value> {
        let mut method = Map::from_iter([
            ("id".to_owned(), self.key_url(role).to_string().into()),
            ("controller".to_owned(), self.did.as_str().into()),
        ]);
        let kind = if role == Role::DataIntegrity { Kind::Multikey } else { Kind::JsonWebKey };
        let (name, value) = match (role.agreement_algorithm(self.suite), kind) {
            (Some(algorithm), _) => (
                "publicKeyJwk",
                json!({"kty": "AKP", "alg": algorithm, "pub": encoding::encode(&self.public_key(role))}),
            ),
            (None, Kind::JsonWebKey) => match role.leaf_form() {
                Some(form) => ("publicKeyJwk", group::jwk(self, role, form)?),
                None => ("publicKeyJwk", self.key(role).verifying_key().to_jwk()),
            },
            (None, Kind::Multikey) => {
                ("publicKeyMultibase", self.key(role).verifying_key().to_multikey().into())
            }
        };
        method.insert("type".into(), if kind == Kind::Multikey { "Multikey" } else { "JsonWebKey" }.into());
        method.insert(name.into(), value);
        Ok(method.into())
    }

    /// The hash of the DID key after the present one.
    pub(crate) fn next_did_key_hash(&self) -> Vec<u8> {
        let index = self.index(Role::Did) + 1;
        let next = signing_key(&self.seed, self.suite, Role::Did, index, self.hedge(Purpose::SigningHedge));
        crate::did::multihash(self.suite, next.verifying_key().as_bytes())
    }

    /// The private key of a role that opens; earlier indexes open what was sealed before a rotation.
    pub(crate) fn opening_key(&self, role: Role, index: u64) -> OpeningKey {
        // A key that moves into its box leaves a copy in the frame that made it.
        let _guard = StackGuard::<OPENING_DEPTH>;
        self.boxed_opening_key(role, index)
    }

    #[inline(never)]
    fn boxed_opening_key(&self, role: Role, index: u64) -> OpeningKey {
        let purpose = role.purpose();
        match (role, self.suite) {
            (Role::Backup | Role::Sealed, Suite::Default) => {
                let seed = self.seed.derive_32(self.suite, purpose, index);
                OpeningKey::XWing(Box::new(xwing::DecapsulationKey::from_seed(seed.expose())))
            }
            (Role::Encapsulation, Suite::Default) => {
                let seed = self.seed.derive::<64>(self.suite, purpose, index);
                OpeningKey::MlKem768(Box::new(mlkem::DecapsulationKey::from_seed(seed.expose())))
            }
            (Role::Backup | Role::Sealed | Role::Encapsulation, Suite::Cnsa2) => {
                let seed = self.seed.derive::<64>(self.suite, purpose, index);
                OpeningKey::MlKem1024(Box::new(mlkem::DecapsulationKey::from_seed(seed.expose())))
            }
            _ => panic!("{role:?} is a signing role and has no key to open with"),
        }
    }

    /// The X-Wing seed of the backup key, for its age identity. Default suite only.
    pub(crate) fn backup_seed(&self, index: u64) -> Secret<[u8; 32]> {
        self.seed.derive_32(self.suite, Purpose::Backup, index)
    }

    /// Shows that this agent made these bytes, to itself: 32 bytes of keyed BLAKE3, or in suite `cnsa2` 48 of HMAC-SHA384.
    pub(crate) fn backup_mac(&self, bytes: &[u8]) -> Vec<u8> {
        match self.suite {
            Suite::Default => {
                let key = self.seed.derive_32(self.suite, Purpose::BackupMac, 0);
                let mut hasher = blake3::Hasher::new_keyed(key.expose());
                let mac = hasher.update(bytes).finalize();
                zeroize::Zeroize::zeroize(&mut hasher);
                mac.as_bytes().to_vec()
            }
            Suite::Cnsa2 => {
                let key = self.seed.derive::<48>(self.suite, Purpose::BackupMac, 0);
                let mac =
                    Hmac::<Sha384>::new_from_slice(key.expose()).expect("HMAC takes keys of any length");
                mac.chain_update(bytes).finalize().into_bytes().to_vec()
            }
        }
    }

    /// The key that encrypts state at rest.
    pub(crate) fn state_key(&self, index: u64) -> Secret<[u8; 32]> {
        self.seed.derive_32(self.suite, Purpose::State, index)
    }

    /// 32 random bytes, hedged with the session's sealing key and these parts.
    pub(crate) fn random(&self, parts: &[&[u8]]) -> Result<Secret<[u8; 32]>> {
        self.sealing_hedge.get_or_init(|| self.hedge(Purpose::SealingHedge)).draw(parts)
    }

    /// A generator for what this agent seals, such as age files: 32 bytes of the system and the session's key (`m/4'`) stand behind each 32
    /// bytes that it gives, so that a broken generator of the system alone betrays nothing. `purpose` says what it is for.
    ///
    /// ```
    /// use gambeson_age::{Encryptor, Format, Identity};
    /// use std::io::Write;
    ///
    /// let agent = gambeson_identity::Agent::generate()?;
    /// let friend = Identity::generate()?.recipient();
    /// let mut file = Encryptor::new_with(&[friend], Vec::new(), Format::Binary, &mut agent.rng(b"letter"))?;
    /// file.write_all(b"quilted linen")?;
    /// file.finish()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rng<'a>(&'a self, purpose: &'a [u8]) -> HedgedRng<'a> {
        HedgedRng { agent: self, purpose }
    }

    /// A generator for this agent's groups (MLS): as [`rng`](Self::rng), under a key of its own (`m/4'`), and without a borrow of the agent.
    ///
    /// ```
    /// let agent = gambeson_identity::Agent::generate()?;
    /// let random = agent.group_rng();
    /// // What `gambeson_mls::Provider::with_hedge` takes.
    /// let fill = move |out: &mut [u8]| random.fill(out);
    /// let mut bytes = [0; 40];
    /// fill(&mut bytes)?;
    /// assert_ne!(bytes, [0; 40]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn group_rng(&self) -> GroupRng {
        GroupRng(self.hedge(Purpose::GroupHedge))
    }

    fn hedge(&self, purpose: Purpose) -> Hedge {
        let hedge = Hedge::new(&self.seed, self.suite, purpose, self.session);
        #[cfg(feature = "test-vectors")]
        if self.deterministic {
            return hedge.deterministic();
        }
        hedge
    }

    /// Drops keys that were made from indexes that no longer hold.
    fn forget(&mut self) {
        self.keys = Default::default();
        #[cfg(feature = "groups")]
        {
            self.leaves = Default::default();
        }
        self.sealing_hedge = OnceLock::new();
    }
}

/// What [`Agent::rng`] gives.
pub struct HedgedRng<'a> {
    agent: &'a Agent,
    purpose: &'a [u8],
}

impl TryRng for HedgedRng<'_> {
    type Error = RngError;

    fn try_next_u32(&mut self) -> core::result::Result<u32, RngError> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes).map(|()| u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> core::result::Result<u64, RngError> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes).map(|()| u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> core::result::Result<(), RngError> {
        fill(out, || self.agent.random(&[b"rng", self.purpose]))
    }
}

impl TryCryptoRng for HedgedRng<'_> {}

/// What [`Agent::group_rng`] gives.
pub struct GroupRng(Hedge);

impl GroupRng {
    /// Fills `out` with random bytes, each 32 of them from as many of the system and the session's key.
    ///
    /// # Errors
    /// [`RngError`] when the system's generator fails.
    pub fn fill(&self, out: &mut [u8]) -> core::result::Result<(), RngError> {
        fill(out, || self.0.draw(&[b"group"]))
    }
}

impl core::fmt::Debug for GroupRng {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("GroupRng(..)")
    }
}

fn fill(out: &mut [u8], draw: impl Fn() -> Result<Secret<[u8; 32]>>) -> core::result::Result<(), RngError> {
    for part in out.chunks_mut(32) {
        let drawn = draw().map_err(|_| RngError)?;
        part.copy_from_slice(&drawn.expose()[..part.len()]);
    }
    Ok(())
}

impl core::fmt::Debug for HedgedRng<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("HedgedRng(..)")
    }
}

impl core::fmt::Debug for Agent {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Agent").field("did", &self.did).field("suite", &self.suite).finish_non_exhaustive()
    }
}

fn signing_key(seed: &MasterSeed, suite: Suite, role: Role, index: u64, hedge: Hedge) -> SigningKey {
    let algorithm = role
        .algorithm(suite)
        .unwrap_or_else(|| panic!("{role:?} is a role that opens and has no key to sign with"));
    SigningKey::from_seed(algorithm, seed.derive_32(suite, role.purpose(), index).expose(), hedge)
}

#[cfg(all(test, feature = "test-vectors"))]
mod tests {
    use super::*;
    use crate::MasterSeed;

    #[test]
    fn where_the_system_repeats_itself_groups_still_draw_by_the_agents_key() {
        let drawn = |seed, len| {
            let mut out = vec![0; len];
            let agent = Agent::from_seed(MasterSeed::from_bytes(&[seed; 32])).deterministic();
            agent.group_rng().fill(&mut out).unwrap();
            (out, agent)
        };
        let (first, agent) = drawn(1, 70);
        assert_eq!(first, drawn(1, 70).0, "the generator of this test repeats itself");
        assert_ne!(first, drawn(2, 70).0);
        assert_ne!(first[..32], first[32..64]);
        assert_eq!(first[..33], drawn(1, 33).0);
        let mut other = [0; 32];
        agent.rng(b"group").try_fill_bytes(&mut other).unwrap();
        assert_ne!(first[..32], other, "the key is not the sealing key");
    }
}
