//! Single operations, each with a label.

use mls_rs_core::crypto::{
    CipherSuiteProvider, HpkeCiphertext, HpkePublicKey, HpkeSecretKey, SignatureSecretKey,
};
use serde_json::Value;

use super::wire::{
    Judged, check, derive, derive_tree, expand, hex, labeled, number, private, reference, said, same, text,
    verify,
};
use crate::SuiteProvider;

/// `crypto-basics`.
pub(super) fn labels(suite: &SuiteProvider, case: &Value) -> Judged {
    let v = &case["ref_hash"];
    same(v, "out", &reference(suite, text(&v["label"])?, &hex(&v["value"])?)?)?;
    let v = &case["expand_with_label"];
    let (secret, context) = (hex(&v["secret"])?, hex(&v["context"])?);
    same(v, "out", &expand(suite, &secret, text(&v["label"])?, &context, number(&v["length"])?)?)?;
    let v = &case["derive_secret"];
    same(v, "out", &derive(suite, &hex(&v["secret"])?, text(&v["label"])?)?)?;
    let v = &case["derive_tree_secret"];
    let generation = u32::try_from(number(&v["generation"])?).map_err(said)?;
    let (secret, len) = (hex(&v["secret"])?, number(&v["length"])?);
    same(v, "out", &derive_tree(suite, &secret, text(&v["label"])?, generation, len)?)?;
    signature(suite, &case["sign_with_label"])?;
    encryption(suite, &case["encrypt_with_label"])
}

fn signature(suite: &SuiteProvider, v: &Value) -> Judged {
    let (label, content) = (text(&v["label"])?, hex(&v["content"])?);
    let (secret, public) = (SignatureSecretKey::new(private(suite, &v["priv"])?), hex(&v["pub"])?);
    let derived = suite.signature_key_derive_public(&secret).map_err(said)?;
    check(derived.as_bytes() == public, "the public key of the private one")?;
    verify(suite, &public, label, &content, &hex(&v["signature"])?)?;
    let ours = suite.sign(&secret, &labeled(label, &content)).map_err(said)?;
    verify(suite, &public, label, &content, &ours)?;
    check(
        verify(suite, &public, label, &[&content[..], b"."].concat(), &ours).is_err(),
        "more than was signed",
    )
}

fn encryption(suite: &SuiteProvider, v: &Value) -> Judged {
    let info = labeled(text(&v["label"])?, &hex(&v["context"])?);
    let (secret, public): (HpkeSecretKey, HpkePublicKey) =
        (private(suite, &v["priv"])?.into(), hex(&v["pub"])?.into());
    let open = |sealed: &HpkeCiphertext| suite.hpke_open(sealed, &secret, &public, &info, None).map_err(said);
    let sealed = HpkeCiphertext { kem_output: hex(&v["kem_output"])?, ciphertext: hex(&v["ciphertext"])? };
    same(v, "plaintext", &open(&sealed)?)?;
    let sealed = suite.hpke_seal(&public, &info, None, b"ours").map_err(said)?;
    check(open(&sealed)?.to_vec() == b"ours", "what was sealed here")
}
