// A TLS 1.3 peer of wolfSSL: `client PORT ROOTS GROUP`, or `server CHAIN KEY GROUP`, which tells its port. What the one sends in a line
// the other sends back turned round. Groups are numbers.
#include <wolfssl/options.h>
#include <wolfssl/ssl.h>
#include <wolfssl/error-ssl.h>

#include "lines.h"

static void check(int right, const char *what, WOLFSSL *ssl) {
    if (right) {
        return;
    }
    char said[WOLFSSL_MAX_ERROR_SZ] = "";
    if (ssl != NULL) {
        wolfSSL_ERR_error_string((unsigned long)wolfSSL_get_error(ssl, 0), said);
    }
    fprintf(stderr, "%s %s\n", what, said);
    exit(1);
}

static int send_bytes(void *ssl, const char *bytes, int length) {
    return wolfSSL_write(ssl, bytes, length) == length;
}

static int receive_byte(void *ssl, char *byte) {
    return wolfSSL_read(ssl, byte, 1) == 1;
}

static WOLFSSL_CTX *context(WOLFSSL_METHOD *method, int group) {
    WOLFSSL_CTX *context = wolfSSL_CTX_new(method);
    check(context != NULL, "a context", NULL);
    check(wolfSSL_CTX_set_groups(context, &group, 1) == WOLFSSL_SUCCESS, "the group", NULL);
    return context;
}

static void client(char **words) {
    int group = atoi(words[2]);
    WOLFSSL_CTX *trusting = context(wolfTLSv1_3_client_method(), group);
    check(wolfSSL_CTX_load_verify_locations(trusting, words[1], NULL) == WOLFSSL_SUCCESS, "the roots", NULL);
    WOLFSSL *ssl = wolfSSL_new(trusting);
    check(wolfSSL_UseKeyShare(ssl, (word16)group) == WOLFSSL_SUCCESS, "the key share", ssl);
    check(wolfSSL_UseSNI(ssl, WOLFSSL_SNI_HOST_NAME, "server.example", 14) == WOLFSSL_SUCCESS, "the name", ssl);
    check(wolfSSL_check_domain_name(ssl, "server.example") == WOLFSSL_SUCCESS, "the name", ssl);
    check(wolfSSL_set_fd(ssl, connect_to(words[0])) == WOLFSSL_SUCCESS, "the socket", ssl);
    check(wolfSSL_connect(ssl) == WOLFSSL_SUCCESS, "the handshake", ssl);
    check(asks(ssl, send_bytes, receive_byte), "the answer", ssl);
    wolfSSL_shutdown(ssl);
}

static void server(char **words) {
    WOLFSSL_CTX *showing = context(wolfTLSv1_3_server_method(), atoi(words[2]));
    check(wolfSSL_CTX_use_certificate_chain_file(showing, words[0]) == WOLFSSL_SUCCESS, "the chain", NULL);
    check(wolfSSL_CTX_use_PrivateKey_file(showing, words[1], WOLFSSL_FILETYPE_PEM) == WOLFSSL_SUCCESS, "the key", NULL);
    WOLFSSL *ssl = wolfSSL_new(showing);
    check(wolfSSL_set_fd(ssl, accepted()) == WOLFSSL_SUCCESS, "the socket", ssl);
    check(wolfSSL_accept(ssl) == WOLFSSL_SUCCESS, "the handshake", ssl);
    check(answers(ssl, send_bytes, receive_byte), "the question", ssl);
    wolfSSL_shutdown(ssl);
}

int main(int count, char **words) {
    wolfSSL_Init();
    if (count == 2 && strcmp(words[1], "version") == 0) {
        puts(wolfSSL_lib_version());
    } else if (count == 5 && strcmp(words[1], "client") == 0) {
        client(words + 2);
    } else if (count == 5 && strcmp(words[1], "server") == 0) {
        server(words + 2);
    } else {
        check(0, "client or server", NULL);
    }
    return 0;
}
