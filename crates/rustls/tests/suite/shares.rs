//! Key shares: the same bytes as gambeson-hybrid's, and every way in which one can be wrong.

use std::sync::Arc;

use crate::loopback::{Chain, connect};
use gambeson::mlkem::{DecapsulationKey, EncapsulationKey, MlKem512, MlKem768, MlKem1024, ParameterSet};
use gambeson_hybrid::kem::{self, HybridKem};
use gambeson_hybrid::x448;
use gambeson_pki::Algorithm;
use gambeson_rustls::{
    Builder, GROUPS, Group, MLKEM512, MLKEM768, MLKEM1024, P256, P384, Preset, SECP256R1_MLKEM768,
    SECP384R1_MLKEM1024, X448, X448_MLKEM768, X448_MLKEM1024, X25519, X25519_MLKEM768,
};
use rustls::crypto::{ActiveKeyExchange, CompletedKeyExchange, SharedSecret, SupportedKxGroup};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{AlertDescription, Error, NamedGroup, PeerMisbehaved, ProtocolVersion};

const REFUSED: Error = Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare);

/// Bytes of what the client sends, what the server sends, and the secret.
const LENGTHS: [(&Group, u16, usize, usize, usize); 12] = [
    (&X25519_MLKEM768, 0x11ec, 1216, 1120, 64),
    (&SECP256R1_MLKEM768, 0x11eb, 1249, 1153, 64),
    (&SECP384R1_MLKEM1024, 0x11ed, 1665, 1665, 80),
    (&X448_MLKEM768, 0x2fb7, 1240, 1144, 88),
    (&X448_MLKEM1024, 0xfe48, 1624, 1624, 88),
    (&MLKEM512, 0x0200, 800, 768, 32),
    (&MLKEM768, 0x0201, 1184, 1088, 32),
    (&MLKEM1024, 0x0202, 1568, 1568, 32),
    (&X25519, 0x001d, 32, 32, 32),
    (&P256, 0x0017, 65, 65, 32),
    (&P384, 0x0018, 97, 97, 48),
    (&X448, 0x001e, 56, 56, 56),
];

#[test]
fn shares_and_secrets_have_the_lengths_of_the_standards() {
    for (group, number, up, down, secret) in LENGTHS {
        assert_eq!(u16::from(group.name()), number);
        let client = group.start().unwrap();
        assert_eq!((client.group(), client.pub_key().len()), (group.name(), up), "{group}");
        let server = group.start_and_complete(client.pub_key()).unwrap();
        assert_eq!((server.group, server.pub_key.len()), (group.name(), down), "{group}");
        let ours = client.complete(&server.pub_key).unwrap();
        assert_eq!(ours.secret_bytes(), server.secret.secret_bytes(), "{group}");
        assert_eq!(ours.secret_bytes().len(), secret, "{group}");
        assert!(group.ffdhe_group().is_none() && !group.fips());
    }
    assert_eq!(LENGTHS.len(), GROUPS.len());
}

#[test]
fn hybrids_agree_with_gambeson_hybrid_in_both_roles() {
    let mut ran = 0;
    for kem in kem::KEMS.iter().copied().filter(|kem| kem.group().is_some()) {
        let group = Group::by_number(kem.group().unwrap()).unwrap();
        assert_eq!(group.to_string(), kem.name());

        let client = group.start().unwrap();
        let theirs = kem::EncapsulationKey::from_bytes(kem, client.pub_key()).unwrap();
        let (ciphertext, sent) = theirs.encapsulate().unwrap();
        assert_eq!(client.complete(ciphertext.as_bytes()).unwrap().secret_bytes(), sent.expose(), "{kem}");

        let ours = kem::DecapsulationKey::generate(kem).unwrap();
        let server = group.start_and_complete(ours.encapsulation_key().as_bytes()).unwrap();
        let received = ours.decapsulate(&server.pub_key).unwrap();
        assert_eq!(received.expose(), server.secret.secret_bytes(), "{kem}");
        ran += 1;
    }
    assert_eq!(ran, 5, "every hybrid of TLS");
}

#[test]
fn ml_kem_alone_agrees_with_gambeson_in_both_roles() {
    fn check<P: ParameterSet>(group: &Group) {
        let client = group.start().unwrap();
        let theirs = EncapsulationKey::<P>::try_from(client.pub_key()).unwrap();
        let (ciphertext, sent) = theirs.encapsulate().unwrap();
        assert_eq!(client.complete(ciphertext.as_ref()).unwrap().secret_bytes(), sent.expose());

        let ours = DecapsulationKey::<P>::generate().unwrap();
        let server = group.start_and_complete(ours.encapsulation_key().as_bytes().as_ref()).unwrap();
        let Ok(ciphertext) = P::Ciphertext::try_from(&server.pub_key) else { panic!("the set's length") };
        assert_eq!(ours.decapsulate(&ciphertext).expose(), server.secret.secret_bytes());
    }
    check::<MlKem512>(&MLKEM512);
    check::<MlKem768>(&MLKEM768);
    check::<MlKem1024>(&MLKEM1024);
}

#[test]
fn x448_agrees_with_gambeson_hybrid() {
    let (client, ours) = (X448.start().unwrap(), x448::SecretKey::generate().unwrap());
    let secret = ours.diffie_hellman(client.pub_key().try_into().unwrap()).unwrap();
    assert_eq!(client.complete(&ours.public_key()).unwrap().secret_bytes(), secret.expose());
}

#[test]
fn the_curve_of_a_hybrid_can_be_completed_alone() {
    for (hybrid, curve) in [
        (&X25519_MLKEM768, &X25519),
        (&SECP256R1_MLKEM768, &P256),
        (&SECP384R1_MLKEM1024, &P384),
        (&X448_MLKEM1024, &X448),
        (&X448_MLKEM768, &X448),
    ] {
        let client = hybrid.start().unwrap();
        let (group, share) = client.hybrid_component().unwrap();
        assert_eq!(group, curve.name());
        let server = curve.start_and_complete(share).unwrap();
        let ours = client.complete_hybrid_component(&server.pub_key).unwrap();
        assert_eq!(ours.secret_bytes(), server.secret.secret_bytes(), "{hybrid}");
    }
    assert!(MLKEM768.start().unwrap().hybrid_component().is_none());
}

/// Where the parts of a share begin: ML-KEM's and the curve's, of `len` bytes in all.
fn parts(group: &Group, len: usize) -> (Option<usize>, Option<usize>) {
    match HybridKem::by_group(group.number()) {
        Some(kem) if kem.curve_first() => (Some(kem.curve().public_len()), Some(0)),
        Some(kem) => (Some(0), Some(len - kem.curve().public_len())),
        None if group.is_post_quantum() => (Some(0), None),
        None => (None, Some(0)),
    }
}

/// Shares that are wrong whatever the key: each with what is wrong about it.
fn wrong_shares(group: &Group, right: &[u8], from_client: bool) -> Vec<(&'static str, Vec<u8>)> {
    let mut wrong = vec![
        ("empty", vec![]),
        ("a byte short", right[..right.len() - 1].to_vec()),
        ("a byte long", [right, &[0]].concat()),
        ("the share of another group", vec![0; right.len() / 2]),
    ];
    let (m, x) = parts(group, right.len());
    if let Some(m) = m.filter(|_| from_client) {
        let mut unreduced = right.to_vec();
        // The first coefficient, in 12 bits, becomes 4095.
        unreduced[m] = 0xff;
        unreduced[m + 1] |= 0x0f;
        wrong.push(("a coefficient not below q", unreduced));
    }
    if let Some(x) = x {
        let weierstrass = [&P256, &P384, &SECP256R1_MLKEM768, &SECP384R1_MLKEM1024].contains(&group);
        let end = if m.is_some_and(|m| m > x) { m.unwrap() } else { right.len() };
        if weierstrass {
            let mut off = right.to_vec();
            off[end - 1] ^= 1;
            wrong.push(("a point off the curve", off));
            let mut infinity = right.to_vec();
            infinity[x..end].fill(0);
            wrong.push(("no point", infinity));
            let mut compressed = right.to_vec();
            compressed[x] = 0x02;
            wrong.push(("a compressed point's first byte", compressed));
        } else {
            for (why, first) in [("the point 0", 0), ("the point 1", 1)] {
                let mut low = right.to_vec();
                low[x..end].fill(0);
                low[x] = first;
                wrong.push((why, low));
            }
        }
    }
    wrong
}

#[test]
fn a_wrong_share_of_a_client_is_refused() {
    let mut ran = 0;
    for group in GROUPS {
        let right = group.start().unwrap().pub_key().to_vec();
        for (why, wrong) in wrong_shares(group, &right, true) {
            assert_eq!(group.start_and_complete(&wrong).err(), Some(REFUSED), "{group}: {why}");
            ran += 1;
        }
    }
    // Four lengths for all, the modulus for those with ML-KEM, three points of NIST's curves and two of the others.
    assert_eq!(ran, 12 * 4 + 8 + 4 * 3 + 5 * 2);
}

#[test]
fn a_wrong_share_of_a_server_is_refused() {
    let mut ran = 0;
    for group in GROUPS {
        let client = group.start().unwrap();
        let right = group.start_and_complete(client.pub_key()).unwrap().pub_key;
        for (why, wrong) in wrong_shares(group, &right, false) {
            let client = group.start().unwrap();
            assert_eq!(client.complete(&wrong).err(), Some(REFUSED), "{group}: {why}");
            ran += 1;
        }
    }
    assert_eq!(ran, 12 * 4 + 4 * 3 + 5 * 2);
}

#[test]
fn a_wrong_share_for_the_curve_alone_is_refused() {
    for group in GROUPS.iter().filter(|group| HybridKem::by_group(group.number()).is_some()) {
        let client = group.start().unwrap();
        assert_eq!(client.complete_hybrid_component(&[0; 31]).err(), Some(REFUSED), "{group}");
    }
}

/// A group whose shares one side spoils.
#[derive(Clone, Copy, Debug)]
struct Spoiled {
    group: &'static Group,
    client: bool,
    how: fn(&mut Vec<u8>),
}

struct SpoiledExchange(Box<dyn ActiveKeyExchange>, Vec<u8>);

impl SupportedKxGroup for Spoiled {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let exchange = self.group.start()?;
        let mut share = exchange.pub_key().to_vec();
        if self.client {
            (self.how)(&mut share);
        }
        Ok(Box::new(SpoiledExchange(exchange, share)))
    }

    fn start_and_complete(&self, peer: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let mut answer = self.group.start_and_complete(peer)?;
        if !self.client {
            (self.how)(&mut answer.pub_key);
        }
        Ok(answer)
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        self.group.name()
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        self.group.usable_for_version(version)
    }
}

impl ActiveKeyExchange for SpoiledExchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        self.0.complete(peer)
    }

    fn pub_key(&self) -> &[u8] {
        &self.1
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn group(&self) -> NamedGroup {
        self.0.group()
    }
}

#[test]
fn in_tls_a_wrong_share_is_answered_with_illegal_parameter() {
    let chain = Chain::new(Algorithm::MlDsa65, 2);
    for group in GROUPS.iter().copied() {
        for client in [true, false] {
            let honest = Arc::new(Builder::new(Preset::Default).groups(&[group]).build().unwrap());
            let how = |share: &mut Vec<u8>| {
                share.pop();
            };
            let spoiled: &'static Spoiled = Box::leak(Box::new(Spoiled { group, client, how }));
            let mut other = honest.as_ref().clone();
            other.kx_groups = vec![spoiled];
            let other = Arc::new(other);
            let (ours, theirs) = if client { (&other, &honest) } else { (&honest, &other) };
            let failure = connect(chain.client(ours), chain.server(theirs)).unwrap_err();
            let (refuses, told) =
                if client { (failure.server, failure.client) } else { (failure.client, failure.server) };
            assert_eq!(refuses, Some(REFUSED), "{group}");
            assert_eq!(told, Some(Error::AlertReceived(AlertDescription::IllegalParameter)), "{group}");
        }
    }
}

#[test]
fn a_changed_ciphertext_gives_another_secret_and_no_handshake() {
    let chain = Chain::new(Algorithm::MlDsa65, 2);
    for group in [&X25519_MLKEM768, &SECP384R1_MLKEM1024, &X448_MLKEM1024, &MLKEM768] {
        let honest = Arc::new(Builder::new(Preset::Default).groups(&[group]).build().unwrap());
        let how = |share: &mut Vec<u8>| share[700] ^= 1;
        let spoiled: &'static Spoiled = Box::leak(Box::new(Spoiled { group, client: false, how }));
        let mut other = honest.as_ref().clone();
        other.kx_groups = vec![spoiled];
        let failure = connect(chain.client(&honest), chain.server(&Arc::new(other))).unwrap_err();
        // Neither can read what the other encrypts.
        assert_eq!(failure.client, Some(Error::DecryptError), "{group}");
        assert_eq!(failure.server, Some(Error::DecryptError), "{group}");
    }
}
