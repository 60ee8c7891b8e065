"""A TLS 1.3 peer of Python's standard library: `client PORT ROOTS GROUP`, or `server CHAIN KEY GROUP`, which tells its port.

What the one sends in a line the other sends back turned round.
"""

import socket
import ssl
import sys

role, first, second, group = sys.argv[1:]
if role == "client":
    context = ssl.create_default_context(cafile=second)
else:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(first, second)
context.minimum_version = ssl.TLSVersion.TLSv1_3
context.set_ecdh_curve(group)

if role == "client":
    with socket.create_connection(("127.0.0.1", int(first))) as plain:
        with context.wrap_socket(plain, server_hostname="server.example") as connection:
            connection.sendall(b"hello\n")
            line = connection.makefile("rb").readline()
            assert line == b"olleh\n", line
else:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        with context.wrap_socket(listener.accept()[0], server_side=True) as connection:
            line = connection.makefile("rb").readline()
            connection.sendall(line.rstrip(b"\n")[::-1] + b"\n")
            connection.unwrap()
