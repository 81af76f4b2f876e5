import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAccountsFileAuthenticator } from "../../src/auth/accounts/accounts-file-node.ts";
import { quickHasher } from "../support/quick-hasher.ts";

/** Another account of the system than the tests' own. */
const NOBODY = 65_534;
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Changes one password again and again, and prints each change that was acknowledged. */
const PROGRAM = `
  import fs from "node:fs/promises";
  import { syncBuiltinESMExports } from "node:module";
  import { createAccountsFileAuthenticator } from "${ROOT}src/auth/accounts/accounts-file-node.ts";
  import { quickHasher } from "${ROOT}test/support/quick-hasher.ts";
  const logger = { info() {}, warn() {}, error() {} };
  const file = process.argv[2];
  if (process.argv[4] === "before the rename") {
    fs.rename = () => process.kill(process.pid, "SIGKILL");
    syncBuiltinESMExports();
  }
  const { updatePassword } = createAccountsFileAuthenticator({ file, passwordHasher: quickHasher, logger });
  for (let round = Number(process.argv[3]); ; round += 1) {
    const names = { currentPassword: "password " + round, newPassword: "password " + (round + 1) };
    const { outcome } = await updatePassword({ username: "alice", ...names });
    if (outcome !== "updated") process.exit(1);
    process.stdout.write((round + 1) + "\\n");
  }
`;

let folder: string;
let program: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fileferry-crash-"));
  program = join(folder, "program.mjs");
  await build({
    stdin: { contents: PROGRAM, resolveDir: ROOT, loader: "ts" },
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
  });
});
afterAll(() => rm(folder, { recursive: true }));

describe("the accounts file of a process that is killed", () => {
  it("is whole, and has the last password that was acknowledged or the next one", async () => {
    const home = join(folder, "accounts");
    const file = join(await mkdtemp(home), "accounts.json");
    await writeFile(file, JSON.stringify({ accounts: [{ username: "alice", password: await toHash(0) }] }));
    let acknowledged = 0;
    for (let trial = 0; trial < 25; trial += 1) {
      acknowledged = Math.max(acknowledged, await runUntilKilled(file, acknowledged, trial * 3));
      const [{ password }] = JSON.parse(await readFile(file, "utf8")).accounts;
      const found = [acknowledged, acknowledged + 1].findIndex((round) => password === toHashSync.get(round));
      expect(found, `trial ${trial}`).toBeGreaterThanOrEqual(0);
      acknowledged += found;
    }
    expect(acknowledged).toBeGreaterThan(25);
    await start(file);
    expect(await readdir(join(file, ".."))).toEqual(["accounts.json"]);
  });

  it("has nothing with its passwords beside it from the next start on, at once", async () => {
    const home = await mkdtemp(join(folder, "accounts"));
    const file = join(home, "accounts.json");
    const content = JSON.stringify({ accounts: [{ username: "alice", password: await toHash(0) }] });
    await writeFile(file, content);
    const child = spawn(process.execPath, [program, file, "0", "before the rename"], { stdio: "inherit" });
    expect(await once(child, "close")).toEqual([null, "SIGKILL"]);
    expect(await readdir(home)).toHaveLength(3);
    await start(file);
    expect(await readdir(home)).toEqual(["accounts.json"]);
    expect(await readFile(file, "utf8")).toBe(content);
  });
});

describe("the accounts file of a process that may not give it its group (skipped unless root)", () => {
  it.skipIf(process.getuid?.() !== 0)("is not opened to the process's own group", async () => {
    const home = await mkdtemp(join(folder, "accounts"));
    const file = join(home, "accounts.json");
    await writeFile(file, JSON.stringify({ accounts: [{ username: "alice", password: await toHash(0) }] }));
    // All users may read the file, and so may the program. To replace it, it needs the rights of the folder's owner.
    await chmod(file, 0o644);
    await chown(file, 0, 4242);
    await chmod(folder, 0o755);
    await chown(home, NOBODY, NOBODY);
    const child = spawn(process.execPath, [program, file, "0"], {
      stdio: ["ignore", "pipe", "inherit"],
      uid: NOBODY,
      gid: NOBODY,
    });
    const closed = once(child, "close");
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    await closed;
    const { uid, gid, mode } = await stat(file);
    expect({ uid, gid, mode: mode & 0o777 }).toEqual({ uid: NOBODY, gid: NOBODY, mode: 0o604 });
  });
});

/** What a process does that takes the place of a killed one. */
async function start(file: string): Promise<void> {
  const logger = { info() {}, warn() {}, error() {} };
  await createAccountsFileAuthenticator({ file, passwordHasher: quickHasher, logger }).start?.();
}

/** The hashes of the rounds, by their number. */
const toHashSync = new Map<number, string>();

async function toHash(round: number): Promise<string> {
  const hash = await quickHasher.hash(`password ${round}`);
  toHashSync.set(round, hash);
  return hash;
}

/** Runs the program, kills it some milliseconds after its first change, and returns the last change that it printed. */
async function runUntilKilled(file: string, round: number, milliseconds: number): Promise<number> {
  const child = spawn(process.execPath, [program, file, String(round)], { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  await once(child.stdout, "data");
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  child.kill("SIGKILL");
  await closed;
  const last = Number(output.trim().split("\n").at(-1));
  for (let known = round; known <= last + 1; known += 1) await toHash(known);
  return last;
}
