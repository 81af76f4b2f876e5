import { execFile } from "node:child_process";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { makeFolder, projectFolder } from "../support/built.ts";
import { isInstalled, type WireRuntime, wireRuntimes } from "./wire/runtimes.ts";

const ARGUMENTS: readonly { readonly name: WireRuntime["name"]; readonly args: readonly string[] }[] = [
  { name: "node", args: [] },
  { name: "node-newest", args: [] },
  { name: "deno", args: ["run", "--no-prompt", "--allow-read", "--allow-write", "--allow-sys"] },
  { name: "bun", args: ["run"] },
];

/**
 * Lists a folder, with a read of 120 ms at its first member: after it the storage goes on by asynchronous calls, and
 * half a second later by synchronous ones again.
 */
const PROGRAM = `
import { createDiskStorage } from "./storage/disk.ts";
import { readGuard } from "./storage/disk/latency-guard.ts";

const names = [];
for await (const { name } of createDiskStorage({ root: process.argv[2] }).list("/")) {
  names.push(name);
  if (names.length === 1) readGuard.timed(() => work(120));
  else if (names.length === 60) work(600);
}
console.log(JSON.stringify(names.sort()));

function work(milliseconds) {
  for (const end = performance.now() + milliseconds; performance.now() < end; );
}
`;

describe("a listing of a disk that is slow for a while", () => {
  it.for(ARGUMENTS)("has each member once on $name", async ({ name, args }, { skip }) => {
    const { executable } = wireRuntimes[name];
    skip(!isInstalled(wireRuntimes[name]), "npm ci --prefix test/runtimes --ignore-scripts installs it");
    const folder = await makeFolder();
    const program = join(await makeFolder(), "program.mjs");
    const stdin = { contents: PROGRAM, resolveDir: join(projectFolder, "src") };
    await build({ stdin, outfile: program, bundle: true, format: "esm", platform: "node", logLevel: "silent" });
    const members = Array.from({ length: 100 }, (_, index) => `member ${index}`);
    await Promise.all(members.map((member) => writeFile(join(folder, member), "")));
    const env = { ...process.env, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" };
    const { stdout } = await promisify(execFile)(executable, [...args, program, folder], { env });
    expect(JSON.parse(stdout)).toEqual((await readdir(folder)).sort());
  });
});
