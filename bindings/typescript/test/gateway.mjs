// A gateway in a process of its own, whose agents talk over memory, for the tests.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export async function gateway(agents, ...origins) {
  const program = process.env.GAMBESON_GATEWAY;
  if (!program) throw new Error("GAMBESON_GATEWAY is not set: cargo xtask typescript builds the gateway and sets it");
  const child = spawn(program, [String(agents), ...origins], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  const line = async () => (await once(lines, "line"))[0];
  const started = JSON.parse(await line());
  return {
    ...started,
    /** Ends the gateway and all connections, and starts it at the same address. Agents stay. */
    async restart() {
      child.stdin.write("restart\n");
      await line();
    },
    close: () => child.stdin.end(),
  };
}
