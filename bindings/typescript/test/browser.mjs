// Chromium from the system, headless and without a network, for the tests.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const PROGRAMS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export async function browser() {
  const executablePath = process.env.CHROMIUM ?? PROGRAMS.find((path) => existsSync(path));
  // Its sandbox needs namespaces that containers and root do not have; what it opens is ours.
  return chromium.launch({ ...(executablePath ? { executablePath } : {}), args: ["--no-sandbox"] });
}

/** Where tests may write. */
export const scratch = process.env.GAMBESON_TYPESCRIPT_TMP ?? new URL("../dist", import.meta.url).pathname;
