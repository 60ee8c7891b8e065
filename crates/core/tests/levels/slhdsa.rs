//! SLH-DSA with every table of SHA-2 and Keccak that this machine can run.

use crate::{LIMIT, with_every_table_of_sha2};
use gambeson::slhdsa::{InvalidSignature, Message, ParameterSet, SigningKey};

#[test]
fn every_table_of_kernels_gives_the_same_signature() {
    let _turn = LIMIT.lock();
    for set in
        [ParameterSet::SHA2_128F, ParameterSet::SHAKE_128F, ParameterSet::SHA2_256F, ParameterSet::SHAKE_192F]
    {
        let n = set.seed_len();
        let key = SigningKey::from_seeds(set, &[1; 32][..n], &[2; 32][..n], &[3; 32][..n]).unwrap();
        let expected = key.sign_deterministic(b"message");
        with_every_table_of_sha2(|table| {
            let again = SigningKey::from_bytes(set, key.expose_bytes()).unwrap();
            assert!(again.sign_deterministic(b"message") == expected, "{set} {table}");
            assert_eq!(key.verifying_key().verify(b"message", &expected), Ok(()), "{set} {table}");
            assert!(key.prepare().sign_deterministic(b"message") == expected, "{set} {table}");
            let item = (Message::from(b"message"), expected.as_slice());
            let other = (Message::from(b"another message"), expected.as_slice());
            let verdicts = key.verifying_key().verify_many(&[item, other, item]);
            assert_eq!(verdicts, [Ok(()), Err(InvalidSignature), Ok(())], "{set} {table}");
        });
    }
}
