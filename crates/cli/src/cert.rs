//! The commands `cert …`: certificates, requests, revocation lists and chains.

use crate::args::cert::{
    CertCommand, CertCrl, CertCsr, CertNew, CertPkcs12, CertShow, CertSign, CertVerify, Purpose, Reason,
    Subject,
};
use crate::console::{self, Console, counted, one_word};
use crate::error::{Error, Status};
use crate::files::{self, Access};
use crate::harness::hex;
use crate::keyfile::{KeyFile, PrivateKey, PublicKey, pki_error};
use crate::keys::{form_of, pki_algorithm};
use crate::passphrase;
use clap::ValueEnum;
use gambeson_identity::Timestamp;
use gambeson_pki::{self as pki, AltName, Certificate, Name, Request, RevocationList, Revoked, Template};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Display;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use zeroize::Zeroizing;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) fn cert(console: Console, command: &CertCommand) -> Result<Status, Error> {
    match command {
        CertCommand::New(options) => new(console, options),
        CertCommand::Csr(options) => csr(console, options),
        CertCommand::Sign(options) => sign(console, options),
        CertCommand::Show(options) => show(console, options),
        CertCommand::Verify(options) => verify(console, options),
        CertCommand::Crl(options) => crl(console, options),
        CertCommand::Pkcs12(options) => pkcs12(console, options),
    }
}

/// A key and what stands in its certificate's file.
struct Made {
    file: &'static str,
    key: pki::PrivateKey,
    certificate: Certificate,
}

fn new(console: Console, options: &CertNew) -> Result<Status, Error> {
    let algorithm = pki_algorithm(options.alg)?.filter(|algorithm| algorithm.signs());
    let algorithm = algorithm.ok_or_else(|| {
        Error::usage("--alg: this algorithm does not sign, and the keys of certificates here must sign")
    })?;
    let mut server = options.subject.template(None)?;
    if options.subject.names.is_empty() {
        let here = ["localhost", "127.0.0.1", "::1"];
        let here = here.map(|name| name.parse().expect("a name of this machine"));
        server = here.into_iter().fold(server, Template::alt_name);
    }
    if options.subject.purposes.is_empty() {
        server = server.purpose(pki::Purpose::ServerAuth).purpose(pki::Purpose::ClientAuth);
    }
    let (now, until) = days(options.days);
    let server = server.valid(now, until);

    let mut made: Vec<Made> = Vec::new();
    let names = [("root", "Root"), ("authority", "Authority")];
    for (at, (file, name)) in names.into_iter().take(usize::from(options.levels) - 1).enumerate() {
        let below = options.levels - 2 - at as u8;
        // Each key is made for this chain: the name need not be unique beyond it, the identifiers of the keys are.
        let name: Name = format!("CN=gambeson {name}").parse().expect("a name");
        make(&mut made, file, &Template::authority(name).path_length(below), algorithm)?;
    }
    make(&mut made, "server", &server, algorithm)?;

    std::fs::create_dir_all(&options.out).map_err(|e| Error::io(&options.out, &e))?;
    let path = |file: &str, kind: &str| options.out.join(format!("{file}.{kind}"));
    for item in &made {
        for kind in ["key", "pem"] {
            files::refuse_existing(&path(item.file, kind), options.force)?;
        }
    }
    let passphrase = match options.encrypt {
        true => Some(passphrase::new(options.passphrase_fd, "the keys of the authorities")?),
        false => None,
    };
    let mut written = Vec::new();
    let mut authorities = Vec::new();
    for item in &made {
        let is_authority = item.file != "server";
        let passphrase = passphrase.as_ref().filter(|_| is_authority);
        let key = match passphrase {
            None => item.key.to_pkcs8_pem(pki::Form::Seed),
            Some(passphrase) => item
                .key
                .to_encrypted_pkcs8_pem(pki::Form::Seed, passphrase.as_bytes(), pki::Encryption::default())
                .map(Zeroizing::new),
        };
        let key = key.map_err(|e| pki_error(item.file, e))?;
        files::write(&path(item.file, "key"), key.as_bytes(), Access::Private, options.force)?;
        if is_authority {
            authorities.push(format!("{}.key", item.file));
        }
        let mut pem = item.certificate.to_pem();
        if item.file == "server" && made.len() > 2 {
            pem.push_str(&made[1].certificate.to_pem());
        }
        files::write(&path(item.file, "pem"), pem.as_bytes(), Access::Shared, options.force)?;
        written.push(path(item.file, "pem").display().to_string());
    }
    let trusted = path(made[0].file, "pem").display().to_string();
    let mut lines = vec![format!(
        "made {} in {}: a server has server.pem and server.key, others trust {trusted}",
        counted(made.len(), &format!("{algorithm} certificate")),
        options.out.display()
    )];
    if !authorities.is_empty() && !options.encrypt {
        lines.push(format!(
            "{} {} no passphrase: any reader of {} can make certificates; --encrypt sets one",
            authorities.join(" and "),
            if authorities.len() == 1 { "has" } else { "have" },
            if authorities.len() == 1 { "it" } else { "them" },
        ));
    }
    if options.encrypt {
        let last = made.last().map_or("server", |item| item.file);
        lines.push(format!("{last}.key has no passphrase, so that servers can read it"));
    }
    let encrypted = if options.encrypt { authorities } else { Vec::new() };
    console.report_lines(
        lines,
        json!({
            "type": "certificates",
            "alg": algorithm.name(),
            "levels": made.len(),
            "certificates": written,
            "roots": trusted,
            "encryptedKeys": encrypted,
        }),
    )?;
    Ok(Status::Done)
}

/// Makes a key and its certificate, signed by the last that was made, or by itself.
fn make(
    made: &mut Vec<Made>,
    file: &'static str,
    template: &Template,
    algorithm: pki::Algorithm,
) -> Result<(), Error> {
    let key = pki::PrivateKey::generate(algorithm).map_err(|error| refused(file, error))?;
    let certificate = match made.last() {
        None => template.self_signed(&key),
        Some(issuer) => template.issue(&key.public_key(), &issuer.certificate, &issuer.key),
    };
    made.push(Made { file, key, certificate: certificate.map_err(|e| refused(file, e))? });
    Ok(())
}

fn csr(console: Console, options: &CertCsr) -> Result<Status, Error> {
    files::refuse_same(&options.key, &options.output.out)?;
    files::refuse_existing(&options.output.out, options.output.force)?;
    if options.subject.subject.is_none() && options.subject.names.is_empty() {
        return Err(Error::usage("the subject is missing: name it with --name, --subject or both"));
    }
    let template = options.subject.template(None)?;
    let (name, key) = private(&options.key, options.output.passphrase.passphrase_fd)?;
    let request = Request::new(&template, &key).map_err(|e| refused(&name, e))?;
    files::write(&options.output.out, request.to_pem().as_bytes(), Access::Shared, options.output.force)?;
    console.report(
        format_args!("requested a certificate for {}: {}", template.subject(), options.output.out.display()),
        json!({
            "type": "request",
            "subject": template.subject().to_string(),
            "alg": key.algorithm().name(),
            "out": options.output.out.display().to_string(),
        }),
    )?;
    Ok(Status::Done)
}

fn sign(console: Console, options: &CertSign) -> Result<Status, Error> {
    let inputs = [options.request.as_deref(), options.public.as_deref()].into_iter().flatten();
    crate::sealing::one_standard_input(inputs.chain([options.issuer.as_path(), &options.key]))?;
    files::refuse_existing(&options.output.out, options.output.force)?;
    let (subject_name, subject, asked) = match (&options.request, &options.public) {
        (Some(path), _) => {
            let name = path.display().to_string();
            let request = Request::read(&files::read_small(path)?).map_err(|e| pki_error(&name, e))?;
            (name, None, Some(request))
        }
        (None, Some(path)) => {
            let (name, key) = KeyFile::read(path, None)?.public();
            let PublicKey::Pki(key) = key else {
                return Err(Error::usage(format!("{name}: is an age recipient, which has no certificates")));
            };
            (name, Some(key), None)
        }
        (None, None) => return Err(Error::usage("a request or a public key is needed")),
    };
    let key = match (&subject, &asked) {
        (Some(key), _) => key,
        (None, Some(request)) => request.public_key(),
        (None, None) => return Err(Error::usage("a request or a public key is needed")),
    };
    let mut template = options.subject.template(asked.as_ref())?;
    if options.authority {
        template = options.subject.authority(template.subject().clone());
        let asked = asked.as_ref().and_then(Request::path_length);
        if let Some(below) = options.path_length.or(asked) {
            template = template.path_length(below);
        }
    }
    let (now, until) = days(options.days);
    let template = template.valid(now, until);
    let (issuer_name, issuer) = certificate(&options.issuer)?;
    let left_out = asked.as_ref().map_or_else(Vec::new, |request| left_out(request, &template));
    console.show_before_signing(&to_be_signed(&template, &issuer, options.days, &left_out));
    let (_, issuer_key) = private(&options.key, options.output.passphrase.passphrase_fd)?;
    let signed = template.issue(key, &issuer, &issuer_key).map_err(|error| match error {
        pki::Error::KeyMismatch | pki::Error::NotAnAuthority | pki::Error::PathLength => {
            refused(&issuer_name, error)
        }
        error => refused(&subject_name, error),
    })?;
    files::write(&options.output.out, signed.to_pem().as_bytes(), Access::Shared, options.output.force)?;
    let mut report = described(&signed);
    report["out"] = options.output.out.display().to_string().into();
    report["leftOut"] = left_out.clone().into();
    console.report(
        format_args!(
            "{} has signed {}: {}{}",
            issuer.subject(),
            signed.subject(),
            options.output.out.display(),
            if left_out.is_empty() { "" } else { " (without everything that was asked for)" },
        ),
        report,
    )?;
    Ok(Status::Done)
}

fn show(console: Console, options: &CertShow) -> Result<Status, Error> {
    let name = options.file.display().to_string();
    let bytes = files::read_small(&options.file)?;
    let is_another =
        |error: &pki::Error| matches!(error, pki::Error::Label { .. } | pki::Error::AnotherFile { .. });
    let shown = match Certificate::read_all(&bytes) {
        Ok(certificates) => show_certificates(console, &certificates),
        Err(first) if is_another(&first) => match (Request::read(&bytes), RevocationList::read_all(&bytes)) {
            (Ok(request), _) => show_request(console, &request),
            (_, Ok(lists)) => lists.iter().try_for_each(|list| show_list(console, list)),
            (Err(error), Err(_)) if !is_another(&error) => Err(pki_error(&name, error)),
            (Err(_), Err(error)) if !is_another(&error) => Err(pki_error(&name, error)),
            _ => {
                let is_key = matches!(&first, pki::Error::Label { found, .. } if found.ends_with(" KEY"));
                let next = if is_key { "; `gambeson key show` shows keys" } else { "" };
                Err(pki_error(&name, first).adding(next))
            }
        },
        Err(error) => {
            let expected = if error == pki::Error::Pem {
                "; expected a certificate, a request or a revocation list"
            } else {
                ""
            };
            Err(pki_error(&name, error).adding(expected))
        }
    };
    shown.map(|()| Status::Done)
}

fn show_certificates(console: Console, certificates: &[Certificate]) -> Result<(), Error> {
    for certificate in certificates {
        let mut lines = vec![
            format!("certificate {}", certificate.subject()),
            format!("  issuer       {}", certificate.issuer()),
            format!("  serial       {}", hex(certificate.serial())),
            format!(
                "  valid        {} to {}",
                moment(certificate.not_before()),
                moment(certificate.not_after())
            ),
            format!("  key          {}", key_name(certificate)),
            format!("  signature    {}", scheme_name(&certificate.signature_algorithm())),
        ];
        if certificate.is_authority() {
            lines.push(format!("  authority    CA: {}", over(certificate.path_length())));
        }
        for (title, values) in [
            ("names", words(certificate.alt_names())),
            ("other names", words(&certificate.other_names())),
            ("key usage", joined(certificate.key_usage().unwrap_or(&[]))),
            ("purposes", joined(certificate.purposes().unwrap_or(&[]))),
            ("extensions", joined(certificate.other_extensions())),
        ] {
            if !values.is_empty() {
                lines.push(format!("  {title:<12} {values}"));
            }
        }
        lines.push(format!("  SHA-256      {}", hex(&Sha256::digest(certificate.as_der()))));
        console.report_lines(lines, described(certificate))?;
    }
    Ok(())
}

/// The certificates that an authority with this path length may issue, in words.
fn over(path_length: Option<u8>) -> String {
    match path_length {
        None => "any number of authorities below it".to_owned(),
        Some(0) => "may issue end certificates only".to_owned(),
        Some(below) => format!("at most {} below it", counted(below, "authority")),
    }
}

fn show_request(console: Console, request: &Request) -> Result<(), Error> {
    let algorithm = request.public_key().algorithm();
    let mut lines = vec![
        format!("request of {}", request.subject()),
        format!("  key          {algorithm}"),
        format!("  names        {}", words(request.alt_names())),
        format!("  purposes     {}", joined(request.purposes())),
    ];
    for (title, values) in [
        ("other names", words(&request.other_names())),
        ("key usage", joined(request.key_usage().unwrap_or(&[]))),
        ("extensions", joined(request.other_extensions())),
    ] {
        if !values.is_empty() {
            lines.push(format!("  {title:<12} {values}"));
        }
    }
    if request.asks_for_authority() {
        lines.push(format!("  asks to be an authority (CA:TRUE): {}", over(request.path_length())));
    }
    console.report_lines(
        lines,
        json!({
            "type": "request",
            "subject": request.subject().to_string(),
            "alg": algorithm.name(),
            "names": strings(request.alt_names()),
            "otherNames": request.other_names(),
            "purposes": strings(request.purposes()),
            "keyUsage": strings(request.key_usage().unwrap_or(&[])),
            "extensions": strings(request.other_extensions()),
            "authority": request.asks_for_authority(),
            "pathLength": request.path_length(),
        }),
    )
}

fn show_list(console: Console, list: &RevocationList) -> Result<(), Error> {
    let mut lines = vec![
        format!("revocation list of {}", list.issuer()),
        format!("  number       {}", list.number().map_or("none".to_owned(), hex)),
        format!("  made         {}", moment(list.this_update())),
        format!("  next         {}", list.next_update().map_or("not stated".to_owned(), moment)),
    ];
    for entry in list.revoked() {
        lines.push(format!("  revoked      {} {} {}", hex(&entry.serial), moment(entry.at), entry.reason));
    }
    let entry = |entry: &Revoked| json!({"serial": hex(&entry.serial), "revokedAt": moment(entry.at), "reason": entry.reason.to_string()});
    console.report_lines(
        lines,
        json!({
            "type": "revocation-list",
            "issuer": list.issuer().to_string(),
            "number": list.number().map(hex),
            "thisUpdate": moment(list.this_update()),
            "nextUpdate": list.next_update().map(moment),
            "revoked": list.revoked().iter().map(entry).collect::<Vec<_>>(),
        }),
    )
}

fn verify(console: Console, options: &CertVerify) -> Result<Status, Error> {
    let paths = [options.file.as_path(), &options.roots];
    let more = options.others.iter().chain(&options.lists).map(AsRef::as_ref);
    crate::sealing::one_standard_input(paths.into_iter().chain(more))?;
    let roots = roots(&options.roots)?;
    let mut others = certificates(&options.file)?;
    let order = order(&options.file, &others);
    let certificate = others.remove(0);
    for path in &options.others {
        others.append(&mut certificates(path)?);
    }
    let lists = options.lists.iter().map(|path| lists(path)).collect::<Result<Vec<_>, _>>()?;
    let (sources, lists): (Vec<_>, Vec<_>) = options
        .lists
        .iter()
        .zip(lists)
        .flat_map(|(path, lists)| lists.into_iter().map(move |list| (path, list)))
        .unzip();
    let mut verifier = pki::Verifier::new(&roots).revocation(&lists);
    if options.require_crl {
        verifier = verifier.require_revocation();
    }
    if let Some(Timestamp(seconds)) = options.at {
        verifier = verifier.at(UNIX_EPOCH + Duration::from_secs(seconds));
    }
    if let Some(name) = &options.name {
        verifier = verifier.name(name.clone());
    }
    if let Some(purpose) = options.purpose {
        verifier = verifier.purpose(purpose.into());
    }
    match verifier.verify(&certificate, &others) {
        Ok(chain) => {
            // A list on the command line is believed to have been looked at.
            let applies = |list: &RevocationList| chain.iter().any(|link| link.issuer() == list.issuer());
            if let Some((path, list)) = sources.iter().zip(&lists).find(|(_, list)| !applies(list)) {
                return Err(Error::outside(format!(
                    "{}: the revocation list of {} applies to no certificate of this chain",
                    path.display(),
                    list.issuer()
                )));
            }
            let subjects: Vec<_> = chain.iter().map(|link| link.subject().to_string()).collect();
            // One subject reads as one.
            let one = |subject: &String| {
                if subject.contains(['<', '"']) { quoted(subject) } else { subject.clone() }
            };
            let line: Vec<_> = subjects.iter().map(one).collect();
            let (told, as_of, unchecked) = revocation(&chain, &lists);
            console.report_lines(
                [format!("verified: {}", line.join(" <- ")), told],
                json!({
                    "type": "verdict",
                    "verified": true,
                    "chain": subjects,
                    "revocationAsOf": as_of,
                    "revocationUnchecked": unchecked,
                }),
            )?;
            Ok(Status::Done)
        }
        Err(error) => {
            let reason = error.failure().code();
            let advice = match (order, error.failure()) {
                (Some(order), _) => format!("; {order}"),
                (None, pki::Failure::UnknownIssuer { .. }) => {
                    "; --others names certificates between it and a root".to_owned()
                }
                (None, _) => String::new(),
            };
            console.report(
                format_args!("NOT VERIFIED: {error} ({reason}){advice}"),
                json!({
                    "type": "verdict",
                    "verified": false,
                    "reason": reason,
                    "subject": error.subject().to_string(),
                    "detail": error.failure().to_string(),
                }),
            )?;
            Ok(Status::NotVerified)
        }
    }
}

/// The revocation check of a chain in words, the time of the oldest list, and the issuers without a list.
fn revocation(chain: &[&Certificate], lists: &[RevocationList]) -> (String, Option<String>, Vec<String>) {
    let listed = |issuer: &Name| lists.iter().any(|list| list.issuer() == *issuer);
    let below_root = chain.iter().take(chain.len().saturating_sub(1));
    let issuers = below_root.map(|link| link.issuer()).filter(|issuer| !listed(issuer));
    let unchecked: Vec<String> = issuers.map(|issuer| issuer.to_string()).collect();
    let words: Vec<String> = unchecked.iter().map(one_word).collect();
    let as_of = lists.iter().map(RevocationList::this_update).min().map(moment);
    let told = match (&as_of, unchecked.is_empty()) {
        (None, _) => "revocation NOT checked: --crl names lists".to_owned(),
        (Some(time), true) => format!("not revoked as of the list of {time}"),
        (Some(time), false) => {
            format!(
                "not revoked as of the list of {time}; NOT checked for what {} issued",
                words.join(" and ")
            )
        }
    };
    (told, as_of, unchecked)
}

fn crl(console: Console, options: &CertCrl) -> Result<Status, Error> {
    files::refuse_existing(&options.output.out, options.output.force)?;
    let (issuer_name, issuer) = certificate(&options.issuer)?;
    let (number, mut revoked) = match &options.previous {
        None => (1, Vec::new()),
        Some(path) => following(path, &issuer)?,
    };
    let (now, next) = days(options.days);
    for path in &options.certificates {
        let (name, certificate) = certificate(path)?;
        if certificate.issuer() != issuer.subject() {
            return Err(Error::usage(format!("{name}: was not issued by {}", issuer.subject())));
        }
        if !revoked.iter().any(|entry| entry.serial == certificate.serial()) {
            let reason = options.reason.map_or(pki::Reason::Unspecified, Into::into);
            revoked.push(Revoked { serial: certificate.serial().to_vec(), at: now, reason });
        }
    }
    let (_, key) = private(&options.key, options.output.passphrase.passphrase_fd)?;
    let list = RevocationList::new(&issuer, &key, number, (now, next), &revoked);
    let list = list.map_err(|e| refused(&issuer_name, e))?;
    files::write(&options.output.out, list.to_pem().as_bytes(), Access::Shared, options.output.force)?;
    console.report(
        format_args!(
            "list {number} of {}, {} revoked: {}",
            issuer.subject(),
            revoked.len(),
            options.output.out.display()
        ),
        json!({
            "type": "revocation-list",
            "issuer": issuer.subject().to_string(),
            "number": list.number().map(hex),
            "revokedEntries": revoked.len(),
            "out": options.output.out.display().to_string(),
        }),
    )?;
    Ok(Status::Done)
}

fn pkcs12(console: Console, options: &CertPkcs12) -> Result<Status, Error> {
    let inputs = [options.file.as_path(), &options.key];
    crate::sealing::one_standard_input(inputs.into_iter().chain(options.others.iter().map(AsRef::as_ref)))?;
    files::refuse_existing(&options.out, options.force)?;
    let mut chain = certificates(&options.file)?;
    for path in &options.others {
        chain.append(&mut certificates(path)?);
    }
    let fd = options.passphrase.passphrase_fd;
    let mut file = KeyFile::read(&options.key, fd)?;
    let old = file.passphrase.take();
    let key = certified(file)?.1;
    let target = options.out.display().to_string();
    let passphrase = passphrase::of_copy(old.as_ref(), fd, options.new_passphrase_fd, &target)?;
    let name = options.name.clone().unwrap_or_else(|| chain[0].subject().to_string());
    let bytes = key
        .to_pkcs12(form_of(&key, options.form), &chain, &name, &passphrase)
        .map_err(|e| refused(&target, e))?;
    files::write(&options.out, &bytes, Access::Private, options.force)?;
    console.report(
        format_args!("put the key of {name} and {} into {target}", counted(chain.len(), "certificate")),
        json!({"type": "pkcs12", "name": name, "alg": key.algorithm().name(), "length": chain.len(), "out": target}),
    )?;
    Ok(Status::Done)
}

/// The number after that of a list, and what the list revokes; only the issuer's own list is carried on.
fn following(path: &Path, issuer: &Certificate) -> Result<(u64, Vec<Revoked>), Error> {
    let name = path.display().to_string();
    let list = RevocationList::read(&files::read_previous(path)?).map_err(|e| pki_error(&name, e))?;
    let key = issuer.public_key().map_err(|e| pki_error(&name, e))?;
    if list.issuer() != issuer.subject() || list.verify_signature(&key).is_err() {
        return Err(Error::not_verified(format!("{name}: is not a revocation list of {}", issuer.subject())));
    }
    let number = list.number().unwrap_or(&[]);
    let next = (number.len() <= 8)
        .then(|| number.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
        .and_then(|number| number.checked_add(1))
        .ok_or_else(|| Error::usage(format!("{name}: its number is too large for another list")))?;
    Ok((next, list.revoked().to_vec()))
}

impl Subject {
    /// What is said here, and where nothing is, what the request says.
    fn template(&self, request: Option<&Request>) -> Result<Template, Error> {
        let named = || {
            let first = self.names.first().map_or("localhost".to_owned(), AltName::to_string);
            format!("CN={}", escaped(&first)).parse().map_err(|e| refused("--name", e))
        };
        let subject = match (&self.subject, request) {
            (Some(subject), _) => subject.clone(),
            (None, Some(request)) => request.subject(),
            (None, None) => named()?,
        };
        let mut template = Template::new(subject);
        let asked = request.map_or(&[][..], Request::alt_names);
        for name in if self.names.is_empty() { asked } else { &self.names } {
            template = template.alt_name(name.clone());
        }
        let asked = request.map_or(&[][..], Request::purposes);
        if self.purposes.is_empty() {
            let usual = |purpose: &&pki::Purpose| {
                matches!(purpose, pki::Purpose::ServerAuth | pki::Purpose::ClientAuth)
            };
            if let Some(unusual) = asked.iter().find(|purpose| !usual(purpose)) {
                return Err(unnamed(unusual));
            }
            // A certificate without purposes is one for every purpose.
            let usual = [pki::Purpose::ServerAuth, pki::Purpose::ClientAuth];
            let asked = if asked.is_empty() && request.is_some() { &usual } else { asked };
            template = asked.iter().cloned().fold(template, Template::purpose);
        }
        Ok(self.purposes.iter().copied().map(Into::into).fold(template, Template::purpose))
    }

    /// The same for an authority, which has no names of machines but those that are given here.
    fn authority(&self, subject: Name) -> Template {
        let template = self.names.iter().cloned().fold(Template::authority(subject), Template::alt_name);
        self.purposes.iter().copied().map(Into::into).fold(template, Template::purpose)
    }
}

/// The content of a certificate before it is signed, for a person. Texts stand as JSON has them: an applicant chose them.
fn to_be_signed(template: &Template, issuer: &Certificate, days: u32, left_out: &[String]) -> Vec<String> {
    let listed = |texts: Vec<String>, none: &str| match texts.is_empty() {
        true => none.to_owned(),
        false => texts.join(", "),
    };
    let names = template.alt_names().iter().map(quoted).collect();
    let purposes = template.purposes().iter().map(ToString::to_string).collect();
    let authority = match template.is_authority() {
        true => format!(", AN AUTHORITY: {}", over(template.longest_path())),
        false => String::new(),
    };
    let mut lines = vec![
        format!("to sign: {}{authority}", quoted(template.subject())),
        format!("  names    {}", listed(names, "none")),
        format!("  purposes {}", listed(purposes, "every")),
        format!("  for {}, by {}", counted(days, "day"), quoted(issuer.subject())),
    ];
    if !left_out.is_empty() {
        lines.push(format!("  asked for and left out: {}", left_out.join(", ")));
    }
    lines
}

/// The text of an applicant as JSON has it.
fn quoted(text: impl ToString) -> String {
    Value::from(text.to_string()).to_string()
}

/// Lists what a request asks for and the certificate will not have.
fn left_out(request: &Request, template: &Template) -> Vec<String> {
    let mut out = Vec::new();
    if request.subject() != *template.subject() {
        out.push(format!("subject {}", quoted(request.subject())));
    }
    let names = request.alt_names().iter().filter(|name| !template.alt_names().contains(name));
    out.extend(names.map(|name| format!("name {}", quoted(name))));
    out.extend(request.other_names().into_iter().map(|name| format!("name {}", quoted(name))));
    let purposes = request.purposes().iter().filter(|purpose| !template.purposes().contains(purpose));
    out.extend(purposes.map(|purpose| format!("purpose {purpose}")));
    let usage = template.key_usage_for(request.public_key());
    let usages = request.key_usage().unwrap_or(&[]).iter().filter(|asked| !usage.contains(asked));
    out.extend(usages.map(|usage| format!("key usage {usage}")));
    if request.asks_for_authority() && !template.is_authority() {
        out.push("CA:TRUE (--authority makes an authority)".to_owned());
    }
    if let Some(asked) = request.path_length()
        && template.is_authority()
        && template.longest_path() != Some(asked)
    {
        out.push(format!("path length {asked}"));
    }
    out.extend(request.other_extensions().iter().map(|extension| format!("extension {extension}")));
    out
}

/// The error for a purpose that a request asks for, and the command line does not name.
fn unnamed(asked: &pki::Purpose) -> Error {
    let named = Purpose::value_variants().iter().find(|known| pki::Purpose::from(**known) == *asked);
    let next = match named.and_then(Purpose::to_possible_value) {
        Some(value) => format!("--purpose {} allows it", value.get_name()),
        None => "no option allows it; --purpose names others in its place".to_owned(),
    };
    Error::usage(format!("the request asks for {asked}: {next}")).because("unnamed-purpose")
}

impl From<Purpose> for pki::Purpose {
    fn from(purpose: Purpose) -> Self {
        match purpose {
            Purpose::Server => Self::ServerAuth,
            Purpose::Client => Self::ClientAuth,
            Purpose::CodeSigning => Self::CodeSigning,
            Purpose::Email => Self::EmailProtection,
            Purpose::TimeStamping => Self::TimeStamping,
            Purpose::OcspSigning => Self::OcspSigning,
        }
    }
}

impl From<Reason> for pki::Reason {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::KeyCompromise => Self::KeyCompromise,
            Reason::CaCompromise => Self::CaCompromise,
            Reason::AffiliationChanged => Self::AffiliationChanged,
            Reason::Superseded => Self::Superseded,
            Reason::CessationOfOperation => Self::CessationOfOperation,
            Reason::PrivilegeWithdrawn => Self::PrivilegeWithdrawn,
        }
    }
}

/// The characters that RFC 4514 gives a meaning stand for themselves.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if ",+\"\\<>;=#".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

/// From now, in whole seconds, for so many days.
fn days(days: u32) -> (SystemTime, SystemTime) {
    let now = SystemTime::now();
    (now, now + days * DAY)
}

fn private(path: &Path, passphrase_fd: Option<u32>) -> Result<(String, pki::PrivateKey), Error> {
    certified(KeyFile::read(path, passphrase_fd)?)
}

/// The private key in a file, which must be one that has certificates.
fn certified(file: KeyFile) -> Result<(String, pki::PrivateKey), Error> {
    match file.private()? {
        (name, PrivateKey::Pki(key)) => Ok((name, key)),
        (name, PrivateKey::XWing(_)) => {
            Err(Error::usage(format!("{name}: is an age identity, which has no certificates")))
        }
    }
}

/// The certificates of a file, of which there is at least one.
pub(crate) fn certificates(path: &Path) -> Result<Vec<Certificate>, Error> {
    let name = path.display().to_string();
    Certificate::read_all(&files::read_small(path)?).map_err(|e| match e {
        pki::Error::Pem | pki::Error::Label { .. } => {
            Error::outside(format!("{name}: holds no certificate: {e}; `gambeson cert new` makes one"))
        }
        error => pki_error(&name, error),
    })
}

/// The certificates of a file that are trusted as roots. Warns of each that another authority issued.
pub(crate) fn roots(path: &Path) -> Result<Vec<Certificate>, Error> {
    let roots = certificates(path)?;
    for root in roots.iter().filter(|root| root.subject() != root.issuer()) {
        console::warn(format_args!(
            "{}: {} is no root ({} issued it); it is trusted as one",
            path.display(),
            root.subject(),
            root.issuer()
        ));
    }
    Ok(roots)
}

/// Returns advice for the file of a chain that begins with an authority although it has the certificate of a holder.
pub(crate) fn order(path: &Path, chain: &[Certificate]) -> Option<String> {
    let (first, others) = chain.split_first()?;
    let is_turned = first.is_authority() && others.iter().any(|other| !other.is_authority());
    is_turned.then(|| {
        format!(
            "{} begins with the certificate of an authority, {}: put that of its holder first",
            path.display(),
            first.subject()
        )
    })
}

fn certificate(path: &Path) -> Result<(String, Certificate), Error> {
    Ok((path.display().to_string(), certificates(path)?.remove(0)))
}

/// The revocation lists of a file, of which there is at least one.
pub(crate) fn lists(path: &Path) -> Result<Vec<RevocationList>, Error> {
    RevocationList::read_all(&files::read_small(path)?).map_err(|e| pki_error(&path.display().to_string(), e))
}

/// What cannot be signed: the command line asks for it.
fn refused(name: &str, error: pki::Error) -> Error {
    match error {
        pki::Error::Random(error) => Error::randomness(error),
        error => Error::usage(format!("{name}: {error}")),
    }
}

fn described(certificate: &Certificate) -> Value {
    json!({
        "type": "certificate",
        "subject": certificate.subject().to_string(),
        "issuer": certificate.issuer().to_string(),
        "serial": hex(certificate.serial()),
        "validFrom": moment(certificate.not_before()),
        "validUntil": moment(certificate.not_after()),
        "alg": key_name(certificate),
        "signatureAlg": scheme_name(&certificate.signature_algorithm()),
        "authority": certificate.is_authority(),
        "pathLength": certificate.path_length(),
        "names": strings(certificate.alt_names()),
        "otherNames": certificate.other_names(),
        "extensions": strings(certificate.other_extensions()),
        "keyUsage": strings(certificate.key_usage().unwrap_or(&[])),
        "purposes": strings(certificate.purposes().unwrap_or(&[])),
        "sha256": hex(&Sha256::digest(certificate.as_der())),
    })
}

/// The name of the algorithm of the subject's key, or why there is none.
pub(crate) fn key_name(certificate: &Certificate) -> String {
    match certificate.public_key() {
        Ok(key) => key.algorithm().to_string(),
        Err(pki::Error::Algorithm { oid }) if pki::name_of_unsupported(&oid).is_some() => scheme_name(&oid),
        Err(error) => error.to_string(),
    }
}

/// The name of a signature's algorithm, or its object identifier.
fn scheme_name(oid: &str) -> String {
    match oid {
        "1.2.840.10045.4.3.2" => "ECDSA with SHA-256".to_owned(),
        "1.2.840.10045.4.3.3" => "ECDSA with SHA-384".to_owned(),
        "1.2.840.10045.4.3.4" => "ECDSA with SHA-512".to_owned(),
        _ => {
            let known = pki::Algorithm::ALL.iter().copied().find(|algorithm| algorithm.oid() == oid);
            let known = known.map(pki::Algorithm::name).or_else(|| pki::name_of_unsupported(oid));
            known.unwrap_or(oid).to_owned()
        }
    }
}

/// In RFC 3339.
fn moment(time: SystemTime) -> String {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => Timestamp(since.as_secs()).to_string(),
        Err(before) => moment_before_1970(before.duration().as_secs()),
    }
}

/// So many seconds before 1970; the calendar of the Gregorian comes again every 400 years.
fn moment_before_1970(seconds: u64) -> String {
    const CYCLE: u64 = 146_097 * 24 * 60 * 60;
    let cycles = seconds.div_ceil(CYCLE);
    let shifted = Timestamp(cycles * CYCLE - seconds).to_string();
    let (year, rest) = shifted.split_at(4);
    let year = year.parse::<u64>().unwrap_or_default().saturating_sub(400 * cycles);
    format!("{year:04}{rest}")
}

fn strings(values: &[impl ToString]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

/// Texts of others in one line.
fn words(values: &[impl Display]) -> String {
    values.iter().map(one_word).collect::<Vec<_>>().join(", ")
}

fn joined(values: &[impl ToString]) -> String {
    strings(values).join(", ")
}
