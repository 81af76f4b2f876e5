import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt, makeFolder, projectFolder } from "../support/built.ts";
import { findMissing } from "../support/frameworks.ts";
import { standBetween } from "../support/openapi/between.ts";
import { startExample } from "./start-example.ts";
import { isInstalled, wireRuntimes } from "./wire/runtimes.ts";

async function expectService(url: string): Promise<void> {
  const headers = { Authorization: `Basic ${btoa("alice:secret")}` };
  const file = new URL("home/a.txt", url);
  expect((await fetch(file, { method: "PUT", headers, body: "hello" })).status).toBe(201);
  expect(await (await fetch(file, { headers })).text()).toBe("hello");
}

/** The line of a file's header comment that starts it, with another folder and port. */
async function commandIn(path: string, pattern: RegExp, replaced: Readonly<Record<string, string>>): Promise<string> {
  const text = await readFile(join(projectFolder, path), "utf8");
  const [command = ""] = pattern.exec(text) ?? [];
  expect(Object.keys(replaced).filter((part) => !command.includes(part))).toEqual([]);
  return Object.entries(replaced).reduce((line, [from, to]) => line.replace(from, to), command);
}

describe("the command in the header of", () => {
  beforeAll(ensureBuilt, 300_000);

  it.for([
    // To run TypeScript it wants a newer Node than the one that runs the tests.
    ["node", wireRuntimes["node-newest"]],
    ["deno", wireRuntimes.deno],
    ["bun", wireRuntimes.bun],
  ] as const)("examples/%s/server.ts starts it, with the built package", async ([name, runtime], { skip }) => {
    skip(!isInstalled(runtime), "npm ci --prefix test/runtimes --ignore-scripts installs it");
    const replaced = { "./files": await makeFolder(), "PORT=8080": "PORT=0" };
    const command = await commandIn(`examples/${name}/server.ts`, /(?<=^ \* {5})FOLDER=.*$/m, replaced);
    const PATH = `${dirname(runtime.executable)}${delimiter}${process.env.PATH}`;
    const { url, stop } = await startExample(command, { PATH, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" });
    try {
      await expectService(url);
    } finally {
      await stop();
    }
  });

  it("examples/frameworks/run.mjs starts an example, and finds fileferry by itself", async ({ skip }) => {
    const missing = findMissing();
    skip(missing !== undefined, missing);
    const replaced = { "./files": await makeFolder(), "8080": "0" };
    const pattern = /(?<=^\/\/ {5})node .*$/m;
    const command = await commandIn("examples/frameworks/run.mjs", pattern, replaced);
    const { url, stop } = await startExample(command, {});
    // The example is Express.
    standBetween(Number(new URL(url).port), { adds: ["x-powered-by"] });
    try {
      await expectService(url);
      expect(existsSync(join(projectFolder, "examples/frameworks/node_modules/fileferry/dist"))).toBe(true);
    } finally {
      await stop();
    }
  });
});
