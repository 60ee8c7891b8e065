//! AWS-LC, the only peer here with ML-KEM-512, and with private keys of ML-DSA in all three forms.

use aws_lc_rs::kem::{self, Algorithm, AlgorithmId, Ciphertext};
use aws_lc_rs::signature::{self, KeyPair, PqdsaKeyPair, PqdsaSigningAlgorithm, UnparsedPublicKey};
use gambeson::Compact;
use gambeson::mlkem::{DecapsulationKey, EncapsulationKey, MlKem512, MlKem768, MlKem1024, PreparedSet};
use gambeson_pki::{Algorithm as PkiAlgorithm, Form, PrivateKey, PublicKey};
use libtest_mimic::Trial;

use crate::tools::{Result, check};

/// Keys a test.
const KEYS: usize = 20;

/// One test a parameter set.
#[must_use]
pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("aws_lc::ml_kem_512_both_ways", || both_ways::<MlKem512>(&kem::ML_KEM_512)),
        Trial::test("aws_lc::ml_kem_768_both_ways", || both_ways::<MlKem768>(&kem::ML_KEM_768)),
        Trial::test("aws_lc::ml_kem_1024_both_ways", || both_ways::<MlKem1024>(&kem::ML_KEM_1024)),
        Trial::test("aws_lc::ml_dsa_44_keys_in_every_form", || {
            keys(PkiAlgorithm::MlDsa44, &signature::ML_DSA_44_SIGNING, &signature::ML_DSA_44)
        }),
        Trial::test("aws_lc::ml_dsa_65_keys_in_every_form", || {
            keys(PkiAlgorithm::MlDsa65, &signature::ML_DSA_65_SIGNING, &signature::ML_DSA_65)
        }),
        Trial::test("aws_lc::ml_dsa_87_keys_in_every_form", || {
            keys(PkiAlgorithm::MlDsa87, &signature::ML_DSA_87_SIGNING, &signature::ML_DSA_87)
        }),
    ]
}

fn both_ways<P: PreparedSet>(algorithm: &'static Algorithm<AlgorithmId>) -> Result {
    for _ in 0..KEYS {
        // Their key, our encapsulation; their private key in our hands too.
        let theirs = kem::DecapsulationKey::generate(algorithm).map_err(text)?;
        let public = theirs.encapsulation_key().and_then(|key| key.key_bytes()).map_err(text)?;
        let (c, k) =
            EncapsulationKey::<P>::try_from(public.as_ref()).map_err(text)?.encapsulate().map_err(text)?;
        let found = theirs.decapsulate(Ciphertext::from(c.as_ref())).map_err(text)?;
        check(found.as_ref() == k.expose(), "they decapsulate ours")?;
        let private = theirs.key_bytes().map_err(text)?;
        let imported = DecapsulationKey::<P>::from_encoded(private.as_ref()).map_err(text)?;
        check(imported.decapsulate(&c).expose() == k.expose(), "their private key in our hands")?;

        // Our key, their encapsulation; our private key in their hands too.
        let ours = DecapsulationKey::<Compact<P>>::generate().map_err(text)?;
        let public = ours.encapsulation_key();
        let public = kem::EncapsulationKey::new(algorithm, public.as_bytes().as_ref()).map_err(text)?;
        let (c, k) = public.encapsulate().map_err(text)?;
        let c = P::Ciphertext::try_from(c.as_ref()).map_err(text)?;
        check(ours.decapsulate(&c).expose() == k.as_ref(), "we decapsulate theirs")?;
        let seed = ours.seed().ok_or("a compact key has its seed")?;
        let private = DecapsulationKey::<P>::from_seed(seed.expose()).to_encoded();
        let exported = kem::DecapsulationKey::new(algorithm, private.expose()).map_err(text)?;
        let found = exported.decapsulate(Ciphertext::from(c.as_ref())).map_err(text)?;
        check(found.as_ref() == k.as_ref(), "our private key in their hands")?;

        // A ciphertext that nobody made: both reject it implicitly, to the same secret.
        let mut c = c;
        c.as_mut()[17] ^= 1;
        let found = exported.decapsulate(Ciphertext::from(c.as_ref())).map_err(text)?;
        check(found.as_ref() == ours.decapsulate(&c).expose(), "implicit rejection")?;
    }
    Ok(())
}

/// Our keys in their hands in every form, their keys in ours, and a signature each way.
fn keys(
    algorithm: PkiAlgorithm,
    signing: &'static PqdsaSigningAlgorithm,
    verifying: &'static dyn signature::VerificationAlgorithm,
) -> Result {
    for form in [Form::Seed, Form::Expanded, Form::Both] {
        let ours = PrivateKey::generate(algorithm).map_err(text)?;
        let der = ours.to_pkcs8_der(form).map_err(text)?;
        let theirs = PqdsaKeyPair::from_pkcs8(signing, &der).map_err(|error| format!("{form:?}: {error}"))?;
        let public = ours.public_key();
        check(theirs.public_key().as_ref() == public.as_bytes(), format!("{form:?}: public key"))?;

        let mut signature = vec![0; signing.signature_len()];
        let len = theirs.sign(b"quilted linen", &mut signature).map_err(text)?;
        verify(&public, &signature[..len])?;
        let signature = sign(&ours)?;
        UnparsedPublicKey::new(verifying, public.as_bytes())
            .verify(b"quilted linen", &signature)
            .map_err(text)?;
    }
    let theirs = PqdsaKeyPair::generate(signing).map_err(text)?;
    let imported = PrivateKey::from_pkcs8_der(theirs.to_pkcs8v1().map_err(text)?.as_ref()).map_err(text)?;
    check(imported.public_key().as_bytes() == theirs.public_key().as_ref(), "their key in our hands")?;
    Ok(())
}

fn sign(key: &PrivateKey) -> Result<Vec<u8>> {
    Ok(match key {
        PrivateKey::MlDsa44(key) => key.sign(b"quilted linen").map_err(text)?.to_vec(),
        PrivateKey::MlDsa65(key) => key.sign(b"quilted linen").map_err(text)?.to_vec(),
        PrivateKey::MlDsa87(key) => key.sign(b"quilted linen").map_err(text)?.to_vec(),
        _ => return Err("not an ML-DSA key".into()),
    })
}

fn verify(key: &PublicKey, signature: &[u8]) -> Result {
    match key {
        PublicKey::MlDsa44(key) => key.verify(b"quilted linen", signature),
        PublicKey::MlDsa65(key) => key.verify(b"quilted linen", signature),
        PublicKey::MlDsa87(key) => key.verify(b"quilted linen", signature),
        _ => return Err("not an ML-DSA key".into()),
    }
    .map_err(|error| text(error).into())
}

fn text(error: impl ToString) -> String {
    error.to_string()
}
