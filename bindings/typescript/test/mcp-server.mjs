// An MCP server over stdio with the official SDK, whose calls must be signed. Its configuration is the first argument.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";
import { Agent, Verifier, init } from "gambeson/agent";
import { callOf, verifyCalls } from "gambeson/mcp";

await init();
const { cards, root, audience, seed } = JSON.parse(process.argv[2]);
const verifier = new Verifier();
cards.forEach((card) => verifier.addCards(card));
verifier.trust(root, audience);
const server = new McpServer({ name: "bank", version: "1.0.0" });
server.registerTool("pay", { inputSchema: { amount: z.number() } }, ({ amount }, extra) => ({
  content: [{ type: "text", text: `${callOf(extra).agent} paid ${amount}` }],
}));
const receipts = Agent.fromSeed(new Uint8Array(32).fill(seed));
await server.connect(verifyCalls(new StdioServerTransport(), { verifier, audience, receipts }));
