//! LMS and XMSS^MT with every table of SHA-2 that this machine can run.

use crate::{LIMIT, with_every_table_of_sha2};
use gambeson::lms::{self, LmotsType, LmsType};
use gambeson::stateful::{Signer, StatefulKey, TreeOptions, hazmat::MemoryStore};
use gambeson::xmss::{self, ParameterSet};

/// The signature of a message with leaf 17.
fn sign<K: StatefulKey>(key: K) -> Vec<u8> {
    let mut signer = Signer::new(key, MemoryStore::new(17));
    let index = signer.reserve_one().expect("the key has leaves left");
    signer.sign(index, b"message").expect("the index of this store")
}

#[test]
fn every_table_of_sha_2_gives_the_same_stateful_signature() {
    let _turn = LIMIT.lock();
    let one = (LmsType::SHA256_M32_H5, LmotsType::SHA256_N32_W8);
    let set = ParameterSet::MT_SHA2_20_4_192;
    let lms = || {
        lms::SigningKey::from_seed(one.0, one.1, &[1; 16], &[2; 32], TreeOptions::new())
            .expect("types that go together")
    };
    let xmss = || {
        xmss::SigningKey::from_seeds(set, &[1; 24], &[2; 24], &[3; 24], TreeOptions::new())
            .expect("seeds of 24 bytes")
    };
    let (lms_key, xmss_key) = (*lms().verifying_key(), *xmss().verifying_key());
    let expected = (sign(lms()), sign(xmss()));
    with_every_table_of_sha2(|table| {
        assert!((sign(lms()), sign(xmss())) == expected, "{table}");
        assert_eq!(lms_key.verify(b"message", &expected.0), Ok(()), "{table}");
        assert_eq!(xmss_key.verify(b"message", &expected.1), Ok(()), "{table}");
        assert!(lms_key.verify(b"another message", &expected.0).is_err(), "{table}");
        assert!(xmss_key.verify(b"another message", &expected.1).is_err(), "{table}");
    });
}
