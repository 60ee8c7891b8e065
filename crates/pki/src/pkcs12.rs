//! A key and its certificates in one file, for programs that want them so: PKCS#12 (RFC 7292). It is written and not read.

use p12_keystore::{Certificate as Written, KeyStore, KeyStoreEntry, PrivateKey as Key, PrivateKeyChain};

use crate::certificate::Certificate;
use crate::error::Error;
use crate::extensions::key_identifier;
use crate::private::{Form, PrivateKey};

/// Of PBKDF2 for the key, of PBKDF2 for the certificates, and of the MAC's own derivation. .NET 9 and newer read at most 300,000 of
/// each, and 1,000,000 in all; Java reads at most 5,000,000.
const ITERATIONS: u32 = 300_000;

impl PrivateKey {
    /// The key and its certificates, its own first, in one file under a passphrase: PKCS#12 (RFC 7292), encrypted with AES-256-CBC
    /// (PBES2, PBKDF2-HMAC-SHA256 with 300,000 iterations, the most that .NET reads), with a MAC of HMAC-SHA256. `name` is what programs call the entry;
    /// Java's find it by that.
    ///
    /// OpenSSL 3.0 and newer and Java read the file. Whether they know the key's algorithm is another question: of ML-DSA, OpenSSL
    /// has it since 3.5, Java since 24, Bouncy Castle since 1.79, which also has composites.
    ///
    /// The crate below, `p12-keystore`, does not wipe its copies of the key and of the passphrase.
    ///
    /// ```
    /// use gambeson_pki::{Algorithm, Form, PrivateKey, Template};
    ///
    /// let key = PrivateKey::generate(Algorithm::EcdsaP256)?;
    /// let certificate = Template::new("CN=Example".parse()?).self_signed(&key)?;
    /// let file = key.to_pkcs12(Form::Seed, &[certificate], "example", "correct horse")?;
    /// assert_eq!(file[0], 0x30);
    /// # Ok::<(), gambeson_pki::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::EmptyPassphrase`]; [`Error::KeyMismatch`] unless the first certificate is of this key; [`Error::NoSeed`];
    /// [`Error::Entry`] when `name` or `passphrase` has characters beyond the first 65,536 of Unicode, which PKCS#12 has no room
    /// for.
    pub fn to_pkcs12(
        &self,
        form: Form,
        chain: &[Certificate],
        name: &str,
        passphrase: &str,
    ) -> Result<Vec<u8>, Error> {
        if passphrase.is_empty() {
            return Err(Error::EmptyPassphrase);
        }
        if name.chars().chain(passphrase.chars()).any(|character| u32::from(character) > 0xffff) {
            return Err(Error::Entry);
        }
        let public = self.public_key();
        if chain.first().ok_or(Error::KeyMismatch)?.public_key()? != public {
            return Err(Error::KeyMismatch);
        }
        let certificates = chain
            .iter()
            .map(|certificate| Written::from_der(certificate.as_der()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| Error::Der)?;
        let key = Key::from_der(&self.to_pkcs8_der(form)?).map_err(|_| Error::Der)?;
        let identifier = key_identifier(public.as_bytes());
        let entry = PrivateKeyChain::new(&identifier[..], key, certificates);
        let mut store = KeyStore::new();
        store.add_entry(name, KeyStoreEntry::PrivateKeyChain(entry));
        let writer = store.writer(passphrase).encryption_iterations(ITERATIONS).mac_iterations(ITERATIONS);
        writer.write().map_err(|_| Error::Der)
    }
}
