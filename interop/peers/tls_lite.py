"""A TLS 1.3 peer of tlslite-ng: `client PORT ROOTS GROUP`, or `server CHAIN KEY GROUP`, which tells its port.

What the one sends in a line the other sends back turned round. As a client it verifies what the server's certificate signed;
it builds no path to a root.
"""

import socket
import sys

from tlslite.api import HandshakeSettings, TLSConnection, X509CertChain, parsePEMKey

role, first, second, group = sys.argv[1:]
settings = HandshakeSettings()
settings.minVersion = settings.maxVersion = (3, 4)
# It takes a scheme of ECDSA only where the curve is among the groups.
settings.eccCurves = [name for name in dict.fromkeys([group, "secp256r1", "secp384r1"]) if "mlkem" not in name]
settings.keyShares = [group]
settings.dhGroups = []
if "mlkem" in group:
    settings.eccCurves.insert(0, group)


def line(connection):
    text = b""
    while not text.endswith(b"\n"):
        part = connection.recv(1)
        if not part:
            raise EOFError(text)
        text += part
    return text


if role == "client":
    with socket.create_connection(("127.0.0.1", int(first)), 30) as plain:
        connection = TLSConnection(plain)
        connection.handshakeClientCert(settings=settings, serverName="server.example")
        connection.send(b"hello\n")
        assert line(connection) == b"olleh\n"
        connection.close()
else:
    chain = X509CertChain()
    with open(first) as file:
        chain.parsePemList(file.read())
    with open(second) as file:
        key = parsePEMKey(file.read(), private=True)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        connection = TLSConnection(listener.accept()[0])
        connection.handshakeServer(certChain=chain, privateKey=key, settings=settings)
        connection.send(line(connection).rstrip(b"\n")[::-1] + b"\n")
        connection.close()
