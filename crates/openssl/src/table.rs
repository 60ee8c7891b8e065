//! The one table of algorithms that all else is made from.

use std::ffi::CStr;

use der::Encode;
use gambeson::slhdsa::ParameterSet;
use gambeson_hybrid::composite;
use gambeson_hybrid::kem::{self, HybridKem};
use gambeson_pki::Algorithm;
use spki::AlgorithmIdentifierRef;

/// What OpenSSL knows of an algorithm, and who does the work.
pub struct Row {
    /// All names, with colons between them: those of OpenSSL 3.5, so that one configuration serves both.
    pub names: &'static CStr,
    /// The first of them.
    pub name: &'static CStr,
    pub scheme: Scheme,
    /// How it stands in certificates, if it can.
    pub object: Option<Object>,
    /// From which OpenSSL on the core has the algorithm itself.
    pub in_core: Option<Version>,
    /// The strength that OpenSSL's security levels ask for: that of ML-KEM or ML-DSA in hybrids for key agreement, that of the weaker
    /// half in composite signatures.
    pub security_bits: u16,
    pub tls: Tls,
}

impl Row {
    /// The `AlgorithmIdentifier` of signatures, in DER: parameters are absent.
    pub fn algorithm_identifier(&self) -> Option<Vec<u8>> {
        let oid = self.object.as_ref()?.oid.to_str().ok()?.parse().ok()?;
        AlgorithmIdentifierRef { oid, parameters: None }.to_der().ok()
    }
}

impl Row {
    /// Bytes of a public key, and of the longest signature or a ciphertext: a key without bytes has them, too.
    pub fn lengths(&self) -> Option<(usize, usize)> {
        let name = match self.scheme {
            Scheme::Group(kem) => return Some((kem.encapsulation_key_len(), kem.ciphertext_len())),
            Scheme::Pki(Algorithm::MlKem512) => return Some((800, 768)),
            Scheme::Pki(Algorithm::MlKem768) => return Some((1184, 1088)),
            Scheme::Pki(Algorithm::MlKem1024) => return Some((1568, 1568)),
            Scheme::Pki(Algorithm::MlDsa44) => return Some((1312, 2420)),
            Scheme::Pki(Algorithm::MlDsa65) => return Some((1952, 3309)),
            Scheme::Pki(Algorithm::MlDsa87) => return Some((2592, 4627)),
            Scheme::Pki(algorithm) => algorithm.name(),
        };
        let signature = composite::Algorithm::by_name(name);
        let signature = signature.map(|found| (found.public_key_len(), found.max_signature_len()));
        let slh_dsa = || self.scheme.slh_dsa().map(|set| (set.verifying_key_len(), set.signature_len()));
        let kem = || HybridKem::by_name(name).map(|kem| (kem.encapsulation_key_len(), kem.ciphertext_len()));
        signature.or_else(slh_dsa).or_else(kem)
    }
}

/// Who does the work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// A hybrid that exists in TLS alone: its keys have no form in files.
    Group(&'static HybridKem),
    /// An algorithm whose keys can stand in files.
    Pki(Algorithm),
}

impl Scheme {
    pub fn signs(self) -> bool {
        matches!(self, Self::Pki(algorithm) if algorithm.signs())
    }

    /// The parameter set, for SLH-DSA.
    pub fn slh_dsa(self) -> Option<ParameterSet> {
        let Self::Pki(algorithm) = self else { return None };
        ParameterSet::ALL.iter().copied().find(|set| set.name() == algorithm.name())
    }
}

/// An object identifier in dots, and the shorter of its names; the longer one is the name of the algorithm.
pub struct Object {
    pub oid: &'static CStr,
    pub short: &'static CStr,
}

/// What an algorithm is in TLS 1.3.
pub enum Tls {
    Nothing,
    /// A named group.
    Group {
        name: &'static CStr,
        number: u16,
        in_core: Option<Version>,
    },
    /// A signature scheme.
    Scheme {
        name: &'static CStr,
        number: u16,
    },
    /// A signature scheme without a registered number: the configuration has to give one.
    PrivateScheme {
        name: &'static CStr,
    },
}

/// Major and minor number of an OpenSSL.
pub type Version = (u16, u16);

const SINCE_3_5: Option<Version> = Some((3, 5));

/// Whether the core of this version has what is there since `since`.
pub fn has(version: Version, since: Option<Version>) -> bool {
    since.is_some_and(|since| version >= since)
}

/// Rows of [`TABLE`].
pub const ROWS: usize = 35;

/// A group of TLS that has no other use. The core may have its KEM, and not its number.
const fn group(
    name: &'static CStr,
    kem: &'static HybridKem,
    number: u16,
    security_bits: u16,
    (in_core, group_in_core): (Option<Version>, Option<Version>),
) -> Row {
    let tls = Tls::Group { name, number, in_core: group_in_core };
    Row { names: name, name, scheme: Scheme::Group(kem), object: None, in_core, security_bits, tls }
}

/// ML-KEM, ML-DSA or SLH-DSA; the object is its identifier and the shorter name of that.
const fn standard(
    names: &'static CStr,
    name: &'static CStr,
    algorithm: Algorithm,
    object: (&'static CStr, &'static CStr),
    security_bits: u16,
    tls: Tls,
) -> Row {
    Row { in_core: SINCE_3_5, ..composite(names, name, algorithm, object, security_bits, tls) }
}

/// A composite, which no core has yet.
const fn composite(
    names: &'static CStr,
    name: &'static CStr,
    algorithm: Algorithm,
    (oid, short): (&'static CStr, &'static CStr),
    security_bits: u16,
    tls: Tls,
) -> Row {
    let object = Some(Object { oid, short });
    Row { names, name, scheme: Scheme::Pki(algorithm), object, in_core: None, security_bits, tls }
}

/// Every algorithm: the groups of TLS, ML-KEM, ML-DSA, SLH-DSA, composite signatures, composite KEMs.
pub static TABLE: [Row; ROWS] = [
    group(c"X25519MLKEM768", &kem::X25519_MLKEM768, 0x11ec, 192, (SINCE_3_5, SINCE_3_5)),
    group(c"SecP256r1MLKEM768", &kem::SECP256R1_MLKEM768, 0x11eb, 192, (SINCE_3_5, SINCE_3_5)),
    group(c"SecP384r1MLKEM1024", &kem::SECP384R1_MLKEM1024, 0x11ed, 256, (SINCE_3_5, SINCE_3_5)),
    group(c"X448MLKEM768", &kem::X448_MLKEM768, 0x2fb7, 192, (None, None)),
    group(c"X448MLKEM1024", &kem::X448_MLKEM1024, 0xfe48, 256, (SINCE_3_5, None)),
    standard(
        c"ML-KEM-512:MLKEM512:id-alg-ml-kem-512:2.16.840.1.101.3.4.4.1",
        c"ML-KEM-512",
        Algorithm::MlKem512,
        (c"2.16.840.1.101.3.4.4.1", c"id-alg-ml-kem-512"),
        128,
        Tls::Group { name: c"MLKEM512", number: 0x0200, in_core: SINCE_3_5 },
    ),
    standard(
        c"ML-KEM-768:MLKEM768:id-alg-ml-kem-768:2.16.840.1.101.3.4.4.2",
        c"ML-KEM-768",
        Algorithm::MlKem768,
        (c"2.16.840.1.101.3.4.4.2", c"id-alg-ml-kem-768"),
        192,
        Tls::Group { name: c"MLKEM768", number: 0x0201, in_core: SINCE_3_5 },
    ),
    standard(
        c"ML-KEM-1024:MLKEM1024:id-alg-ml-kem-1024:2.16.840.1.101.3.4.4.3",
        c"ML-KEM-1024",
        Algorithm::MlKem1024,
        (c"2.16.840.1.101.3.4.4.3", c"id-alg-ml-kem-1024"),
        256,
        Tls::Group { name: c"MLKEM1024", number: 0x0202, in_core: SINCE_3_5 },
    ),
    standard(
        c"ML-DSA-44:MLDSA44:2.16.840.1.101.3.4.3.17:id-ml-dsa-44",
        c"ML-DSA-44",
        Algorithm::MlDsa44,
        (c"2.16.840.1.101.3.4.3.17", c"id-ml-dsa-44"),
        128,
        Tls::Scheme { name: c"mldsa44", number: 0x0904 },
    ),
    standard(
        c"ML-DSA-65:MLDSA65:2.16.840.1.101.3.4.3.18:id-ml-dsa-65",
        c"ML-DSA-65",
        Algorithm::MlDsa65,
        (c"2.16.840.1.101.3.4.3.18", c"id-ml-dsa-65"),
        192,
        Tls::Scheme { name: c"mldsa65", number: 0x0905 },
    ),
    standard(
        c"ML-DSA-87:MLDSA87:2.16.840.1.101.3.4.3.19:id-ml-dsa-87",
        c"ML-DSA-87",
        Algorithm::MlDsa87,
        (c"2.16.840.1.101.3.4.3.19", c"id-ml-dsa-87"),
        256,
        Tls::Scheme { name: c"mldsa87", number: 0x0906 },
    ),
    standard(
        c"SLH-DSA-SHA2-128s:id-slh-dsa-sha2-128s:2.16.840.1.101.3.4.3.20",
        c"SLH-DSA-SHA2-128s",
        Algorithm::SlhDsaSha2_128s,
        (c"2.16.840.1.101.3.4.3.20", c"id-slh-dsa-sha2-128s"),
        128,
        Tls::Nothing,
    ),
    standard(
        c"SLH-DSA-SHA2-128f:id-slh-dsa-sha2-128f:2.16.840.1.101.3.4.3.21",
        c"SLH-DSA-SHA2-128f",
        Algorithm::SlhDsaSha2_128f,
        (c"2.16.840.1.101.3.4.3.21", c"id-slh-dsa-sha2-128f"),
        128,
        Tls::Nothing,
    ),
    standard(
        c"SLH-DSA-SHA2-192s:id-slh-dsa-sha2-192s:2.16.840.1.101.3.4.3.22",
        c"SLH-DSA-SHA2-192s",
        Algorithm::SlhDsaSha2_192s,
        (c"2.16.840.1.101.3.4.3.22", c"id-slh-dsa-sha2-192s"),
        192,
        Tls::Nothing,
    ),
    standard(
        c"SLH-DSA-SHA2-192f:id-slh-dsa-sha2-192f:2.16.840.1.101.3.4.3.23",
        c"SLH-DSA-SHA2-192f",
        Algorithm::SlhDsaSha2_192f,
        (c"2.16.840.1.101.3.4.3.23", c"id-slh-dsa-sha2-192f"),
        192,
        Tls::Nothing,
    ),
    standard(
        c"SLH-DSA-SHA2-256s:id-slh-dsa-sha2-256s:2.16.840.1.101.3.4.3.24",
        c"SLH-DSA-SHA2-256s",
        Algorithm::SlhDsaSha2_256s,
        (c"2.16.840.1.101.3.4.3.24", c"id-slh-dsa-sha2-256s"),
        256,
        Tls::Nothing,
    ),
    standard(
        c"SLH-DSA-SHA2-256f:id-slh-dsa-sha2-256f:2.16.840.1.101.3.4.3.25",
        c"SLH-DSA-SHA2-256f",
        Algorithm::SlhDsaSha2_256f,
        (c"2.16.840.1.101.3.4.3.25", c"id-slh-dsa-sha2-256f"),
        256,
        Tls::Nothing,
    ),
    standard(
        c"SLH-DSA-SHAKE-128s:id-slh-dsa-shake-128s:2.16.840.1.101.3.4.3.26",
        c"SLH-DSA-SHAKE-128s",
        Algorithm::SlhDsaShake128s,
        (c"2.16.840.1.101.3.4.3.26", c"id-slh-dsa-shake-128s"),
        128,
        Tls::Nothing,
    ),
    standard(
        c"SLH-DSA-SHAKE-128f:id-slh-dsa-shake-128f:2.16.840.1.101.3.4.3.27",
        c"SLH-DSA-SHAKE-128f",
        Algorithm::SlhDsaShake128f,
        (c"2.16.840.1.101.3.4.3.27", c"id-slh-dsa-shake-128f"),
        128,
        Tls::Nothing,
    ),
    standard(
        c"SLH-DSA-SHAKE-192s:id-slh-dsa-shake-192s:2.16.840.1.101.3.4.3.28",
        c"SLH-DSA-SHAKE-192s",
        Algorithm::SlhDsaShake192s,
        (c"2.16.840.1.101.3.4.3.28", c"id-slh-dsa-shake-192s"),
        192,
        Tls::Nothing,
    ),
    standard(
        c"SLH-DSA-SHAKE-192f:id-slh-dsa-shake-192f:2.16.840.1.101.3.4.3.29",
        c"SLH-DSA-SHAKE-192f",
        Algorithm::SlhDsaShake192f,
        (c"2.16.840.1.101.3.4.3.29", c"id-slh-dsa-shake-192f"),
        192,
        Tls::Nothing,
    ),
    standard(
        c"SLH-DSA-SHAKE-256s:id-slh-dsa-shake-256s:2.16.840.1.101.3.4.3.30",
        c"SLH-DSA-SHAKE-256s",
        Algorithm::SlhDsaShake256s,
        (c"2.16.840.1.101.3.4.3.30", c"id-slh-dsa-shake-256s"),
        256,
        Tls::Nothing,
    ),
    standard(
        c"SLH-DSA-SHAKE-256f:id-slh-dsa-shake-256f:2.16.840.1.101.3.4.3.31",
        c"SLH-DSA-SHAKE-256f",
        Algorithm::SlhDsaShake256f,
        (c"2.16.840.1.101.3.4.3.31", c"id-slh-dsa-shake-256f"),
        256,
        Tls::Nothing,
    ),
    composite(
        c"MLDSA87-Ed448-SHAKE256:id-MLDSA87-Ed448-SHAKE256:1.3.6.1.5.5.7.6.51",
        c"MLDSA87-Ed448-SHAKE256",
        Algorithm::MlDsa87Ed448,
        (c"1.3.6.1.5.5.7.6.51", c"id-MLDSA87-Ed448-SHAKE256"),
        224,
        Tls::PrivateScheme { name: c"mldsa87_ed448_shake256" },
    ),
    composite(
        c"MLDSA87-ECDSA-P384-SHA512:id-MLDSA87-ECDSA-P384-SHA512:1.3.6.1.5.5.7.6.49",
        c"MLDSA87-ECDSA-P384-SHA512",
        Algorithm::MlDsa87EcdsaP384,
        (c"1.3.6.1.5.5.7.6.49", c"id-MLDSA87-ECDSA-P384-SHA512"),
        192,
        Tls::Nothing,
    ),
    composite(
        c"MLDSA65-Ed25519-SHA512:id-MLDSA65-Ed25519-SHA512:1.3.6.1.5.5.7.6.48",
        c"MLDSA65-Ed25519-SHA512",
        Algorithm::MlDsa65Ed25519,
        (c"1.3.6.1.5.5.7.6.48", c"id-MLDSA65-Ed25519-SHA512"),
        128,
        Tls::Nothing,
    ),
    composite(
        c"MLDSA65-ECDSA-P384-SHA512:id-MLDSA65-ECDSA-P384-SHA512:1.3.6.1.5.5.7.6.46",
        c"MLDSA65-ECDSA-P384-SHA512",
        Algorithm::MlDsa65EcdsaP384,
        (c"1.3.6.1.5.5.7.6.46", c"id-MLDSA65-ECDSA-P384-SHA512"),
        192,
        Tls::Nothing,
    ),
    composite(
        c"MLDSA65-ECDSA-P256-SHA512:id-MLDSA65-ECDSA-P256-SHA512:1.3.6.1.5.5.7.6.45",
        c"MLDSA65-ECDSA-P256-SHA512",
        Algorithm::MlDsa65EcdsaP256,
        (c"1.3.6.1.5.5.7.6.45", c"id-MLDSA65-ECDSA-P256-SHA512"),
        128,
        Tls::Nothing,
    ),
    composite(
        c"MLDSA44-Ed25519-SHA512:id-MLDSA44-Ed25519-SHA512:1.3.6.1.5.5.7.6.39",
        c"MLDSA44-Ed25519-SHA512",
        Algorithm::MlDsa44Ed25519,
        (c"1.3.6.1.5.5.7.6.39", c"id-MLDSA44-Ed25519-SHA512"),
        128,
        Tls::Nothing,
    ),
    composite(
        c"MLDSA44-ECDSA-P256-SHA256:id-MLDSA44-ECDSA-P256-SHA256:1.3.6.1.5.5.7.6.40",
        c"MLDSA44-ECDSA-P256-SHA256",
        Algorithm::MlDsa44EcdsaP256,
        (c"1.3.6.1.5.5.7.6.40", c"id-MLDSA44-ECDSA-P256-SHA256"),
        128,
        Tls::Nothing,
    ),
    composite(
        c"MLKEM1024-X448-SHA3-256:id-MLKEM1024-X448-SHA3-256:1.3.6.1.5.5.7.6.65",
        c"MLKEM1024-X448-SHA3-256",
        Algorithm::MlKem1024X448,
        (c"1.3.6.1.5.5.7.6.65", c"id-MLKEM1024-X448-SHA3-256"),
        256,
        Tls::Nothing,
    ),
    composite(
        c"MLKEM1024-ECDH-P384-SHA3-256:id-MLKEM1024-ECDH-P384-SHA3-256:1.3.6.1.5.5.7.6.63",
        c"MLKEM1024-ECDH-P384-SHA3-256",
        Algorithm::MlKem1024EcdhP384,
        (c"1.3.6.1.5.5.7.6.63", c"id-MLKEM1024-ECDH-P384-SHA3-256"),
        256,
        Tls::Nothing,
    ),
    composite(
        c"MLKEM768-ECDH-P384-SHA3-256:id-MLKEM768-ECDH-P384-SHA3-256:1.3.6.1.5.5.7.6.60",
        c"MLKEM768-ECDH-P384-SHA3-256",
        Algorithm::MlKem768EcdhP384,
        (c"1.3.6.1.5.5.7.6.60", c"id-MLKEM768-ECDH-P384-SHA3-256"),
        192,
        Tls::Nothing,
    ),
    composite(
        c"MLKEM768-ECDH-P256-SHA3-256:id-MLKEM768-ECDH-P256-SHA3-256:1.3.6.1.5.5.7.6.59",
        c"MLKEM768-ECDH-P256-SHA3-256",
        Algorithm::MlKem768EcdhP256,
        (c"1.3.6.1.5.5.7.6.59", c"id-MLKEM768-ECDH-P256-SHA3-256"),
        192,
        Tls::Nothing,
    ),
    composite(
        c"MLKEM768-X25519-SHA3-256:id-MLKEM768-X25519-SHA3-256:1.3.6.1.5.5.7.6.58",
        c"MLKEM768-X25519-SHA3-256",
        Algorithm::MlKem768X25519,
        (c"1.3.6.1.5.5.7.6.58", c"id-MLKEM768-X25519-SHA3-256"),
        192,
        Tls::Nothing,
    ),
];

/// A function with the number of a row as its first constant parameter, called for each of them.
macro_rules! for_rows {
    ($functions:ident $(, $more:literal)?) => {
        [
            $functions::<0 $(, $more)?>(),
            $functions::<1 $(, $more)?>(),
            $functions::<2 $(, $more)?>(),
            $functions::<3 $(, $more)?>(),
            $functions::<4 $(, $more)?>(),
            $functions::<5 $(, $more)?>(),
            $functions::<6 $(, $more)?>(),
            $functions::<7 $(, $more)?>(),
            $functions::<8 $(, $more)?>(),
            $functions::<9 $(, $more)?>(),
            $functions::<10 $(, $more)?>(),
            $functions::<11 $(, $more)?>(),
            $functions::<12 $(, $more)?>(),
            $functions::<13 $(, $more)?>(),
            $functions::<14 $(, $more)?>(),
            $functions::<15 $(, $more)?>(),
            $functions::<16 $(, $more)?>(),
            $functions::<17 $(, $more)?>(),
            $functions::<18 $(, $more)?>(),
            $functions::<19 $(, $more)?>(),
            $functions::<20 $(, $more)?>(),
            $functions::<21 $(, $more)?>(),
            $functions::<22 $(, $more)?>(),
            $functions::<23 $(, $more)?>(),
            $functions::<24 $(, $more)?>(),
            $functions::<25 $(, $more)?>(),
            $functions::<26 $(, $more)?>(),
            $functions::<27 $(, $more)?>(),
            $functions::<28 $(, $more)?>(),
            $functions::<29 $(, $more)?>(),
            $functions::<30 $(, $more)?>(),
            $functions::<31 $(, $more)?>(),
            $functions::<32 $(, $more)?>(),
            $functions::<33 $(, $more)?>(),
            $functions::<34 $(, $more)?>(),
        ]
    };
}
pub(crate) use for_rows;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The provider has no stateful signatures.
    #[test]
    fn every_group_and_every_algorithm_but_classical_and_stateful_ones_stands_in_the_table_once() {
        let groups = kem::KEMS.iter().filter(|kem| kem.group().is_some());
        let wanted: BTreeSet<&str> = groups
            .map(|kem| kem.name())
            .chain(Algorithm::ALL.iter().map(|algorithm| algorithm.name()))
            .filter(|name| {
                !["Ed25519", "Ed448", "ECDSA-P256", "ECDSA-P384", "HSS", "XMSS", "XMSSMT"].contains(name)
            })
            .collect();
        let found: BTreeSet<&str> = TABLE.iter().map(|row| row.name.to_str().expect("ASCII")).collect();
        assert_eq!(found, wanted);
        assert_eq!(found.len(), ROWS);
    }

    #[test]
    fn names_numbers_and_object_identifiers_are_those_of_the_libraries() {
        for row in &TABLE {
            let names: Vec<&str> = row.names.to_str().expect("ASCII").split(':').collect();
            assert_eq!(names[0], row.name.to_str().expect("ASCII"));
            match row.scheme {
                Scheme::Group(kem) => {
                    assert_eq!(names[0], kem.name());
                    let Tls::Group { number, .. } = row.tls else { panic!("{}: a group", kem.name()) };
                    assert_eq!(kem.group(), Some(number));
                    assert!(row.object.is_none());
                }
                Scheme::Pki(algorithm) => {
                    assert_eq!(names[0], algorithm.name());
                    let object = row.object.as_ref().expect("it stands in certificates");
                    let (oid, short) =
                        (object.oid.to_str().expect("ASCII"), object.short.to_str().expect("ASCII"));
                    assert_eq!(oid, algorithm.oid());
                    // OpenSSL asks for a key's algorithm by either of them.
                    assert!(names.contains(&oid) && names.contains(&short), "{names:?}");
                }
            }
        }
    }

    #[test]
    fn the_core_has_what_it_has_since_a_version() {
        assert!(!has((3, 0), SINCE_3_5) && !has((3, 4), SINCE_3_5));
        assert!(has((3, 5), SINCE_3_5) && has((3, 10), SINCE_3_5) && has((4, 0), SINCE_3_5));
        assert!(!has((4, 0), None));
    }
}
