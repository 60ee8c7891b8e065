//! Tests of the provider, as one test program: a file for each subject. `border` calls it as OpenSSL does; the others run programs that load it.

#[expect(unsafe_code, reason = "plays OpenSSL, which hands pointers to the provider")]
mod border;
mod files;
mod host;
#[expect(unsafe_code, reason = "plays OpenSSL, which hands pointers to the provider")]
mod library;
mod tls;
mod versions;
