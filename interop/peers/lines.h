// What the peers in C have in common: the sockets, and what is said over TLS.
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

typedef int (*sender)(void *tls, const char *bytes, int length);
typedef int (*receiver)(void *tls, char *byte);

/// The longest line, and how many seconds the other side may be silent.
enum { LINE = 256, PATIENCE = 30 };

static int patient(int handle) {
    struct timeval time = {.tv_sec = PATIENCE};
    setsockopt(handle, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    setsockopt(handle, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
    return handle;
}

static int connect_to(const char *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int handle = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(handle, (struct sockaddr *)&address, sizeof address) != 0) {
        perror("connect");
        exit(1);
    }
    return patient(handle);
}

/// Listens, tells the port, and takes one connection.
static int accepted(void) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0) {
        perror("listen");
        exit(1);
    }
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return patient(accept(listener, NULL, NULL));
}

/// A line without its end; how long it is, or -1.
static int received(void *tls, receiver receive, char *line) {
    for (int at = 0; at < LINE; at++) {
        if (!receive(tls, line + at)) {
            return -1;
        }
        if (line[at] == '\n') {
            return at;
        }
    }
    return -1;
}

static int asks(void *tls, sender send, receiver receive) {
    char line[LINE];
    return send(tls, "hello\n", 6) && received(tls, receive, line) == 5 && memcmp(line, "olleh", 5) == 0;
}

static int answers(void *tls, sender send, receiver receive) {
    char line[LINE], back[LINE];
    int length = received(tls, receive, line);
    if (length < 0) {
        return 0;
    }
    for (int at = 0; at < length; at++) {
        back[at] = line[length - 1 - at];
    }
    back[length] = '\n';
    return send(tls, back, length + 1);
}
