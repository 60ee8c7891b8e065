// Headless Chromium as a client: `PLAYWRIGHT CHROMIUM`, and on standard input a JSON array of visits, each with the `port` of
// https://server.example, and the hash `spki` of a key that is trusted there, or none. It answers what Chromium says of each.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [folder, executablePath] = process.argv.slice(2);
const { chromium } = createRequire(`${folder}/`)("playwright-core");
const visits = JSON.parse(readFileSync(0, "utf8"));
const trusted = visits.flatMap(({ spki }) => spki ?? []).join(",");
// Its sandbox needs namespaces that containers and root do not have; what it opens is ours.
const browser = await chromium.launch({
  executablePath,
  args: [
    "--no-sandbox",
    "--host-resolver-rules=MAP server.example 127.0.0.1",
    `--ignore-certificate-errors-spki-list=${trusted}`,
  ],
});
const visit = async ({ port }) => {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send("Network.enable");
    const details = new Promise((resolve) =>
      session.once("Network.responseReceived", ({ response }) => resolve(response.securityDetails)),
    );
    const response = await page.goto(`https://server.example:${port}/`, { timeout: 30_000 });
    const { protocol, keyExchangeGroup, serverSignatureAlgorithm } = await details;
    return {
      status: response.status(),
      heading: await page.textContent("h1"),
      protocol,
      group: keyExchangeGroup,
      scheme: serverSignatureAlgorithm,
    };
  } catch (error) {
    return { error: error.message.split("\n")[0] };
  } finally {
    await context.close();
  }
};
const said = [];
for (const one of visits) said.push(await visit(one));
await browser.close();
console.log(JSON.stringify({ version: browser.version(), said }));
