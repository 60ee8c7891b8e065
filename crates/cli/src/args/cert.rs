//! The command line of `gambeson cert`.

use super::{Algorithm, KeyForm, PassphraseSource};
use crate::files::is_stream;
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use gambeson_identity::Timestamp;
use gambeson_pki as pki;
use std::path::PathBuf;

/// `gambeson cert …`
#[derive(Debug, Subcommand)]
pub enum CertCommand {
    /// Make keys and certificates: one that signs itself, or a whole chain below a root
    New(CertNew),
    /// Request a certificate for a key (PKCS#10)
    Csr(CertCsr),
    /// Sign a request, or a public key, as an authority
    Sign(CertSign),
    /// Show a certificate, a request or a revocation list
    Show(CertShow),
    /// Verify a certificate and the chain that leads to a root
    Verify(CertVerify),
    /// Make a list of revoked certificates
    Crl(CertCrl),
    /// Put a key and its chain into one file under a passphrase (PKCS#12), for programs that need this form
    Pkcs12(CertPkcs12),
}

impl CertCommand {
    /// Whether standard output carries data.
    pub(crate) fn fills_stdout(&self) -> bool {
        match self {
            Self::Csr(options) => is_stream(&options.output.out),
            Self::Sign(options) => is_stream(&options.output.out),
            Self::Crl(options) => is_stream(&options.output.out),
            Self::Pkcs12(options) => is_stream(&options.out),
            Self::New(_) | Self::Show(_) | Self::Verify(_) => false,
        }
    }
}

/// What a certificate is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Purpose {
    /// A server of TLS
    Server,
    /// A client of TLS
    Client,
    /// Signatures on programs
    CodeSigning,
    /// Mail
    Email,
    /// Time stamps
    TimeStamping,
    /// Answers about revocation
    OcspSigning,
}

/// Who the subject is.
#[derive(Debug, Args)]
pub struct Subject {
    /// The distinguished name, such as "CN=Example,O=Company" [default: CN and the first --name]
    #[arg(long, value_name = "NAME")]
    pub subject: Option<pki::Name>,
    /// A DNS name, an IP address or a URI (may be given again)
    #[arg(long = "name", value_name = "NAME")]
    pub names: Vec<pki::AltName>,
    /// Purpose of the certificate (may be given again). `cert sign` refuses purposes of a request beyond server and client unless they are named
    /// here, and gives server and client to a request without purposes
    #[arg(long = "purpose", value_enum)]
    pub purposes: Vec<Purpose>,
}

/// Where what is signed goes.
#[derive(Debug, Args)]
pub struct Output {
    /// The file to write
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
    /// Where the passphrase of the key that signs comes from
    #[command(flatten)]
    pub passphrase: PassphraseSource,
}

/// `gambeson cert new`
#[derive(Debug, Args)]
pub struct CertNew {
    /// The algorithm of all keys; composites such as mldsa87-ed448 need --preset fully-hybrid of `tls get`, or drafts in other programs; SLH-DSA needs --slh-dsa of `tls serve` and `tls get`
    #[arg(long, value_enum, ignore_case = true, default_value = "ml-dsa-65")]
    pub alg: Algorithm,
    /// The number of certificates in the chain: 1 signs itself, 2 is a root and a server, 3 has an authority between
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=3))]
    pub levels: u8,
    /// The folder for root.pem, authority.pem, server.pem (with the chain that a server sends) and their keys
    #[arg(short, long, value_name = "DIR")]
    pub out: PathBuf,
    /// Who the server is [default: localhost, 127.0.0.1 and ::1, for server and client]
    #[command(flatten)]
    pub subject: Subject,
    /// Days for which the server's certificate is valid
    #[arg(long, value_name = "N", default_value_t = 90, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    pub days: u32,
    /// Protect the keys of the authorities with a passphrase; that of the server stays without one, for servers to read
    #[arg(long)]
    pub encrypt: bool,
    /// Read the passphrase from this file descriptor (else from GAMBESON_PASSPHRASE, else it is asked for)
    #[arg(long, value_name = "N", requires = "encrypt")]
    pub passphrase_fd: Option<u32>,
    /// Replace files that exist
    #[arg(long)]
    pub force: bool,
}

/// `gambeson cert csr`
#[derive(Debug, Args)]
pub struct CertCsr {
    /// The private key
    #[arg(short, long, value_name = "KEY")]
    pub key: PathBuf,
    /// Who asks
    #[command(flatten)]
    pub subject: Subject,
    /// Where the request goes, and what opens the key
    #[command(flatten)]
    pub output: Output,
}

/// `gambeson cert sign`
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").required(true).args(["request", "public"])))]
pub struct CertSign {
    /// The request
    #[arg(value_name = "REQUEST")]
    pub request: Option<PathBuf>,
    /// A public key instead of a request, such as one of ML-KEM, which cannot sign requests
    #[arg(long, value_name = "KEY", requires = "subject")]
    pub public: Option<PathBuf>,
    /// The certificate of the authority that signs
    #[arg(long, value_name = "CERT")]
    pub issuer: PathBuf,
    /// Its private key
    #[arg(short, long, value_name = "KEY")]
    pub key: PathBuf,
    /// Instead of what the request says
    #[command(flatten)]
    pub subject: Subject,
    /// Make the subject an authority, whatever the request says
    #[arg(long)]
    pub authority: bool,
    /// The number of authorities that may stand below this one [default: as many as the request asks for, else any number]
    #[arg(long, value_name = "N", requires = "authority")]
    pub path_length: Option<u8>,
    /// Days for which it is valid
    #[arg(long, value_name = "N", default_value_t = 90, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    pub days: u32,
    /// Where the certificate goes, and what opens the key
    #[command(flatten)]
    pub output: Output,
}

/// `gambeson cert show`
#[derive(Debug, Args)]
pub struct CertShow {
    /// Certificates, a request or a revocation list
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// `gambeson cert verify`
#[derive(Debug, Args)]
pub struct CertVerify {
    /// The certificate; others that follow in the file may be part of its chain
    #[arg(value_name = "CERT")]
    pub file: PathBuf,
    /// The roots that are trusted
    #[arg(long, value_name = "FILE")]
    pub roots: PathBuf,
    /// Certificates of intermediate authorities (may be given again)
    #[arg(long = "others", value_name = "FILE")]
    pub others: Vec<PathBuf>,
    /// The name that is expected
    #[arg(long, value_name = "NAME")]
    pub name: Option<pki::AltName>,
    /// The purpose that is expected
    #[arg(long, value_enum)]
    pub purpose: Option<Purpose>,
    /// A revocation list (may be given again)
    #[arg(long = "crl", value_name = "FILE")]
    pub lists: Vec<PathBuf>,
    /// Refuse a certificate whose issuer has no revocation list
    #[arg(long)]
    pub require_crl: bool,
    /// Judge as of another time, in RFC 3339 [default: now]
    #[arg(long, value_name = "TIME")]
    pub at: Option<Timestamp>,
}

/// `gambeson cert crl`
#[derive(Debug, Args)]
pub struct CertCrl {
    /// The certificate of the authority
    #[arg(long, value_name = "CERT")]
    pub issuer: PathBuf,
    /// Its private key
    #[arg(short, long, value_name = "KEY")]
    pub key: PathBuf,
    /// A certificate of that authority to revoke (may be given again)
    #[arg(long = "revoke", value_name = "CERT")]
    pub certificates: Vec<PathBuf>,
    /// The reason of the revocation
    #[arg(long, value_enum, requires = "certificates")]
    pub reason: Option<Reason>,
    /// The list before this one: what it revokes stays revoked, and the number goes on
    #[arg(long, value_name = "FILE")]
    pub previous: Option<PathBuf>,
    /// Days until the next list
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=3650))]
    pub days: u32,
    /// Where the list goes, and what opens the key
    #[command(flatten)]
    pub output: Output,
}

/// `gambeson cert pkcs12`
#[derive(Debug, Args)]
pub struct CertPkcs12 {
    /// The certificate; others that follow in the file go along
    #[arg(value_name = "CERT")]
    pub file: PathBuf,
    /// Its private key
    #[arg(short, long, value_name = "KEY")]
    pub key: PathBuf,
    /// More certificates of the chain (may be given again)
    #[arg(long = "others", value_name = "FILE")]
    pub others: Vec<PathBuf>,
    /// The name of the entry in the file [default: the certificate's subject]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The form of the private key [default: the seed; the expanded key where the seed is not known]
    #[arg(long, value_enum)]
    pub form: Option<KeyForm>,
    /// The file to write; only its owner may read it
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,
    /// Read the passphrase of the new file from this file descriptor (else it is that of the key, or asked for)
    #[arg(long, value_name = "N")]
    pub new_passphrase_fd: Option<u32>,
    /// Replace a file that exists
    #[arg(long)]
    pub force: bool,
    /// Where the passphrase of the key comes from
    #[command(flatten)]
    pub passphrase: PassphraseSource,
}

/// Why a certificate is revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Reason {
    /// Its key was compromised
    KeyCompromise,
    /// The authority's key was compromised
    CaCompromise,
    /// The subject's name or other data changed
    AffiliationChanged,
    /// A newer certificate replaces it
    Superseded,
    /// It is no longer needed
    CessationOfOperation,
    /// A right of the subject was withdrawn
    PrivilegeWithdrawn,
}
