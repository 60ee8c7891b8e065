//! The public doors: forms of keys and messages that must agree, and every error that a caller can reach.

use core::convert::Infallible;
use core::fmt::{self, Debug};

use gambeson::mldsa::{
    ContextTooLong, Digest, DigestLength, DigestRef, InvalidSignature, Message, MuHasher, ParameterSet,
    PreHash, PreparedSet, SigningKey, SigningKeyError, UnknownPreHash, VerifyingKey, VerifyingKeyError,
    VerifyingKeyRef,
};
use gambeson::rand_core::{TryCryptoRng, TryRng};
use gambeson::{Bytes, Compact, cpu};

use super::{FormOf, MlDsa44, MlDsa65, Stream, for_each_set, sign_by_every_form};

/// A generator of one byte, over and over.
struct Constant(u8);

impl TryRng for Constant {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(u32::from_le_bytes([self.0; 4]))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from_le_bytes([self.0; 8]))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        out.fill(self.0);
        Ok(())
    }
}

impl TryCryptoRng for Constant {}

/// A generator that fails.
struct Broken;

#[derive(Debug, PartialEq)]
struct Out;

impl fmt::Display for Out {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("out of randomness")
    }
}

impl core::error::Error for Out {}

impl TryRng for Broken {
    type Error = Out;

    fn try_next_u32(&mut self) -> Result<u32, Out> {
        Err(Out)
    }

    fn try_next_u64(&mut self) -> Result<u64, Out> {
        Err(Out)
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Out> {
        Err(Out)
    }
}

impl TryCryptoRng for Broken {}

#[test]
fn every_door_of_key_generation_leads_to_the_key_of_the_seed() {
    fn test<P: PreparedSet, F: FormOf<P>>() {
        let expected = SigningKey::<F>::from_seed(&[9; 32]);
        let Ok(compact) = SigningKey::<F>::generate_with(&mut Constant(9));
        let Ok(prepared) = SigningKey::<P>::generate_with(&mut Constant(9));
        assert_eq!(compact.seed().unwrap().expose(), &[9; 32]);
        assert_eq!(prepared.seed().unwrap().expose(), &[9; 32]);
        assert_eq!(compact.verifying_key(), expected.verifying_key());
        assert_eq!(prepared.verifying_key().as_bytes(), expected.verifying_key().as_bytes());
        assert_eq!(expected.seed().unwrap().expose(), &[9; 32]);

        let (one, two) = (SigningKey::<F>::generate().unwrap(), SigningKey::<F>::generate().unwrap());
        assert_ne!(one.verifying_key(), two.verifying_key());
    }
    for_each_set!(test);
}

#[test]
fn every_door_of_signing_gives_the_same_signature_for_the_same_randomness() {
    fn test<P: PreparedSet, F: FormOf<P>>() {
        let (compact, prepared) =
            (SigningKey::<F>::from_seed(&[1; 32]), SigningKey::<P>::from_seed(&[1; 32]));
        let expected = sign_by_every_form::<P>(&[1; 32], &[7; 32], Message::from(b"m"));
        let Ok(signature) = compact.sign_with(&mut Constant(7), b"m");
        assert_eq!(signature, expected);
        let Ok(signature) = prepared.sign_with(&mut Constant(7), b"m");
        assert_eq!(signature, expected);
        assert_eq!(compact.sign_deterministic(b"m"), compact.sign_with_rnd(&[0; 32], b"m"));
        assert_eq!(prepared.sign_deterministic(b"m"), compact.sign_deterministic(&b"m"[..]));

        let (one, two) = (compact.sign(b"m").unwrap(), prepared.sign(b"m").unwrap());
        assert_ne!(one, two, "hedged");
        let public = prepared.verifying_key();
        public.prepare();
        for signature in [one, two, expected] {
            let fresh = compact.verifying_key();
            assert_eq!(fresh.verify(b"m", signature.as_ref()), Ok(()));
            assert_eq!(public.verify(b"m", signature.as_ref()), Ok(()));
            let fresh = compact.verifying_key();
            assert_eq!(fresh.verify(b"n", signature.as_ref()), Err(InvalidSignature));
            assert_eq!(public.verify(b"n", signature.as_ref()), Err(InvalidSignature));
        }
    }
    for_each_set!(test);
}

#[test]
fn a_generator_that_fails_makes_no_key_and_no_signature() {
    fn test<P: PreparedSet, F: FormOf<P>>() {
        assert_eq!(SigningKey::<F>::generate_with(&mut Broken).err(), Some(Out));
        let key = SigningKey::<F>::from_seed(&[0; 32]);
        assert_eq!(key.sign_with(&mut Broken, b""), Err(Out));
    }
    for_each_set!(test);
}

#[test]
fn mu_in_any_pieces_is_mu_of_the_whole() {
    fn test<P: PreparedSet, F: FormOf<P>>() {
        let key = SigningKey::<F>::from_seed(&[2; 32]);
        let (prepared, public) = (SigningKey::<P>::from_seed(&[2; 32]), key.verifying_key());
        let prepared_public = prepared.verifying_key();
        prepared_public.prepare();
        let message = Stream::new("pieces").vec(1000);
        for context in [&b""[..], b"context", &[1; 255]] {
            let whole = Message::pure(&message, context).unwrap();
            let signature = key.sign_deterministic(whole);
            for size in [1, 7, 135, 136, 137, 272, 1000] {
                let pieces = |mut hasher: MuHasher| {
                    message.chunks(size).for_each(|piece| _ = hasher.update(piece));
                    hasher.update(b"").finalize()
                };
                let mu = pieces(key.mu_hasher(context).unwrap());
                assert_eq!(mu, pieces(public.mu_hasher(context).unwrap()));
                let borrowed = VerifyingKeyRef::<F>::from_ref(public.as_bytes());
                assert_eq!(mu, pieces(borrowed.mu_hasher(context).unwrap()));
                assert_eq!(mu, pieces(prepared.mu_hasher(context).unwrap()));
                assert_eq!(mu, pieces(prepared_public.mu_hasher(context).unwrap()));
                assert_eq!(key.sign_deterministic(Message::mu(&mu)), signature);
                assert_eq!(public.verify(Message::mu(&mu), signature.as_ref()), Ok(()));
            }
        }
    }
    for_each_set!(test);
}

#[test]
fn the_internal_interface_is_the_pure_one_without_its_prefix() {
    let key = SigningKey::<MlDsa65>::from_seed(&[3; 32]);
    let m_prime = [&[0, 3][..], b"ctx", b"message"].concat();
    let signature = key.sign_deterministic(Message::internal(&m_prime));
    assert_eq!(signature, key.sign_deterministic(Message::pure(b"message", b"ctx").unwrap()));
}

#[test]
fn a_context_has_at_most_255_bytes_at_every_door() {
    let (longest, too_long) = ([5; 255], [5; 256]);
    let key = SigningKey::<Compact<MlDsa44>>::from_seed(&[4; 32]);
    let public = key.verifying_key();
    let digest = PreHash::Sha3_256.digest(b"m");
    for message in [Message::pure(b"m", &longest), Message::prehashed(&digest, &longest)] {
        let message = message.unwrap();
        assert_eq!(public.verify(message, &key.sign_deterministic(message)), Ok(()));
        assert!(public.verify(b"m", &key.sign_deterministic(message)).is_err());
    }
    assert_eq!(Message::pure(b"m", &too_long).err(), Some(ContextTooLong));
    assert_eq!(Message::prehashed(&digest, &too_long).err(), Some(ContextTooLong));
    assert_eq!(key.mu_hasher(&too_long).err(), Some(ContextTooLong));
    let prepared = SigningKey::<MlDsa44>::from_seed(&[4; 32]);
    assert_eq!(prepared.mu_hasher(&too_long).err(), Some(ContextTooLong));
    assert_eq!(public.mu_hasher(&too_long).err(), Some(ContextTooLong));
    let prepared = prepared.verifying_key();
    prepared.prepare();
    assert_eq!(prepared.mu_hasher(&too_long).err(), Some(ContextTooLong));
    let borrowed = VerifyingKeyRef::<MlDsa44>::from_ref(public.as_bytes());
    assert_eq!(borrowed.mu_hasher(&too_long).err(), Some(ContextTooLong));
}

#[test]
fn a_verifying_key_gives_the_same_at_its_first_second_and_third_use() {
    fn test<P: PreparedSet, F: FormOf<P>>() {
        let key = SigningKey::<F>::from_seed(&[10; 32]);
        let made = key.verifying_key();
        let good = key.sign_deterministic(b"m");
        let mut bad = good;
        bad.as_mut()[P::Signature::LEN >> 1] ^= 1;
        let short = &good.as_ref()[1..];
        // Whatever the verdicts of the first two uses are.
        let cases =
            [(good.as_ref(), Ok(())), (bad.as_ref(), Err(InvalidSignature)), (short, Err(InvalidSignature))];
        for first in cases {
            for second in cases {
                let imported = VerifyingKey::<F>::from_bytes(made.as_bytes());
                let unused = imported.clone();
                let prepared = imported.clone();
                prepared.prepare();
                let mu = |key: &VerifyingKey<F>| key.mu_hasher(b"").unwrap().update(b"m").finalize();
                let expected = mu(&imported);
                assert_eq!(imported.verify(b"m", first.0), first.1, "first use");
                let used = imported.clone();
                assert_eq!(imported.verify(b"m", second.0), second.1, "second use");
                for key in [&imported, &imported.clone(), &unused, &used, &prepared, &prepared.clone(), &made]
                {
                    for (signature, verdict) in cases {
                        assert_eq!(key.verify(b"m", signature), verdict);
                        assert_eq!(key.verify(Message::mu(&expected), signature), verdict);
                    }
                    assert_eq!(key.verify(b"n", good.as_ref()), Err(InvalidSignature));
                    assert_eq!((key, mu(key)), (&made, expected));
                }
                // A clone outlives the key that it shares what is prepared with.
                let shared = [imported.clone(), prepared.clone()];
                drop((imported, prepared));
                assert_eq!(shared.map(|key| key.verify(b"m", good.as_ref())), [Ok(()); 2]);
            }
        }
    }
    for_each_set!(test);
}

#[test]
fn pre_hash_functions_have_their_names_lengths_and_domains() {
    let key = SigningKey::<MlDsa44>::from_seed(&[5; 32]);
    let public = key.verifying_key();
    let mut signatures = Vec::new();
    for function in PreHash::ALL {
        assert_eq!(function.name().parse(), Ok(function));
        assert_eq!(function.to_string(), function.name());
        let digest = function.digest(b"in pieces");
        assert_eq!(digest.function(), function);
        assert_eq!(digest.as_bytes().len(), function.digest_len());
        let mut hasher = function.hasher();
        hasher.update(b"in ").update(b"").update(b"pieces");
        assert_eq!(hasher.finalize(), digest);
        assert_eq!(Digest::from_bytes(function, digest.as_bytes()), Ok(digest));

        let (expected, short) = (function.digest_len(), &digest.as_bytes()[1..]);
        assert_eq!(Digest::from_bytes(function, short), Err(DigestLength { expected, actual: expected - 1 }));
        assert_eq!(Digest::from_bytes(function, &[0; 65]), Err(DigestLength { expected, actual: 65 }));
        assert_eq!(Digest::from_bytes(function, &[]), Err(DigestLength { expected, actual: 0 }));

        let in_place = DigestRef::from_bytes(function, digest.as_bytes()).unwrap();
        assert_eq!(in_place, DigestRef::from(&digest));
        assert_eq!(
            DigestRef::from_bytes(function, short),
            Err(DigestLength { expected, actual: expected - 1 })
        );

        let message = Message::prehashed(&digest, b"").unwrap();
        let signature = key.sign_deterministic(message);
        assert_eq!(key.sign_deterministic(Message::prehashed(in_place, b"").unwrap()), signature);
        assert_eq!(public.verify(message, &signature), Ok(()));
        assert!(public.verify(b"in pieces", &signature).is_err());
        // The digest alone does not make the signature: the function's identifier is signed too.
        for other in PreHash::ALL {
            if other != function && other.digest_len() == function.digest_len() {
                let other = Digest::from_bytes(other, digest.as_bytes()).unwrap();
                assert!(public.verify(Message::prehashed(&other, b"").unwrap(), &signature).is_err());
            }
        }
        signatures.push(signature);
    }
    assert_eq!(signatures.len(), 12, "every approved function ran");
    assert_eq!("SHA-256".parse::<PreHash>(), Err(UnknownPreHash));
    assert_eq!("".parse::<PreHash>(), Err(UnknownPreHash));
}

#[test]
fn a_public_key_of_another_length_is_refused() {
    fn test<P: PreparedSet, F: FormOf<P>>() {
        let expected = P::VerifyingKeyBytes::LEN;
        for actual in [0, 1, 32, expected - 1, expected + 1, 2 * expected] {
            let error = VerifyingKeyError::Length { expected, actual };
            assert_eq!(VerifyingKey::<F>::try_from(&vec![0; actual][..]), Err(error));
            assert_eq!(VerifyingKeyRef::<F>::try_from(&vec![0; actual][..]), Err(error));
        }
        let bytes = Stream::new("any string is a key").vec(expected);
        let key = VerifyingKey::<F>::try_from(&bytes[..]).unwrap();
        assert_eq!(key.as_bytes().as_ref(), bytes);
        assert_eq!(key, VerifyingKey::from_bytes(key.as_bytes()));
        let prepared = key.clone();
        prepared.prepare();
        assert_eq!(prepared.as_bytes().as_ref(), bytes);
        assert_eq!(prepared, key);
    }
    for_each_set!(test);
}

#[test]
fn a_private_key_survives_export_and_import() {
    fn test<P: PreparedSet, F: FormOf<P>>() {
        let mut stream = Stream::new("export");
        for _ in 0..5 {
            let seed = stream.array();
            let key = SigningKey::<P>::from_seed(&seed);
            let bytes = key.to_encoded();
            let (mut sk, mut vk) = (P::SigningKeyBytes::zeroed(), P::VerifyingKeyBytes::zeroed());
            SigningKey::<F>::encoded_from_seed(&seed, &mut sk, &mut vk);
            assert_eq!(
                (sk.as_ref(), vk.as_ref()),
                (&bytes.expose()[..], key.verifying_key().as_bytes().as_ref())
            );
            let imported = SigningKey::<P>::from_encoded(bytes.expose()).unwrap();
            assert!(imported.seed().is_none());
            assert_eq!(imported.verifying_key(), key.verifying_key());
            assert_eq!(imported.to_encoded().expose(), bytes.expose());
            assert_eq!(imported.sign_deterministic(b"m"), key.sign_deterministic(b"m"));
        }
    }
    for_each_set!(test);
}

#[test]
fn a_private_key_that_does_not_hold_together_is_refused() {
    fn test<P: PreparedSet, F: FormOf<P>>() {
        let import = |bytes: &[u8]| SigningKey::<P>::from_encoded(bytes).map(|_| ());
        let bytes = SigningKey::<P>::from_seed(&[6; 32]).to_encoded();
        let bytes = bytes.expose();
        let expected = P::SigningKeyBytes::LEN;
        assert_eq!(import(bytes), Ok(()));
        for actual in [0, 32, expected - 1, expected + 1] {
            let mut bytes = bytes.clone();
            bytes.resize(actual, 0);
            assert_eq!(import(&bytes), Err(SigningKeyError::Length { expected, actual }));
        }
        let changed = |at: usize, change: fn(u8) -> u8| {
            let mut bytes = bytes.clone();
            bytes[at] = change(bytes[at]);
            import(&bytes)
        };
        // ρ, tr and t0 by one bit; K may be any string.
        for at in [0, 31, 64, 127, expected - 1, expected - 2000] {
            assert_eq!(changed(at, |byte| byte ^ 1), Err(SigningKeyError::Mismatch), "byte {at}");
        }
        assert_eq!(changed(32, |byte| byte ^ 1), Ok(()));
        // The first and the last byte of s1 and s2 hold at least one whole coefficient: all ones is -5 or -11.
        let t0_bytes = if P::NAME == "ML-DSA-44" {
            4 * 416
        } else if P::NAME == "ML-DSA-65" {
            6 * 416
        } else {
            8 * 416
        };
        for at in [128, expected - t0_bytes - 1] {
            assert_eq!(changed(at, |_| 0xff), Err(SigningKeyError::Coefficient), "byte {at}");
        }
    }
    for_each_set!(test);
}

#[test]
fn nothing_secret_is_printed() {
    fn test<P: PreparedSet, F: FormOf<P>>() {
        let key = SigningKey::<F>::from_seed(&[7; 32]);
        let shown = |value: &dyn Debug| format!("{value:?}");
        assert_eq!(shown(&key), format!("SigningKey<{}>([redacted])", P::NAME));
        let public = key.verifying_key();
        for _ in 0..2 {
            assert!(shown(&public).starts_with(&format!("VerifyingKey<{}>([", P::NAME)));
            assert!(shown(&public).len() < 60, "{public:?}");
            public.prepare();
        }
    }
    for_each_set!(test);
}

#[test]
fn errors_say_what_is_wrong() {
    let said = |error: &dyn core::error::Error| error.to_string();
    assert_eq!(said(&InvalidSignature), "the signature is invalid");
    assert_eq!(said(&ContextTooLong), "the context has more than 255 bytes");
    let error = VerifyingKeyError::Length { expected: 1952, actual: 3 };
    assert_eq!(said(&error), "a public key has 1952 bytes, not 3");
    let error = SigningKeyError::Length { expected: 4032, actual: 3 };
    assert_eq!(said(&error), "an encoded private key has 4032 bytes, not 3");
    assert_eq!(said(&SigningKeyError::Coefficient), "a coefficient of s1 or s2 is out of range");
    assert_eq!(said(&SigningKeyError::Mismatch), "t0 or tr does not belong to the rest of the private key");
    let error = DigestLength { expected: 32, actual: 3 };
    assert_eq!(said(&error), "the digest has 3 bytes, its function gives 32");
    assert!(said(&UnknownPreHash).starts_with("unknown hash function"));
}

#[test]
fn the_kernels_that_run_are_at_or_below_the_level() {
    assert!(gambeson::mldsa::kernels() <= cpu::level());
}

#[cfg(feature = "rustcrypto")]
mod traits {
    use gambeson::mldsa::{Signature, SigningKey};
    use signature::{
        Keypair, MultipartSigner, MultipartVerifier, RandomizedMultipartSigner, RandomizedSigner,
        SignatureEncoding, Signer, Verifier,
    };

    use super::*;

    #[test]
    fn the_ecosystems_traits_are_the_same_doors() {
        fn test<P: PreparedSet, F: FormOf<P>>() {
            fn doors<P: ParameterSet, K>(key: &K)
            where
                K: Signer<Signature<P>>
                    + MultipartSigner<Signature<P>>
                    + RandomizedSigner<Signature<P>>
                    + RandomizedMultipartSigner<Signature<P>>
                    + Keypair<VerifyingKey = VerifyingKey<P>>,
            {
                let public = key.verifying_key();
                let parts: [&[u8]; 3] = [b"me", b"", b"ssage"];
                let expected = SigningKey::<P>::from_seed(&[8; 32]).sign_with_rnd(&[7; 32], b"message");
                let expected = Signature::from_bytes(&expected);
                assert_eq!(key.sign_with_rng(&mut Constant(7), b"message"), expected);
                assert_eq!(key.multipart_sign_with_rng(&mut Constant(7), &parts), expected);
                assert!(key.try_sign_with_rng(&mut Broken, b"message").is_err());
                assert!(key.try_multipart_sign_with_rng(&mut Broken, &parts).is_err());
                for signature in [expected, key.sign(b"message"), key.multipart_sign(&parts)] {
                    let prepared = VerifyingKey::<P>::from_bytes(public.as_bytes());
                    prepared.prepare();
                    for public in [&VerifyingKey::from_bytes(public.as_bytes()), &prepared] {
                        Verifier::verify(public, b"message", &signature).unwrap();
                        public.multipart_verify(&parts, &signature).unwrap();
                    }
                    assert!(Verifier::verify(&public, b"massage", &signature).is_err());
                    assert!(public.multipart_verify(&parts[1..], &signature).is_err());
                    let bytes = signature.to_bytes();
                    assert_eq!(Signature::<P>::try_from(bytes.as_ref()).unwrap(), signature);
                    assert_eq!(bytes.as_bytes().as_ref().len(), P::Signature::LEN);
                    assert!(Signature::<P>::try_from(&bytes.as_ref()[1..]).is_err());
                    assert!(format!("{signature:?}").starts_with("Signature<ML-DSA-"));
                }
            }
            doors::<F, _>(&SigningKey::<F>::from_seed(&[8; 32]));
        }
        for_each_set!(test);
    }
}
