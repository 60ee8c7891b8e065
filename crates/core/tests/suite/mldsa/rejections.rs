//! Rare paths of the signing loop: the known-answer cases of NIST's draft-celi-acvp-ml-dsa, tables 1 and 2, which were
//! searched for so that each check rejects, and for loops of many attempts. (The reasons themselves are asserted in `standard`, whose reference
//! makes the same signatures.)

use gambeson::mldsa::{Message, MlDsa44, MlDsa65, MlDsa87, PreHash, PreparedSet};

use super::{sign_by_every_form, unhex};

/// The seed ξ, M′, and the SHA-256 of the deterministic signature.
type Case = [&'static str; 3];

#[rustfmt::skip]
const CASES_44: [Case; 2] = [
    [
        "ca5a01e1ea6552cb5c9803462b94c2f1dc9d13bb17a6ace510d157056a2c6114",
        "8c8caca88fff52b9330510537b3701b3993f3726136a650f48f8604551550832",
        "b4b142209137397dad504caed01d390adaf49973d8d2414fc3457fb7af775189",
    ],
    [
        "9c005f1550b4f31855c6b92f978736733f37791cb39dd182d7ba5732bdc2483e",
        "b744343f30f7fee088998ba574e799f1bf3939c06c29bf9ac10f3588a57e21e2",
        "5b80a60baa480b9d0c7d2c05b50928c4bf6808dda693642058a3eb77eaa768fc",
    ],
];

#[rustfmt::skip]
const CASES_65: [Case; 4] = [
    [
        "c6315fc719895d16454b7d62084f0c8a2903d8d00dc1d82eb3f45f06463c6fbd",
        "d8cb8b23931495fdf71477db7c335a151c6a909697f1c39a3175133b68881f28",
        "bd57a93231efef6b4e7fe374e2194db7e00202eaf5efc60df5f9fe1c5f579d06",
    ],
    [
        "f005e4738b528f953669a2bca3925266dbd23909cd2c4dce50b980d789ebd0d4",
        "ef1fe025f8df1fdcfdafd188f68b9d1085ae8d09234ebdad67de985ba7347de4",
        "9e7b668c51b250b12ed76665bb4315ce4bdbaf00bf927f6d895f06010d3bbc0e",
    ],
    [
        "f215ba2280d86f142012fc05ffc04f2c7d22ff5dd7d69aa0efb081e3a53e9318",
        "a4fadc3c232f2abc8fcbb9c111f261e03dc2ff2d57280a4242936a63e481afe6",
        "c027d21b21fa75abe7f35cd84a54e2e83bd352140bc8c49eab2c45004e7268a7",
    ],
    [
        "111bdfd13cf30b4a05f8c56e91e20025b284efdc661c349d430fb988149219ee",
        "a30975c7c58abc8fe7fae442fe20f964410b74e9b4c1d47e440223c5a46da72c",
        "cada29aeec8e59cd70747c2e4c83f9637e3c24953f11adeef586f78635b3e60a",
    ],
];

#[rustfmt::skip]
const CASES_87: [Case; 3] = [
    [
        "e45f9cc043c2c0f4bebcad2860cadf77c8211237d7aaa108a56e3aca92d207f7",
        "86b5a9361f73427eba3eef5d46112b7467cedfbcc77ef36c94ef0666c1ad37b6",
        "e8276bf4d57752d77c6eae2b80050ed20cf15344b69e5150f94792903ea3790a",
    ],
    [
        "51df520b9084e48b72eaeba7fe36b54005cd963b58cc25de79339948fd561065",
        "28efcad1c1b528e0e46cb25d28fa21dba893010b3c741d731460988b66985d78",
        "02fa4cf7bf7f5bd13874c77b30daf708baa3e2c097d4298bf242a07bf68d7ad6",
    ],
    [
        "771e95434e41029193d076b806f2c3c22a7f2060287791e70f105ecaeab7ad69",
        "c367382d0e3fee86d29bab0ee5fd6ae91b3a5a7017a024cf145a25f56a62b0b1",
        "4996f7743e90daeb61b5ff86a868c9e5195f201c4e5f5a75f4c79031aaa6c544",
    ],
];

fn run<P: PreparedSet>(cases: &[Case]) -> usize {
    for [seed, m_prime, digest] in cases {
        let seed = unhex(seed).try_into().expect("32 bytes");
        let m_prime = unhex(m_prime);
        let signature = sign_by_every_form::<P>(&seed, &[0; 32], Message::internal(&m_prime));
        assert_eq!(PreHash::Sha2_256.digest(signature.as_ref()).as_bytes(), unhex(digest));
    }
    cases.len()
}

#[test]
fn long_and_rare_signing_loops_give_the_known_signatures() {
    let ran = run::<MlDsa44>(&CASES_44) + run::<MlDsa65>(&CASES_65) + run::<MlDsa87>(&CASES_87);
    assert_eq!(ran, 9, "every case of every set ran");
}
