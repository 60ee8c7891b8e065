//! The command line.

mod address;
pub mod agent;
pub mod cert;
pub mod channel;
pub mod provider;
pub mod sim;
pub mod slim;
pub mod tls;

use crate::files::is_stream;
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use gambeson::cpu::Level;
use std::path::PathBuf;

/// Post-quantum keys, signatures and sealed files.
///
/// ML-KEM (FIPS 203), ML-DSA (FIPS 204), SLH-DSA (FIPS 205), X-Wing and age files. A FILE of `-` is standard input or output.
///
/// Exit status: 0 done; 1 a signature, a sealed file, a passphrase or a test did not hold, or something was not permitted; 2 wrong usage; 3 a
/// file or a connection failed, or holds something else than it should.
#[derive(Debug, Parser)]
#[command(name = "gambeson", version, max_term_width = 110)]
pub struct Cli {
    /// Print reports as JSON Lines: one object a line, each with a `type`
    #[arg(long, global = true)]
    pub json: bool,

    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Be an agent: one seed, a DID, and what it signs, seals and delegates
    Agent(Box<agent::Agent>),
    /// Talk with other agents in channels, end-to-end encrypted by post-quantum MLS, over nodes of SLIM
    Channel(Box<channel::Channel>),
    /// Start nodes of SLIM and the delivery service of channels, or check whether they can be reached
    #[command(subcommand)]
    Slim(slim::SlimCommand),
    /// Simulate a channel of thousands in virtual time: what members compute, send and wait for
    #[cfg_attr(not(feature = "sim"), command(hide = true))]
    Sim(sim::Sim),
    /// Make, show and convert keys
    #[command(subcommand)]
    Key(KeyCommand),
    /// Make, show and verify certificates, requests and revocation lists
    #[command(subcommand)]
    Cert(cert::CertCommand),
    /// Serve, fetch and scan over TLS with hybrid groups and post-quantum certificates
    #[command(subcommand)]
    Tls(tls::TlsCommand),
    /// Give OpenSSL programs on this machine post-quantum algorithms: for one command, or until they are uninstalled
    #[command(subcommand)]
    Provider(provider::ProviderCommand),
    /// Sign files with ML-DSA (of any size) or SLH-DSA (of at most 1 GiB)
    Sign(Sign),
    /// Verify files and their signatures
    Verify(Verify),
    /// Agree on a secret with the holder of a key
    #[command(subcommand)]
    Kem(KemCommand),
    /// Seal a file to post-quantum recipients (an age v1 file)
    Seal(Seal),
    /// Open a sealed file
    Open(Open),
    /// Measure post-quantum operations, and classical ones beside them
    Bench(Bench),
    /// Test vectors: answer them, or check files of them
    #[command(subcommand)]
    Vectors(VectorsCommand),
    /// Demonstrate the program on a file: make keys, sign, seal, open, verify, and detect tampering
    Demo(Demo),
    /// Show what this machine offers, and test the program on it
    Doctor,
    /// Write a completion script to standard output
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual pages into a folder
    Man {
        /// The folder, which must exist
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Replace files that exist
        #[arg(long)]
        force: bool,
    },
}

impl Command {
    /// Whether standard output carries data, so that reports must go elsewhere.
    pub(crate) fn fills_stdout(&self) -> bool {
        match self {
            Self::Agent(options) => options.command.fills_stdout(),
            Self::Channel(options) => options.command.fills_stdout(),
            Self::Key(KeyCommand::Gen(options)) => {
                is_stream(&options.out) || options.public.as_deref().is_some_and(is_stream)
            }
            Self::Key(KeyCommand::Public(options)) => is_stream(&options.out),
            Self::Key(KeyCommand::Convert(options)) => is_stream(&options.out),
            Self::Cert(command) => command.fills_stdout(),
            Self::Tls(command) => command.fills_stdout(),
            Self::Provider(command) => matches!(command, provider::ProviderCommand::Run(_)),
            Self::Sign(options) => options.out.as_deref().is_some_and(is_stream),
            Self::Kem(KemCommand::Encaps(options)) => {
                is_stream(&options.ciphertext) || is_stream(&options.secret)
            }
            Self::Kem(KemCommand::Decaps(options)) => is_stream(&options.secret),
            Self::Seal(options) => is_stream(&options.out),
            Self::Open(options) => is_stream(&options.out),
            Self::Vectors(VectorsCommand::Serve) | Self::Completions { .. } => true,
            Self::Key(KeyCommand::Show(_) | KeyCommand::Passwd(_))
            | Self::Slim(_)
            | Self::Sim(_)
            | Self::Verify(_)
            | Self::Bench(_)
            | Self::Vectors(VectorsCommand::Check { .. })
            | Self::Demo(_)
            | Self::Doctor
            | Self::Man { .. } => false,
        }
    }
}

/// The algorithms that a key can be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Algorithm {
    /// Key encapsulation, category 1
    #[value(name = "ml-kem-512")]
    MlKem512,
    /// Key encapsulation, category 3
    #[value(name = "ml-kem-768")]
    MlKem768,
    /// Key encapsulation, category 5
    #[value(name = "ml-kem-1024")]
    MlKem1024,
    /// Signatures, category 2
    #[value(name = "ml-dsa-44")]
    MlDsa44,
    /// Signatures, category 3
    #[value(name = "ml-dsa-65")]
    MlDsa65,
    /// Signatures, category 5
    #[value(name = "ml-dsa-87")]
    MlDsa87,
    /// Hash-based signatures with SHA-2, category 1: small signatures
    #[value(name = "slh-dsa-sha2-128s")]
    SlhDsaSha2_128s,
    /// Hash-based signatures with SHA-2, category 1: fast to sign
    #[value(name = "slh-dsa-sha2-128f")]
    SlhDsaSha2_128f,
    /// Hash-based signatures with SHA-2, category 3: small signatures
    #[value(name = "slh-dsa-sha2-192s")]
    SlhDsaSha2_192s,
    /// Hash-based signatures with SHA-2, category 3: fast to sign
    #[value(name = "slh-dsa-sha2-192f")]
    SlhDsaSha2_192f,
    /// Hash-based signatures with SHA-2, category 5: small signatures
    #[value(name = "slh-dsa-sha2-256s")]
    SlhDsaSha2_256s,
    /// Hash-based signatures with SHA-2, category 5: fast to sign
    #[value(name = "slh-dsa-sha2-256f")]
    SlhDsaSha2_256f,
    /// Hash-based signatures with SHAKE, category 1: small signatures
    #[value(name = "slh-dsa-shake-128s")]
    SlhDsaShake128s,
    /// Hash-based signatures with SHAKE, category 1: fast to sign
    #[value(name = "slh-dsa-shake-128f")]
    SlhDsaShake128f,
    /// Hash-based signatures with SHAKE, category 3: small signatures
    #[value(name = "slh-dsa-shake-192s")]
    SlhDsaShake192s,
    /// Hash-based signatures with SHAKE, category 3: fast to sign
    #[value(name = "slh-dsa-shake-192f")]
    SlhDsaShake192f,
    /// Hash-based signatures with SHAKE, category 5: small signatures
    #[value(name = "slh-dsa-shake-256s")]
    SlhDsaShake256s,
    /// Hash-based signatures with SHAKE, category 5: fast to sign
    #[value(name = "slh-dsa-shake-256f")]
    SlhDsaShake256f,
    /// Hash-based signatures with a state; the program only verifies them
    #[value(name = "hss", alias = "lms", hide = true)]
    Hss,
    /// Hash-based signatures with a state; the program only verifies them
    #[value(name = "xmss", hide = true)]
    Xmss,
    /// Hash-based signatures with a state; the program only verifies them
    #[value(name = "xmssmt", hide = true)]
    XmssMt,
    /// ML-KEM-768 and X25519 together: an age identity, for seal and open
    #[value(name = "x-wing")]
    XWing,
    /// Signatures of ML-DSA-87 and Ed448 together, for certificates
    #[value(name = "mldsa87-ed448", alias = "mldsa87-ed448-shake256")]
    MlDsa87Ed448,
    /// Signatures of ML-DSA-87 and ECDSA on P-384 together
    #[value(name = "mldsa87-ecdsa-p384", alias = "mldsa87-ecdsa-p384-sha512")]
    MlDsa87EcdsaP384,
    /// Signatures of ML-DSA-65 and Ed25519 together
    #[value(name = "mldsa65-ed25519", alias = "mldsa65-ed25519-sha512")]
    MlDsa65Ed25519,
    /// Signatures of ML-DSA-65 and ECDSA on P-384 together
    #[value(name = "mldsa65-ecdsa-p384", alias = "mldsa65-ecdsa-p384-sha512")]
    MlDsa65EcdsaP384,
    /// Signatures of ML-DSA-65 and ECDSA on P-256 together
    #[value(name = "mldsa65-ecdsa-p256", alias = "mldsa65-ecdsa-p256-sha512")]
    MlDsa65EcdsaP256,
    /// Signatures of ML-DSA-44 and Ed25519 together
    #[value(name = "mldsa44-ed25519", alias = "mldsa44-ed25519-sha512")]
    MlDsa44Ed25519,
    /// Signatures of ML-DSA-44 and ECDSA on P-256 together
    #[value(name = "mldsa44-ecdsa-p256", alias = "mldsa44-ecdsa-p256-sha256")]
    MlDsa44EcdsaP256,
    /// Key encapsulation by ML-KEM-1024 and X448 together, for certificates
    #[value(name = "mlkem1024-x448", alias = "mlkem1024-x448-sha3-256")]
    MlKem1024X448,
    /// Key encapsulation by ML-KEM-1024 and ECDH on P-384 together
    #[value(name = "mlkem1024-ecdh-p384", alias = "mlkem1024-ecdh-p384-sha3-256")]
    MlKem1024EcdhP384,
    /// Key encapsulation by ML-KEM-768 and ECDH on P-384 together
    #[value(name = "mlkem768-ecdh-p384", alias = "mlkem768-ecdh-p384-sha3-256")]
    MlKem768EcdhP384,
    /// Key encapsulation by ML-KEM-768 and ECDH on P-256 together
    #[value(name = "mlkem768-ecdh-p256", alias = "mlkem768-ecdh-p256-sha3-256")]
    MlKem768EcdhP256,
    /// Key encapsulation by ML-KEM-768 and X25519 together, for certificates
    #[value(name = "mlkem768-x25519", alias = "mlkem768-x25519-sha3-256")]
    MlKem768X25519,
    /// Classical signatures
    #[value(name = "ed25519")]
    Ed25519,
    /// Classical signatures
    #[value(name = "ed448")]
    Ed448,
    /// Classical signatures
    #[value(name = "ecdsa-p256")]
    EcdsaP256,
    /// Classical signatures
    #[value(name = "ecdsa-p384")]
    EcdsaP384,
}

/// How a key file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text between BEGIN and END lines
    Pem,
    /// Bytes
    Der,
}

/// What of a private key stands in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KeyForm {
    /// The seed, from which all else is made
    Seed,
    /// The expanded key, for readers that support nothing else
    Expanded,
    /// Both
    Both,
}

/// `gambeson key …`
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Make a key
    Gen(KeyGen),
    /// Write the public key of a private one
    Public(KeyPublic),
    /// Show what a key file holds
    Show(KeyShow),
    /// Write a key in another form, or protect it with another passphrase
    Convert(KeyConvert),
    /// Change the passphrase of a private key, or give it one
    Passwd(KeyPasswd),
}

/// Where the passphrase of a key comes from.
#[derive(Clone, Debug, Args)]
pub struct PassphraseSource {
    /// Read the passphrase from this file descriptor (else from GAMBESON_PASSPHRASE, else it is asked for)
    #[arg(long, value_name = "N")]
    pub passphrase_fd: Option<u32>,
}

/// `gambeson key gen`
#[derive(Debug, Args)]
pub struct KeyGen {
    /// The algorithm
    #[arg(long, value_enum, ignore_case = true)]
    pub alg: Algorithm,
    /// The file for the private key; only its owner may read it
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,
    /// A file for the public key
    #[arg(short, long, value_name = "FILE")]
    pub public: Option<PathBuf>,
    /// How both files are written [default: pem]
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Protect the private key with a passphrase
    #[arg(long)]
    pub encrypt: bool,
    /// Read the passphrase from this file descriptor (else from GAMBESON_PASSPHRASE, else it is asked for)
    #[arg(long, value_name = "N", requires = "encrypt")]
    pub passphrase_fd: Option<u32>,
    /// Replace files that exist
    #[arg(long)]
    pub force: bool,
}

/// `gambeson key public`
#[derive(Debug, Args)]
pub struct KeyPublic {
    /// The key
    #[arg(value_name = "KEY")]
    pub key: PathBuf,
    /// The file for the public key
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// How the public key is written [default: pem]
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
    /// Where the passphrase comes from
    #[command(flatten)]
    pub passphrase: PassphraseSource,
}

/// `gambeson key show`
#[derive(Debug, Args)]
pub struct KeyShow {
    /// The key
    #[arg(value_name = "KEY")]
    pub key: PathBuf,
    /// Where the passphrase comes from
    #[command(flatten)]
    pub passphrase: PassphraseSource,
}

/// `gambeson key convert`
#[derive(Debug, Args)]
pub struct KeyConvert {
    /// The key
    #[arg(value_name = "KEY")]
    pub key: PathBuf,
    /// The file for the converted key
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,
    /// How the converted key is written [default: pem]
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// The form of the private key [default: the seed; the expanded key where the seed is not known]
    #[arg(long, value_enum)]
    pub form: Option<KeyForm>,
    /// Protect the converted key with a passphrase
    #[arg(long)]
    pub encrypt: bool,
    /// Write the converted key without a passphrase although the old one has one
    #[arg(long, conflicts_with = "encrypt")]
    pub decrypt: bool,
    /// Read the new passphrase from this file descriptor (else it is that of the old key, or asked for)
    #[arg(long, value_name = "N", requires = "encrypt")]
    pub new_passphrase_fd: Option<u32>,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
    /// Where the passphrase of the old key comes from
    #[command(flatten)]
    pub passphrase: PassphraseSource,
}

/// `gambeson key passwd`
#[derive(Debug, Args)]
pub struct KeyPasswd {
    /// The private key, which is written again in its place
    #[arg(value_name = "KEY")]
    pub key: PathBuf,
    /// Where the passphrase of today comes from
    #[command(flatten)]
    pub passphrase: PassphraseSource,
    /// Where the new passphrase comes from
    #[command(flatten)]
    pub new: NewPassphraseSource,
}

/// Where the passphrase in place of another comes from.
#[derive(Clone, Debug, Args)]
pub struct NewPassphraseSource {
    /// Read the new passphrase from this file descriptor (else from GAMBESON_NEW_PASSPHRASE, else it is asked for)
    #[arg(long, value_name = "N")]
    pub new_passphrase_fd: Option<u32>,
}

/// The context of a signature: whoever verifies must name the same.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct Context {
    /// A text of at most 255 bytes that the signature is bound to
    #[arg(long, value_name = "TEXT")]
    pub context: Option<String>,
    /// The same in hexadecimal
    #[arg(long, value_name = "HEX")]
    pub context_hex: Option<String>,
}

/// `gambeson sign`
#[derive(Debug, Args)]
pub struct Sign {
    /// The private key: ML-DSA or SLH-DSA
    #[arg(short, long, value_name = "KEY")]
    pub key: PathBuf,
    /// The file to sign; each of several has its own signature
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The file for the signature of one file [default: FILE.sig]
    #[arg(short, long, value_name = "SIGNATURE")]
    pub out: Option<PathBuf>,
    /// What the signature is bound to
    #[command(flatten)]
    pub context: Context,
    /// Sign without randomness: the same key and file give the same signature
    #[arg(long)]
    pub deterministic: bool,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
    /// Where the passphrase comes from
    #[command(flatten)]
    pub passphrase: PassphraseSource,
}

/// `gambeson verify`
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("signer").args(["key", "cert"]).required(true)))]
pub struct Verify {
    /// The public key of the signer: ML-DSA, SLH-DSA, HSS (LMS), XMSS or XMSSMT
    #[arg(short, long, value_name = "KEY")]
    pub key: Option<PathBuf>,
    /// The certificate of the signer, in place of the key; certificates between it and the root may follow in the file
    #[arg(long, value_name = "CERT", requires = "roots")]
    pub cert: Option<PathBuf>,
    /// The roots that the certificate must lead to
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub roots: Option<PathBuf>,
    /// The signed file. Of two names one may be the signature, if it ends with .sig
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The signature of one file [default: FILE.sig]
    #[arg(short, long, value_name = "SIGNATURE")]
    pub signature: Option<PathBuf>,
    /// What the signature must be bound to
    #[command(flatten)]
    pub context: Context,
    /// Where the passphrase comes from, if KEY is a private one
    #[command(flatten)]
    pub passphrase: PassphraseSource,
}

/// `gambeson kem …`
#[derive(Debug, Subcommand)]
pub enum KemCommand {
    /// Make a secret and its ciphertext for the holder of a public key
    Encaps(Encaps),
    /// Recover the secret from the ciphertext
    Decaps(Decaps),
}

/// `gambeson kem encaps`
#[derive(Debug, Args)]
pub struct Encaps {
    /// The public key: ML-KEM or X-Wing
    #[arg(short, long, value_name = "KEY")]
    pub key: PathBuf,
    /// The file for the ciphertext
    #[arg(short, long, value_name = "FILE")]
    pub ciphertext: PathBuf,
    /// The file for the secret, 32 bytes; only its owner may read it
    #[arg(short, long, value_name = "FILE")]
    pub secret: PathBuf,
    /// Replace files that exist
    #[arg(long)]
    pub force: bool,
    /// Where the passphrase comes from, if KEY is a private one
    #[command(flatten)]
    pub passphrase: PassphraseSource,
}

/// `gambeson kem decaps`
#[derive(Debug, Args)]
pub struct Decaps {
    /// The private key: ML-KEM or X-Wing
    #[arg(short, long, value_name = "KEY")]
    pub key: PathBuf,
    /// The ciphertext
    #[arg(short, long, value_name = "FILE")]
    pub ciphertext: PathBuf,
    /// The file for the secret, 32 bytes; only its owner may read it
    #[arg(short, long, value_name = "FILE")]
    pub secret: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
    /// Where the passphrase comes from
    #[command(flatten)]
    pub passphrase: PassphraseSource,
}

/// `gambeson seal`
#[derive(Debug, Args)]
pub struct Seal {
    /// A recipient: a text that begins with age1pq1 (may be given again)
    #[arg(short, long = "recipient", value_name = "RECIPIENT")]
    pub recipients: Vec<String>,
    /// A file of recipients, one a line (may be given again)
    #[arg(short = 'R', long = "recipients-file", value_name = "RECIPIENTS")]
    pub files: Vec<PathBuf>,
    /// Seal under a passphrase in place of recipients
    #[arg(short = 'p', long = "passphrase", conflicts_with_all = ["recipients", "files"])]
    pub under_passphrase: bool,
    /// Write text that survives e-mail
    #[arg(short, long)]
    pub armor: bool,
    /// The file to seal
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: PathBuf,
    /// The sealed file
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
    /// Where the passphrase comes from
    #[command(flatten)]
    pub passphrase: PassphraseSource,
}

/// `gambeson open`
#[derive(Debug, Args)]
pub struct Open {
    /// A file of identities, one a line, which may be sealed under a passphrase (may be given again); identities of other kinds are passed over
    /// [default: none, for a file that is sealed under a passphrase]
    #[arg(short, long = "identity", value_name = "IDENTITY")]
    pub identities: Vec<PathBuf>,
    /// The sealed file
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: PathBuf,
    /// The file for the content, which gets this name once all of it is verified; only its owner may read it
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
    /// Where the passphrase of the sealed file, or of an identity file, comes from
    #[command(flatten)]
    pub passphrase: PassphraseSource,
}

/// A table of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BenchSubject {
    /// The rows of the published agent benchmark, under the names that they have there
    Agent,
    /// Signed HTTP messages: one that is verified, and such as are refused
    Http,
    /// What groups cost (MLS), on the suite of most channels and on a classical one beside it
    Mls,
    /// What `cargo xtask instructions` counts of groups
    #[value(hide = true)]
    MlsCounted,
}

/// `gambeson bench`
#[derive(Debug, Args)]
pub struct Bench {
    /// Another table than that of all our operations
    #[arg(value_enum)]
    pub subject: Option<BenchSubject>,
    /// Fail if a promise is missed; of `agent`: that one key derivation takes at most twice a bare BLAKE3 hash of 64 bytes; of `http`: that a
    /// refused message takes at most 1 ms
    #[arg(long, requires = "subject")]
    pub check: bool,
    /// Members of the groups of `mls`
    #[arg(long, value_name = "N", default_value = "1000", requires = "subject", value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub members: u32,
    /// Measure each operation for this many seconds
    #[arg(long, value_name = "N", default_value = "0.5", value_parser = seconds)]
    pub seconds: f64,
    /// Measure only operations with this in their name, such as "ML-KEM-768" or "x25519 agree"
    #[arg(long, value_name = "TEXT")]
    pub op: Option<String>,
    /// Let no kernels above this level run: portable, neon, avx2 or avx512
    #[arg(long, value_name = "LEVEL")]
    pub limit: Option<Level>,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.001..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("expected a number from 0.001 to 3600".to_owned()),
    }
}

/// `gambeson vectors …`
#[derive(Debug, Subcommand)]
pub enum VectorsCommand {
    /// Answer requests on standard input, one JSON object a line
    Serve,
    /// Run every file of test vectors below a folder, and name those that cannot be run
    ///
    /// Forms are told from content, packed with gzip or not: requests of `vectors serve` with `expect`, one a line; files of the identity
    /// layer; arrays of MLS and HPKE; JSON of Wycheproof and C2SP. A file of vectors that is not run makes the run fail.
    Check {
        /// The folder
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Let no kernels above this level run: portable, neon, avx2 or avx512
        #[arg(long, value_name = "LEVEL")]
        limit: Option<Level>,
        /// Leave out the files of this folder below DIR; may be repeated
        #[arg(long, value_name = "FOLDER")]
        skip: Vec<PathBuf>,
    },
}

/// `gambeson demo`
#[derive(Debug, Args)]
pub struct Demo {
    /// The file to use [default: this program]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// Every command with an output file has `--force`, and no other command has it.
    #[test]
    fn every_command_with_an_output_has_force() {
        fn look(command: &clap::Command, seen: &mut Vec<String>) {
            let has = |id: &str| command.get_arguments().any(|argument| argument.get_long() == Some(id));
            if has("out") || has("receive") || has("secret") && has("ciphertext") {
                assert!(has("force"), "{} has no --force", command.get_name());
                seen.push(command.get_name().to_owned());
            }
            command.get_subcommands().for_each(|below| look(below, seen));
        }
        let (mut command, mut seen) = (Cli::command(), Vec::new());
        command.build();
        look(&command, &mut seen);
        for name in ["seal", "open", "sign", "get", "gen", "convert", "encaps", "decaps", "export"] {
            assert!(seen.iter().any(|it| it == name), "{name}: {seen:?}");
        }
    }
}
