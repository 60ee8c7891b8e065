//! Keys of leaves of groups: listed when they are asked for, found, rotated, recovered.

use crate::world::{DAY, NOW};
use gambeson_identity::{
    Agent, Algorithm, CardContent, CardLog, DidDocument, Kind, MasterSeed, Reason, Relationship, Retired,
    Role, Suite, VerifyingKey,
};
use serde_json::{Value, json};

const LATTICES: [(Role, Algorithm); 3] = [
    (Role::GroupMlDsa44, Algorithm::MlDsa44),
    (Role::GroupMlDsa65, Algorithm::MlDsa65),
    (Role::GroupMlDsa87, Algorithm::MlDsa87),
];

fn agent(suite: Suite) -> Agent {
    Agent::with_suite(MasterSeed::from_bytes(&[9; 32]), suite)
}

fn content(groups: &[Role]) -> CardContent {
    CardContent { groups: groups.to_vec(), ..CardContent::default() }
}

fn log(agent: &Agent, groups: &[Role]) -> CardLog {
    CardLog::new(agent.first_card(NOW, NOW.after(30 * DAY), &content(groups)).unwrap()).unwrap()
}

#[test]
fn a_card_lists_the_keys_of_groups_that_are_asked_for_and_no_other() {
    for suite in [Suite::Default, Suite::Cnsa2] {
        let agent = agent(suite);
        assert_eq!(log(&agent, &[]).newest().document().methods().count(), Role::ALL.len());
        let roles = LATTICES.map(|(role, _)| role);
        let log = CardLog::verify(log(&agent, &roles).to_lines().as_bytes()).unwrap();
        let document = log.newest().document();
        assert_eq!(log.newest().content().groups, roles);
        for (role, algorithm) in LATTICES {
            let (url, key) = document.group_key(role, NOW).unwrap();
            assert_eq!(*url, agent.key_url(role));
            assert_eq!(url.fragment(), format!("{}-0", role.fragment()));
            assert_eq!(key, agent.public_key(role));
            let signature = agent.sign_in_group(role, 0, b"leaf").unwrap();
            VerifyingKey::from_bytes(algorithm, key).unwrap().verify(b"", b"leaf", &signature).unwrap();
            for relationship in Relationship::ALL {
                let other = document.key_for(url, Kind::JsonWebKey, relationship, NOW);
                assert_eq!(other.unwrap_err().reason(), Reason::WrongPurpose);
            }
        }
        for role in [Role::GroupEd25519, Role::Signing] {
            assert!(document.group_key(role, NOW).is_err(), "{role:?}");
        }
        let signing = agent.sign_in_group(Role::Signing, 0, b"leaf");
        assert_eq!(signing.unwrap_err().reason(), Reason::WrongPurpose);
        let wrong = agent.first_card(NOW, NOW.after(DAY), &content(&[Role::Signing]));
        assert_eq!(wrong.unwrap_err().reason(), Reason::BadForm);
    }
}

#[test]
fn a_key_of_groups_is_rotated_retired_and_recovered_by_its_index() {
    for retired in [Retired::Superseded(DAY), Retired::Compromised] {
        let mut agent = agent(Suite::Default);
        let mut log = log(&agent, &[Role::GroupMlDsa65]);
        let first = agent.public_key(Role::GroupMlDsa65);
        let from = NOW.after(DAY);
        let until = from.after(30 * DAY);
        let content = log.newest().content();
        agent.rotate(&mut log, &[Role::GroupMlDsa65], retired, (from, until), &content).unwrap();
        assert_eq!(agent.index(Role::GroupMlDsa65), 1);
        let document = log.newest().document();
        let (url, key) = document.group_key(Role::GroupMlDsa65, from).unwrap();
        assert_eq!((url.fragment(), key), ("group-ml-dsa-65-1", &agent.public_key(Role::GroupMlDsa65)[..]));
        assert_ne!(key, first);
        // The old one signs for leaves that still have it.
        assert_eq!(agent.group_public_key(Role::GroupMlDsa65, 0).unwrap(), first);
        let signature = agent.sign_in_group(Role::GroupMlDsa65, 0, b"leaf").unwrap();
        let old = VerifyingKey::from_bytes(Algorithm::MlDsa65, &first).unwrap();
        old.verify(b"", b"leaf", &signature).unwrap();

        let again = Agent::recover(MasterSeed::from_bytes(&[9; 32]), &log).unwrap();
        assert_eq!(again.index(Role::GroupMlDsa65), 1);
        assert_eq!(log.newest().content().groups, [Role::GroupMlDsa65]);
        // A card that asks for none lists none.
        agent.rotate(&mut log, &[], retired, (from, until), &CardContent::default()).unwrap();
        let gone = log.newest().document().group_key(Role::GroupMlDsa65, from);
        let expected = match retired {
            Retired::Compromised => Reason::KeyRevoked,
            Retired::Superseded(_) => {
                // The superseded one stands there until its grace is over.
                assert_eq!(gone.unwrap().1, first);
                continue;
            }
        };
        assert_eq!(gone.unwrap_err().reason(), expected);
    }
}

/// Whose algorithm is not ML-DSA.
const OTHERS: [Role; 6] = [
    Role::GroupEd25519,
    Role::GroupEcdsaP256,
    Role::GroupEcdsaP384,
    Role::GroupEcdsaP521,
    Role::GroupMlDsa65Ed25519,
    Role::GroupMlDsa87EcdsaP384,
];

/// A document whose only key is this, of this role.
fn listing(role: Role, jwk: &Value) -> gambeson_identity::Result<DidDocument> {
    let did = agent(Suite::Default).did().clone();
    let method = json!({
        "id": format!("{did}#{}-0", role.fragment()), "controller": did.as_str(), "type": "JsonWebKey", "publicKeyJwk": jwk,
    });
    let document = json!({"id": did.as_str(), "verificationMethod": [method]});
    DidDocument::from_json(document.as_object().unwrap().clone())
}

#[cfg(not(feature = "groups"))]
#[test]
fn without_its_feature_other_leaf_keys_than_those_of_ml_dsa_are_refused_and_cards_with_them_are_read() {
    let agent = agent(Suite::Default);
    for role in OTHERS {
        let card = agent.first_card(NOW, NOW.after(DAY), &content(&[role]));
        assert_eq!(card.unwrap_err().reason(), Reason::BadAlgorithm);
        let signature = agent.sign_in_group(role, 0, b"leaf");
        assert_eq!(signature.unwrap_err().reason(), Reason::BadAlgorithm);
        assert_eq!(agent.group_public_key(role, 0).unwrap_err().reason(), Reason::BadAlgorithm);
    }
    // The generator of P-256 (SEC 2).
    let (x, y) =
        ("axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY", "T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU");
    let jwk = json!({"kty": "EC", "crv": "P-256", "alg": "ES256", "x": x, "y": y});
    let document = listing(Role::GroupEcdsaP256, &jwk).unwrap();
    assert_eq!(document.methods().count(), 1);
    let found = document.group_key(Role::GroupEcdsaP256, NOW);
    assert_eq!(found.unwrap_err().reason(), Reason::BadAlgorithm);
}

#[cfg(feature = "groups")]
mod others {
    use super::*;
    use base64ct::{Base64UrlUnpadded, Encoding as _};
    use gambeson_hybrid::composite;
    use p256::ecdsa::signature::Verifier as _;

    /// The members of a JWK beside those that hold bytes.
    fn head(role: Role) -> Value {
        match role {
            Role::GroupEd25519 => json!({"kty": "OKP", "crv": "Ed25519"}),
            Role::GroupEcdsaP256 => json!({"kty": "EC", "crv": "P-256", "alg": "ES256"}),
            Role::GroupEcdsaP384 => json!({"kty": "EC", "crv": "P-384", "alg": "ES384"}),
            Role::GroupEcdsaP521 => json!({"kty": "EC", "crv": "P-521", "alg": "ES512"}),
            Role::GroupMlDsa65Ed25519 => json!({"kty": "AKP", "alg": "ML-DSA-65-Ed25519"}),
            Role::GroupMlDsa87EcdsaP384 => json!({"kty": "AKP", "alg": "ML-DSA-87-ES384"}),
            _ => panic!("{role:?}"),
        }
    }

    /// The JWK of a role's key in a card.
    fn jwk(log: &CardLog, role: Role) -> Value {
        let methods = log.newest().document().json()["verificationMethod"].as_array().unwrap();
        let ends = format!("#{}-0", role.fragment());
        methods.iter().find(|method| method["id"].as_str().unwrap().ends_with(&ends)).unwrap()["publicKeyJwk"]
            .clone()
    }

    fn verify(role: Role, public: &[u8], message: &[u8], signature: &[u8]) -> bool {
        let composite = |algorithm| {
            let key = composite::VerifyingKey::from_bytes(algorithm, public).unwrap();
            key.verify(message, b"", signature).is_ok()
        };
        match role {
            Role::GroupEd25519 => {
                let key = ed25519_dalek::VerifyingKey::from_bytes(public.try_into().unwrap()).unwrap();
                key.verify_strict(message, &signature.try_into().unwrap()).is_ok()
            }
            Role::GroupEcdsaP256 => {
                let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(public).unwrap();
                key.verify(message, &p256::ecdsa::DerSignature::try_from(signature).unwrap()).is_ok()
            }
            Role::GroupEcdsaP384 => {
                let key = p384::ecdsa::VerifyingKey::from_sec1_bytes(public).unwrap();
                key.verify(message, &p384::ecdsa::DerSignature::try_from(signature).unwrap()).is_ok()
            }
            Role::GroupEcdsaP521 => {
                let key = p521::ecdsa::VerifyingKey::from_sec1_bytes(public).unwrap();
                key.verify(message, &p521::ecdsa::DerSignature::try_from(signature).unwrap()).is_ok()
            }
            Role::GroupMlDsa65Ed25519 => composite(&composite::MLDSA65_ED25519_SHA512),
            Role::GroupMlDsa87EcdsaP384 => composite(&composite::MLDSA87_ECDSA_P384_SHA512),
            _ => panic!("{role:?}"),
        }
    }

    #[test]
    fn a_card_lists_every_leaf_key_as_its_algorithms_write_it() {
        for suite in [Suite::Default, Suite::Cnsa2] {
            let agent = agent(suite);
            let log = log(&agent, &Role::GROUPS);
            let read = CardLog::verify(log.to_lines().as_bytes()).unwrap();
            assert_eq!(read.newest().content().groups, Role::GROUPS);
            let lengths = [32, 65, 97, 133, 1984, 2689];
            for (role, len) in OTHERS.into_iter().zip(lengths) {
                assert_eq!(role.algorithm(suite), None);
                let (url, key) = read.newest().document().group_key(role, NOW).unwrap();
                assert_eq!((url, key.len()), (&agent.key_url(role), len));
                assert_eq!(
                    (key, key),
                    (&agent.public_key(role)[..], &agent.group_public_key(role, 0).unwrap()[..])
                );
                let mut jwk = jwk(&log, role);
                let bytes: Vec<_> = ["x", "y", "pub"]
                    .iter()
                    .filter_map(|name| jwk.as_object_mut().unwrap().remove(*name))
                    .collect();
                assert_eq!((jwk, bytes.len()), (head(role), if (65..134).contains(&len) { 2 } else { 1 }));
            }
            let again = Agent::recover(MasterSeed::from_bytes(&[9; 32]), &read).unwrap();
            assert_eq!(again.public_key(Role::GroupEcdsaP521), agent.public_key(Role::GroupEcdsaP521));
        }
    }

    #[test]
    fn leaf_keys_sign_with_the_key_of_the_index_that_is_asked_for() {
        let mut agent = agent(Suite::Default);
        let mut log = log(&agent, &OTHERS);
        let first = OTHERS.map(|role| agent.public_key(role));
        let window = (NOW.after(DAY), NOW.after(30 * DAY));
        agent.rotate(&mut log, &OTHERS, Retired::Superseded(DAY), window, &content(&OTHERS)).unwrap();
        for (role, first) in OTHERS.into_iter().zip(first) {
            let second = agent.public_key(role);
            assert_eq!((agent.index(role), agent.group_public_key(role, 0).unwrap()), (1, first.clone()));
            assert_eq!(log.newest().document().group_key(role, window.0).unwrap().1, second);
            for (index, public, other) in [(0, &first, &second), (1, &second, &first)] {
                let signature = agent.sign_in_group(role, index, b"leaf").unwrap();
                assert!(verify(role, public, b"leaf", &signature), "{role:?}");
                assert!(!verify(role, public, b"loaf", &signature), "{role:?}");
                assert!(!verify(role, other, b"leaf", &signature), "{role:?}");
                // Composites are hedged; Ed25519 and ECDSA make their nonces of key and message.
                let alike = agent.sign_in_group(role, index, b"leaf").unwrap() == signature;
                assert_eq!(alike, !role.fragment().contains("mldsa"), "{role:?}");
            }
        }
    }

    #[test]
    fn leaf_keys_are_those_of_the_vectors_at_every_index() {
        let text =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/kdf.json")).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        let mut compared = 0;
        for vector in
            file["vectors"].as_array().unwrap().iter().filter(|it| it["public_key_blake3"].is_string())
        {
            let Some(role) = Role::GROUPS.into_iter().find(|role| vector["purpose"] == format!("{role:?}"))
            else {
                continue;
            };
            let seed = vector["seed"].as_str().unwrap();
            let seed = core::array::from_fn(|at| u8::from_str_radix(&seed[2 * at..2 * at + 2], 16).unwrap());
            let agent = Agent::with_suite(
                MasterSeed::from_bytes(&seed),
                vector["suite"].as_str().unwrap().parse().unwrap(),
            );
            let public =
                agent.group_public_key(role, vector["index"].as_str().unwrap().parse().unwrap()).unwrap();
            assert_eq!(
                blake3::hash(&public).to_hex().as_str(),
                vector["public_key_blake3"],
                "{}",
                vector["id"]
            );
            compared += 1;
        }
        assert_eq!(compared, 2 * 4 * 8, "all but Ed25519, of which the vectors have the private key");
    }

    #[test]
    fn what_is_no_leaf_key_is_none_and_a_private_one_is_refused() {
        let agent = agent(Suite::Default);
        let log = log(&agent, &OTHERS);
        let reason =
            |role, jwk: &Value| listing(role, jwk).unwrap().group_key(role, NOW).err().map(|it| it.reason());
        let wrong = Some(Reason::WrongPurpose);
        let mut tried = 0;
        for role in OTHERS {
            let good = jwk(&log, role);
            assert_eq!(reason(role, &good), None);
            for name in good.as_object().unwrap().keys() {
                let mut lacking = good.clone();
                lacking.as_object_mut().unwrap().remove(name);
                // A key of type AKP has an algorithm.
                match listing(role, &lacking) {
                    Ok(_) => assert_eq!(reason(role, &lacking), wrong, "{role:?} {name}"),
                    Err(error) => assert_eq!((name.as_str(), error.reason()), ("alg", Reason::BadForm)),
                }
                let text = good[name].as_str().unwrap();
                for other in [
                    text[..text.len().saturating_sub(4)].to_owned(),
                    format!("AAAA{text}"),
                    format!("{text}="),
                ] {
                    let mut changed = good.clone();
                    changed[name] = other.into();
                    match listing(role, &changed) {
                        Ok(_) => assert_eq!(reason(role, &changed), wrong, "{role:?} {name}"),
                        Err(error) => {
                            assert_eq!((name.as_str(), error.reason()), ("pub", Reason::BadEncoding))
                        }
                    }
                    tried += 1;
                }
            }
            let mut private = good.clone();
            private["d"] = "AA".into();
            assert_eq!(listing(role, &private).unwrap_err().reason(), Reason::BadKey);
            for other in OTHERS.into_iter().filter(|other| *other != role) {
                assert_eq!(reason(other, &good), wrong);
            }
        }
        assert_eq!(tried, 3 * (3 + 3 * 5 + 2 * 3));
        // Points beside their curves; of Edwards' curve there is none for about half of all y.
        let mut beside = jwk(&log, Role::GroupEd25519);
        let refused = (2..34).filter(|y| {
            let mut point = [0; 32];
            point[0] = *y;
            beside["x"] = Base64UrlUnpadded::encode_string(&point).into();
            reason(Role::GroupEd25519, &beside) == wrong
        });
        assert!((8..24).contains(&refused.count()));
        for role in [Role::GroupEcdsaP256, Role::GroupEcdsaP384, Role::GroupEcdsaP521] {
            let mut beside = jwk(&log, role);
            beside["y"] = beside["x"].clone();
            assert_eq!(reason(role, &beside), wrong);
        }
        let mut beside = jwk(&log, Role::GroupMlDsa87EcdsaP384);
        let text = beside["pub"].as_str().unwrap();
        beside["pub"] = format!("{}AAAA", &text[..text.len() - 4]).into();
        assert_eq!(reason(Role::GroupMlDsa87EcdsaP384, &beside), wrong);
    }
}
