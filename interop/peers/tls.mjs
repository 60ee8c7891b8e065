// A TLS 1.3 peer of Node: `client PORT ROOTS GROUP`, or `server CHAIN KEY GROUP`, which tells its port.
// What the one sends in a line the other sends back turned round.
import { readFileSync } from "node:fs";
import { connect, createServer } from "node:tls";

const [role, first, second, group] = process.argv.slice(2);
const fail = (error) => {
  console.error(String(error?.stack ?? error));
  process.exit(1);
};
const common = { minVersion: "TLSv1.3", ecdhCurve: group };

if (role === "client") {
  const socket = connect(
    { ...common, host: "127.0.0.1", port: Number(first), ca: readFileSync(second), servername: "server.example" },
    () => socket.authorized ? socket.write("hello\n") : fail(socket.authorizationError),
  );
  let text = "";
  socket.on("data", (part) => (text += part)).on("error", fail);
  socket.on("end", () => (text === "olleh\n" ? process.exit(0) : fail(JSON.stringify(text))));
} else {
  const server = createServer({ ...common, cert: readFileSync(first), key: readFileSync(second) }, (socket) => {
    socket.on("error", fail).once("data", (line) => {
      socket.end(`${[...line.toString().trimEnd()].reverse().join("")}\n`);
      server.close();
    });
  });
  server.on("tlsClientError", fail);
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
}
