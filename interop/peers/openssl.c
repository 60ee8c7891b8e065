// A TLS 1.3 peer of the OpenSSL that it is linked with: `client PORT ROOTS GROUP`, or `server CHAIN KEY GROUP`, which tells its port.
// What the one sends in a line the other sends back turned round. With `kem NAME`, a KEM of its default provider: it tells a public
// key, takes a ciphertext and tells the secret, takes a public key and tells a ciphertext and the secret; a line each, in hexadecimal.
// With `cms CERTIFICATE KEY`, it signs a message as CMS with that key, verifies that, and refuses another message.
// With `x509 ALGORITHM ROOT LEAF`, it verifies that leaf with that root, and writes a root and a leaf of its own with new keys.
#include <openssl/cms.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

#define MAX_BYTES 8192

static void check(int right, const char *what) {
    if (right) {
        return;
    }
    fprintf(stderr, "%s\n", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static int send_bytes(void *ssl, const char *bytes, int length) {
    return SSL_write(ssl, bytes, length) == length;
}

static int receive_byte(void *ssl, char *byte) {
    return SSL_read(ssl, byte, 1) == 1;
}

static SSL_CTX *context(const SSL_METHOD *method, const char *group) {
    SSL_CTX *context = SSL_CTX_new(method);
    check(context != NULL, "a context");
    check(SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION), "TLS 1.3");
    check(SSL_CTX_set1_groups_list(context, group), "the group");
    return context;
}

static void client(char **words) {
    SSL_CTX *trusting = context(TLS_client_method(), words[2]);
    check(SSL_CTX_load_verify_file(trusting, words[1]), "the roots");
    SSL_CTX_set_verify(trusting, SSL_VERIFY_PEER, NULL);
    SSL *ssl = SSL_new(trusting);
    X509_VERIFY_PARAM *names = SSL_get0_param(ssl);
    check(X509_VERIFY_PARAM_set1_host(names, "server.example", 0), "the name");
    check(SSL_set_tlsext_host_name(ssl, "server.example"), "the name");
    check(SSL_set_fd(ssl, connect_to(words[0])) && SSL_connect(ssl) == 1, "the handshake");
    check(asks(ssl, send_bytes, receive_byte), "the answer");
    SSL_shutdown(ssl);
}

static void server(char **words) {
    SSL_CTX *showing = context(TLS_server_method(), words[2]);
    check(SSL_CTX_use_certificate_chain_file(showing, words[0]) == 1, "the chain");
    check(SSL_CTX_use_PrivateKey_file(showing, words[1], SSL_FILETYPE_PEM) == 1, "the key");
    SSL *ssl = SSL_new(showing);
    check(SSL_set_fd(ssl, accepted()) && SSL_accept(ssl) == 1, "the handshake");
    check(answers(ssl, send_bytes, receive_byte), "the question");
    SSL_shutdown(ssl);
}

static void tell(const unsigned char *bytes, size_t length) {
    for (size_t at = 0; at < length; at++) {
        printf("%02x", bytes[at]);
    }
    puts("");
    fflush(stdout);
}

static size_t told(unsigned char *bytes) {
    static char line[2 * MAX_BYTES + 2];
    size_t length = 0;
    check(fgets(line, sizeof line, stdin) != NULL, "a line");
    line[strcspn(line, "\n")] = 0;
    check(OPENSSL_hexstr2buf_ex(bytes, MAX_BYTES, &length, line, 0), "hexadecimal");
    return length;
}

static void kem(const char *name) {
    const char *own = "provider=default";
    unsigned char bytes[MAX_BYTES], secret[256];
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, own, name);
    check(key != NULL, "a key");
    unsigned char *public = NULL;
    size_t length = EVP_PKEY_get1_encoded_public_key(key, &public);
    tell(public, length);

    size_t secret_length = sizeof secret;
    length = told(bytes);
    EVP_PKEY_CTX *work = EVP_PKEY_CTX_new_from_pkey(NULL, key, own);
    check(EVP_PKEY_decapsulate_init(work, NULL) == 1, "to decapsulate");
    check(EVP_PKEY_decapsulate(work, secret, &secret_length, bytes, length) == 1, "decapsulation");
    tell(secret, secret_length);

    length = told(bytes);
    EVP_PKEY *theirs = EVP_PKEY_new_raw_public_key_ex(NULL, name, own, bytes, length);
    check(theirs != NULL, "a public key");
    work = EVP_PKEY_CTX_new_from_pkey(NULL, theirs, own);
    length = sizeof bytes;
    secret_length = sizeof secret;
    check(EVP_PKEY_encapsulate_init(work, NULL) == 1, "to encapsulate");
    check(EVP_PKEY_encapsulate(work, bytes, &length, secret, &secret_length) == 1, "encapsulation");
    tell(bytes, length);
    tell(secret, secret_length);
}

static void cms(char **words) {
    BIO *file = BIO_new_file(words[0], "r");
    X509 *certificate = PEM_read_bio_X509(file, NULL, NULL, NULL);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(BIO_new_file(words[1], "r"), NULL, NULL, NULL);
    check(certificate != NULL && key != NULL, "a certificate and its key");
    BIO *message = BIO_new_mem_buf("message", -1), *another = BIO_new_mem_buf("massage", -1);
    unsigned form = CMS_BINARY | CMS_DETACHED | CMS_PARTIAL;
    CMS_ContentInfo *made = CMS_sign(NULL, NULL, NULL, message, form);
    // No digest is the default of these keys: `openssl cms -sign -md sha512`.
    check(made != NULL && CMS_add1_signer(made, certificate, key, EVP_sha512(), form) != NULL, "a signer");
    check(CMS_final(made, message, NULL, form) == 1, "to sign");
    unsigned char *bytes = NULL;
    int length = i2d_CMS_ContentInfo(made, &bytes);
    const unsigned char *read = bytes;
    CMS_ContentInfo *sent = d2i_CMS_ContentInfo(NULL, &read, length);
    check(sent != NULL, "what was written");
    unsigned flags = CMS_BINARY | CMS_NO_SIGNER_CERT_VERIFY;
    check(CMS_verify(sent, NULL, NULL, another, NULL, flags) != 1, "another message is refused");
    ERR_clear_error();
    check(BIO_reset(message) == 1, "the message again");
    check(CMS_verify(sent, NULL, NULL, message, NULL, flags) == 1, "to verify");
}

static void extend(X509 *certificate, X509 *issuer, int kind, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    check(extension != NULL && X509_add_ext(certificate, extension, -1) == 1, "an extension");
}

// Issues a certificate; without an issuer it signs itself.
static X509 *issue(const char *name, EVP_PKEY *key, X509 *issuer, EVP_PKEY *issuer_key) {
    X509 *certificate = X509_new();
    X509_set_version(certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), issuer == NULL ? 1 : 2);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
    X509_NAME *subject = X509_NAME_new();
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0);
    X509_set_subject_name(certificate, subject);
    X509_set_issuer_name(certificate, issuer == NULL ? subject : X509_get_subject_name(issuer));
    X509_set_pubkey(certificate, key);
    extend(certificate, issuer, NID_subject_key_identifier, "hash");
    if (issuer == NULL) {
        extend(certificate, issuer, NID_basic_constraints, "critical,CA:TRUE");
        extend(certificate, issuer, NID_key_usage, "critical,keyCertSign");
    } else {
        extend(certificate, issuer, NID_authority_key_identifier, "keyid");
        extend(certificate, issuer, NID_key_usage, "critical,digitalSignature");
    }
    // These algorithms have no digest of their own.
    check(X509_sign(certificate, issuer == NULL ? key : issuer_key, NULL) != 0, "to sign a certificate");
    return certificate;
}

static void x509(char **words) {
    X509 *root = PEM_read_bio_X509(BIO_new_file(words[1], "r"), NULL, NULL, NULL);
    X509 *leaf = PEM_read_bio_X509(BIO_new_file(words[2], "r"), NULL, NULL, NULL);
    check(root != NULL && leaf != NULL, "two certificates");
    X509_STORE *roots = X509_STORE_new();
    X509_STORE_add_cert(roots, root);
    X509_STORE_set_flags(roots, X509_V_FLAG_X509_STRICT);
    X509_STORE_CTX *path = X509_STORE_CTX_new();
    check(X509_STORE_CTX_init(path, roots, leaf, NULL) == 1 && X509_verify_cert(path) == 1, "to verify the leaf");

    EVP_PKEY *root_key = EVP_PKEY_Q_keygen(NULL, NULL, words[0]), *key = EVP_PKEY_Q_keygen(NULL, NULL, words[0]);
    check(root_key != NULL && key != NULL, "two keys");
    check(X509_verify(leaf, root_key) != 1, "the leaf verifies with another key");
    ERR_clear_error();
    X509 *its_root = issue("Root", root_key, NULL, NULL);
    PEM_write_X509(stdout, its_root);
    PEM_write_X509(stdout, issue("Leaf", key, its_root, root_key));
}

int main(int count, char **words) {
    if (count == 2 && strcmp(words[1], "version") == 0) {
        puts(OpenSSL_version(OPENSSL_VERSION_STRING));
    } else if (count == 3 && strcmp(words[1], "kem") == 0) {
        kem(words[2]);
    } else if (count == 4 && strcmp(words[1], "cms") == 0) {
        cms(words + 2);
    } else if (count == 5 && strcmp(words[1], "x509") == 0) {
        x509(words + 2);
    } else if (count == 5 && strcmp(words[1], "client") == 0) {
        client(words + 2);
    } else if (count == 5 && strcmp(words[1], "server") == 0) {
        server(words + 2);
    } else {
        check(0, "client, server, kem, cms or x509");
    }
    return 0;
}
