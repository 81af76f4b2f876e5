import { execFile } from "node:child_process";
import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";
import { builtFolder, ensureBuilt, makeFolder, projectFolder, startServer } from "../support/built.ts";
import { isInstalled, type WireRuntime, wireRuntimes } from "./wire/runtimes.ts";

const ARGUMENTS: readonly { readonly name: WireRuntime["name"]; readonly args: readonly string[] }[] = [
  { name: "node", args: [] },
  { name: "node-newest", args: [] },
  { name: "deno", args: ["run", "--no-prompt", "--allow-net=127.0.0.1", "--allow-env=SERVICE"] },
  { name: "bun", args: ["run"] },
];

const SEEN = [
  [422, "already-exists", "A file or folder with that name already exists."],
  { steps: true, isOrdered: true },
  1_000_000,
  { size: 1_000_000 },
  [412, "precondition-failed", "A precondition of the request failed."],
  304,
  [206, 3],
  [
    [3, null],
    [5, null],
    [5, 5],
  ],
  "abcdef",
  [0, 0],
  0,
  [[9_000_000, 9_000_000], 9_000_000],
  [400, "upload-length-inconsistent", "The lengths that the client has given for the upload are inconsistent."],
  9,
  "cancelled",
  "AbortError",
  6,
  ["empty", false],
  ["folder", true],
  ["streamed", false],
  true,
  [422, "not-a-file", "A folder exists where a file is needed."],
  ["application/zip", true],
  [{ target: "empty", message: null }],
  [404, "not-found", "The service responded with status 404."],
  "true,true",
];

describe("fileferry/client against the built service", () => {
  beforeAll(() => ensureBuilt(), 300_000);

  it.for(ARGUMENTS)("runs on $name", async ({ name, args }, { skip }) => {
    const runtime = wireRuntimes[name];
    skip(!isInstalled(runtime), "npm ci --prefix test/runtimes --ignore-scripts installs it");
    const folder = await makeFolder();
    const service = await startServer(["serve", "--config", await writeConfiguration(folder)]);
    const program = await bundle(join(folder, "program.mjs"));
    const env = { ...process.env, SERVICE: service.url, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" };
    const { stdout } = await promisify(execFile)(runtime.executable, [...args, program], { env });
    const seen: unknown[] = JSON.parse(stdout);
    const isMember = (item: unknown) =>
      Array.isArray(item) && typeof item[1] === "boolean" && item[0] !== "application/zip";
    const members = seen.filter(isMember).map(String).sort();
    expect(members).toEqual(SEEN.filter(isMember).map(String));
    expect(seen.filter((item) => !isMember(item))).toEqual(SEEN.filter((item) => !isMember(item)));
    expect(await readFile(join(folder, "events.ndjson"), "utf8")).toContain(
      '"metadata":{"note":["grün ☃","a, \\"b\\""]}',
    );
  });

  it("is a package for JSR whose types Deno checks", async ({ skip }) => {
    const { executable } = wireRuntimes.deno;
    skip(!isInstalled(wireRuntimes.deno), "npm ci --prefix test/runtimes --ignore-scripts installs it");
    const folder = join(await makeFolder(), "jsr");
    await promisify(execFile)(process.execPath, [join(projectFolder, "scripts/jsr.mjs"), folder]);
    // The package that it imports is taken from here, not from the registry.
    await symlink(join(projectFolder, "node_modules"), join(folder, "node_modules"));
    await writeFile(join(folder, "package.json"), JSON.stringify({ dependencies: { zod: "^4" } }));
    const check = async (program: string) => {
      await writeFile(join(folder, "program.ts"), `import { createClient } from "./client.js";\n${program}\n`);
      const args = ["check", "--config", "jsr.json", "--node-modules-dir=manual", "program.ts"];
      const env = { ...process.env, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" };
      return promisify(execFile)(executable, args, { cwd: folder, env });
    };
    const create = (baseUrl: string) => `createClient({ baseUrl: ${baseUrl}, credentials: { session: "x" } })`;
    await check(`for await (const { name } of ${create('"https://a.example"')}.list("/")) name.toUpperCase();`);
    await expect(check(`${create("1")};`)).rejects.toThrow("TS2322");
  });
});

async function writeConfiguration(folder: string): Promise<string> {
  const file = join(folder, "fileferry.json");
  const configuration = {
    listen: { port: 0 },
    storage: { type: "memory" },
    authentication: [{ type: "accounts", accounts: [{ username: "alice", password: "secret" }] }],
    metadataFields: "X-Labels",
    events: { file: "events.ndjson" },
  };
  await writeFile(file, JSON.stringify(configuration));
  return file;
}

async function bundle(outfile: string): Promise<string> {
  const entryPoints = [join(projectFolder, "test/runtimes/client-program.ts")];
  const alias = { "fileferry/client": join(builtFolder, "client.js") };
  await build({ entryPoints, outfile, bundle: true, format: "esm", target: "es2022", alias, logLevel: "silent" });
  return outfile;
}
