//! KDFs (RFC 9180, §4 and §7.2; draft-ietf-hpke-hpke).

use gambeson::secret::Secret;
use gambeson::sha3;
use hkdf::{Hkdf, HkdfExtract};
use sha2::{Sha256, Sha384, Sha512};

use super::sealed::Sealed;
use super::{Error, Psk, SuiteId, VERSION};

/// A KDF of the suite: HKDF, in two stages, or SHAKE, in one.
pub trait Kdf: Sealed {
    /// The number in the registry of KDFs.
    const ID: u16;
    /// `Nh`: the length of the exporter secret in bytes.
    const NH: usize;

    /// `CombineSecrets`: fills key, base nonce and exporter secret.
    #[doc(hidden)]
    fn combine(
        suite: &SuiteId,
        mode: u8,
        shared_secret: &[u8],
        info: &[u8],
        psk: Psk<'_>,
        out: Schedule<'_>,
    ) -> Result<(), Error>;
    /// `Context.Export` (§5.3).
    #[doc(hidden)]
    fn export(suite: &SuiteId, exporter_secret: &[u8], context: &[u8], out: &mut [u8]) -> Result<(), Error>;
}

/// Where the key schedule puts its results.
#[doc(hidden)]
#[derive(Debug)]
pub struct Schedule<'a> {
    pub(super) key: &'a mut [u8],
    pub(super) base_nonce: &'a mut [u8],
    pub(super) exporter_secret: &'a mut [u8],
}

macro_rules! hkdf {
    ($($name:ident, $hash:ty, $id:literal, $nh:literal, $text:literal;)*) => {$(
        #[doc = $text]
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Sealed for $name {}

        impl $name {
            /// §4: `LabeledExtract`.
            pub(super) fn labeled_extract(
                suite: &[u8],
                salt: &[u8],
                label: &[u8],
                ikm: &[u8],
            ) -> Secret<[u8; $nh]> {
                let mut extract = HkdfExtract::<$hash>::new(Some(salt));
                for part in [VERSION, suite, label, ikm] {
                    extract.input_ikm(part);
                }
                Secret::new(extract.finalize().0.into())
            }

            /// §4: `LabeledExpand`; `info` comes in two parts.
            pub(super) fn labeled_expand(
                suite: &[u8],
                prk: &[u8],
                label: &[u8],
                info: [&[u8]; 2],
                out: &mut [u8],
            ) -> Result<(), Error> {
                let len = u16::try_from(out.len()).map_err(|_| Error::TooLong)?.to_be_bytes();
                Hkdf::<$hash>::from_prk(prk)
                    .expect("Nh bytes")
                    .expand_multi_info(&[&len, VERSION, suite, label, info[0], info[1]], out)
                    .map_err(|_| Error::TooLong)
            }
        }

        impl Kdf for $name {
            const ID: u16 = $id;
            const NH: usize = $nh;

            fn combine(
                suite: &SuiteId,
                mode: u8,
                shared_secret: &[u8],
                info: &[u8],
                psk: Psk<'_>,
                out: Schedule<'_>,
            ) -> Result<(), Error> {
                let mut context = [mode; 1 + 2 * $nh];
                let (psk_id_hash, info_hash) = context[1..].split_at_mut($nh);
                psk_id_hash
                    .copy_from_slice(Self::labeled_extract(suite, b"", b"psk_id_hash", psk.id).expose());
                info_hash.copy_from_slice(Self::labeled_extract(suite, b"", b"info_hash", info).expose());
                let secret = Self::labeled_extract(suite, shared_secret, b"secret", psk.secret);
                let expand =
                    |label: &[u8], out| Self::labeled_expand(suite, secret.expose(), label, [&context, b""], out);
                expand(b"key", out.key)?;
                expand(b"base_nonce", out.base_nonce)?;
                expand(b"exp", out.exporter_secret)
            }

            fn export(
                suite: &SuiteId,
                exporter_secret: &[u8],
                context: &[u8],
                out: &mut [u8],
            ) -> Result<(), Error> {
                Self::labeled_expand(suite, exporter_secret, b"sec", [context, b""], out)
            }
        }
    )*};
}

hkdf! {
    HkdfSha256, Sha256, 0x0001, 32, "HKDF-SHA256, KDF 0x0001.";
    HkdfSha384, Sha384, 0x0002, 48, "HKDF-SHA384, KDF 0x0002.";
    HkdfSha512, Sha512, 0x0003, 64, "HKDF-SHA512, KDF 0x0003.";
}

macro_rules! one_stage {
    ($($name:ident, $squeeze:ty, $id:literal, $nh:literal, $text:literal;)*) => {$(
        #[doc = $text]
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Sealed for $name {}

        impl $name {
            /// `LabeledDerive` of draft-ietf-hpke-hpke; `ikm` and `context` come in parts.
            pub(super) fn labeled_derive(
                suite: &[u8],
                ikm: &[&[u8]],
                label: &[u8],
                context: &[&[u8]],
                len: u16,
            ) -> $squeeze {
                let mut xof = sha3::$name::new();
                let label_len = (label.len() as u16).to_be_bytes(); // a label of ours: a few bytes
                let fixed = [VERSION, suite, &label_len, label, &len.to_be_bytes()];
                for part in ikm.iter().chain(&fixed).chain(context) {
                    xof.update(part);
                }
                xof.finalize_xof()
            }
        }

        impl Kdf for $name {
            const ID: u16 = $id;
            const NH: usize = $nh;

            /// `CombineSecrets_OneStage`: each string stands behind its length in two bytes.
            fn combine(
                suite: &SuiteId,
                mode: u8,
                shared_secret: &[u8],
                info: &[u8],
                psk: Psk<'_>,
                out: Schedule<'_>,
            ) -> Result<(), Error> {
                let len = |bytes: &[u8]| u16::try_from(bytes.len()).map_err(|_| Error::TooLong);
                let [psk_len, secret_len, id_len, info_len] =
                    [len(psk.secret)?, len(shared_secret)?, len(psk.id)?, len(info)?].map(u16::to_be_bytes);
                let out_len = (out.key.len() + out.base_nonce.len() + out.exporter_secret.len()) as u16; // 108 at most
                let mut derived = Self::labeled_derive(
                    suite,
                    &[&psk_len, psk.secret, &secret_len, shared_secret],
                    b"secret",
                    &[&[mode], &id_len, psk.id, &info_len, info],
                    out_len,
                );
                derived.squeeze(out.key);
                derived.squeeze(out.base_nonce);
                derived.squeeze(out.exporter_secret);
                Ok(())
            }

            fn export(
                suite: &SuiteId,
                exporter_secret: &[u8],
                context: &[u8],
                out: &mut [u8],
            ) -> Result<(), Error> {
                let len = u16::try_from(out.len()).map_err(|_| Error::TooLong)?;
                Self::labeled_derive(suite, &[exporter_secret], b"sec", &[context], len).squeeze(out);
                Ok(())
            }
        }
    )*};
}

one_stage! {
    Shake128, sha3::Squeeze, 0x0010, 32, "SHAKE128, KDF 0x0010: one stage, with the sponge of FIPS 202.";
    Shake256, sha3::Squeeze, 0x0011, 64, "SHAKE256, KDF 0x0011: one stage, with the sponge of FIPS 202.";
    TurboShake128, sha3::TurboSqueeze, 0x0012, 32, "TurboSHAKE128, KDF 0x0012: one stage, with half the rounds (RFC 9861).";
    TurboShake256, sha3::TurboSqueeze, 0x0013, 64, "TurboSHAKE256, KDF 0x0013: one stage, with half the rounds (RFC 9861).";
}
