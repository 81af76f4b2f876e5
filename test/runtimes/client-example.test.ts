import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import JSZip from "jszip";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { projectFolder } from "../support/built.ts";
import { type Command, startCommand } from "../support/command.ts";
import { tapChildren } from "../support/openapi/child-log.ts";
import { isInstalled, wireRuntimes } from "./wire/runtimes.ts";

const run = promisify(execFile);
const exampleFolder = join(projectFolder, "examples/client");

/** Why it cannot be tried here; in continuous integration that is a failure. */
function findMissing(): string | undefined {
  if (existsSync(join(exampleFolder, "node_modules/openapi-typescript"))) return undefined;
  const reason = "examples/client has no node_modules: npm ci --prefix examples/client";
  if (process.env.CI) throw new Error(reason);
  return reason;
}

/** What it downloads. */
const archive = join(exampleFolder, "client-example.zip");

const missing = findMissing();
if (missing !== undefined) process.stderr.write(`The generated client is not tested: ${missing}\n`);

/** What the compiler says of files of the example with its own settings; those with a text are not on the disk. */
function check(files: Readonly<Record<string, string | undefined>>): readonly string[] {
  const { config } = ts.readConfigFile(join(exampleFolder, "tsconfig.json"), ts.sys.readFile);
  const { options, errors } = ts.parseJsonConfigFileContent(config, ts.sys, exampleFolder);
  expect({ strict: options.strict, errors }).toEqual({ strict: true, errors: [] });
  const texts = new Map(Object.entries(files).map(([name, text]) => [join(exampleFolder, name), text]));
  const host = ts.createCompilerHost(options);
  const own = { ...host };
  host.fileExists = (path) => texts.has(path) || own.fileExists(path);
  host.readFile = (path) => texts.get(path) ?? own.readFile(path);
  host.getSourceFile = (path, version, ...others) => {
    const text = texts.get(path);
    return text === undefined
      ? own.getSourceFile(path, version, ...others)
      : ts.createSourceFile(path, text, typeof version === "object" ? version : { languageVersion: version });
  };
  const program = ts.createProgram([...texts.keys()], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const line = file === undefined || start === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1;
    return `${file?.fileName ?? ""}:${line} ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
  });
}

/**
 * What this service does not have. A directive over a line that compiles is an error itself: types that are \`any\`
 * would show here.
 */
const MISTAKES = `
import createClient from "openapi-fetch";
import type { paths } from "./service.d.ts";
const service = createClient<paths, "application/json">();
const folder = "reports";
// @ts-expect-error: no such URL
await service.GET("/nowhere");
// @ts-expect-error: no such method
await service.DELETE("/__svc__/login");
// @ts-expect-error: no path
await service.PUT("/home/{path}", { body: new Blob() });
// @ts-expect-error: no such header
await service.GET("/home/{path}", { params: { path: { path: "a" }, header: { Rage: "bytes=0-" } } });
// @ts-expect-error: no password
await service.POST("/__svc__/login", { body: { username: "alice" } });
// @ts-expect-error: no such command
await service.POST("/home/", { body: { commands: [{ command: "rename", target: "a" }] } });
const { data, error } = await service.GET("/home/{folder}/", { params: { path: { folder } } });
// @ts-expect-error: no such member of an entry
data?.content[0]?.owner;
// @ts-expect-error: a number, of bytes
data?.content[0]?.size satisfies string | undefined;
// @ts-expect-error: a text
error?.errors[0]?.message satisfies number | undefined;
`;

/** The example as arguments of any Node: that of the tests need not run TypeScript. */
async function toScript(): Promise<readonly string[]> {
  const entryPoints = [join(exampleFolder, "client.ts")];
  const { outputFiles } = await build({ entryPoints, bundle: true, format: "esm", platform: "node", write: false });
  return ["--input-type=module", "--eval", outputFiles.map(({ text }) => text).join("")];
}

const PRINTED = [
  "logged in",
  "commands: client-example: done",
  "commands: Q1 & Q2: done",
  "created: /client-example/drafts",
  "stored: client-example/Q1 & Q2/revenue, 100% #1.csv, 25 bytes",
  "bytes 16-24/25: Q1,52311",
  "member: drafts/",
  "member: Q1 & Q2/",
  "member: revenue, 100% #1.csv, 25 bytes",
  "422 drafts: done, never there: Not found.",
  "application/zip: client-example.zip",
  "404 Not found.",
  "401 The session is invalid or has expired.",
];

describe.skipIf(missing !== undefined)(`examples/client${missing === undefined ? "" : `, not run: ${missing}`}`, () => {
  let root: string;
  let service: Command;
  let environment: NodeJS.ProcessEnv;

  /** Lines of a command of the example; it fails where that does. */
  async function start(command: string, args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<string[]> {
    const { stdout } = await run(command, args, { cwd: exampleFolder, env: { ...environment, ...more } });
    return stdout.trimEnd().split("\n");
  }

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "fileferry-client-"));
    const args = ["serve", root, "--account", "demo:a:b", "--port", "0", "--quiet"];
    service = await startCommand(args, await tapChildren());
    environment = { ...process.env, SERVICE: service.origin, ACCOUNT: "demo:a:b" };
    await start("npm", ["run", "--silent", "generate"]);
  }, 300_000);

  afterAll(async () => {
    await service?.stop();
    await rm(root, { recursive: true, force: true });
    await rm(archive, { force: true });
  });

  it("compiles against the types that the generator makes of the running service", () => {
    expect(check({ "client.ts": undefined })).toEqual([]);
  }, 120_000);

  it("does not compile with what the service does not have", () => {
    expect(check({ "mistakes.ts": MISTAKES })).toEqual([]);
  }, 120_000);

  it("does with the service what it says, also once more", async () => {
    const script = await toScript();
    expect(await start(process.execPath, script)).toEqual(PRINTED);
    expect(await start(process.execPath, script)).toEqual(PRINTED);
    expect((await readdir(root, { recursive: true })).sort()).toEqual([
      "client-example",
      "client-example/Q1 & Q2",
      "client-example/Q1 & Q2/revenue, 100% #1.csv",
    ]);
    const stored = await readFile(join(root, "client-example/Q1 & Q2/revenue, 100% #1.csv"), "utf8");
    expect(stored).toBe("quarter,revenue\nQ1,52311\n");
    const { files } = await JSZip.loadAsync(await readFile(archive));
    const [name = "", ...others] = Object.keys(files).filter((member) => !member.endsWith("/"));
    expect({ name, others }).toEqual({ name: expect.stringMatching(/Q1 & Q2\/revenue, 100% #1\.csv$/), others: [] });
    expect(await files[name]?.async("text")).toBe(stored);
  });

  it("is checked and started by the commands of its README, on a Node that runs TypeScript", async ({ skip }) => {
    const newest = wireRuntimes["node-newest"];
    skip(!isInstalled(newest), "npm ci --prefix test/runtimes --ignore-scripts installs it");
    const readme = await readFile(join(exampleFolder, "README.md"), "utf8");
    for (const command of ["generate", "check"])
      expect(readme).toContain(`npm run --prefix examples/client ${command}`);
    expect(readme).toContain("npm start --prefix examples/client");
    const more = { PATH: `${dirname(newest.executable)}:${process.env.PATH}` };
    await start("npm", ["run", "--silent", "check"], more);
    expect(await start("npm", ["start", "--silent"], more)).toEqual(PRINTED);
  }, 120_000);

  it("ends with the reason of a login that fails", async () => {
    const failed = start(process.execPath, await toScript(), { ACCOUNT: "demo:wrong" });
    await expect(failed).rejects.toMatchObject({ stderr: expect.stringContaining("Error: 401 "), stdout: "" });
  });
});
