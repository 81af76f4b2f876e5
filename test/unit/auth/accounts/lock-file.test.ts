import { mkdtemp, readdir, readFile, rm, unlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { threadId } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { editAccountsFile } from "../../../../src/auth/accounts/edit-file-node.ts";
import { removeLeftoverLock } from "../../../../src/auth/accounts/lock-file-node.ts";
import { processIdentity } from "../../../../src/platform/process-identity-node.ts";

let folder: string;
let file: string;
let lock: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fileferry-accounts-"));
  file = join(folder, "accounts.json");
  lock = join(folder, ".accounts.json.lock");
  await writeFile(file, '{ "accounts": [] }');
});
afterEach(() => rm(folder, { recursive: true }));

const add = (username: string) =>
  editAccountsFile(file, (accounts) => [...accounts, { username, password: "a long passphrase" }]);

async function names(): Promise<readonly string[]> {
  const { accounts } = JSON.parse(await readFile(file, "utf8")) as { accounts: { username: string }[] };
  return accounts.map(({ username }) => username);
}

describe("changes of the accounts file at the same moment", () => {
  it("are all made, and leave nothing else", async () => {
    const wanted = Array.from({ length: 24 }, (_, index) => `user ${String(index).padStart(2, "0")}`);
    await Promise.all(wanted.map(add));
    expect((await names()).toSorted()).toEqual(wanted);
    expect(await readdir(folder)).toEqual(["accounts.json"]);
  });

  it("wait for the one that has the lock", async () => {
    await writeFile(lock, `${processIdentity()} 9999 00`);
    const added = add("alice");
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await names()).toEqual([]);
    await unlink(lock);
    await added;
    expect(await names()).toEqual(["alice"]);
  });

  it("go on after a killed one, and after one that has left an old lock", async () => {
    const [host] = processIdentity().split("-");
    await writeFile(lock, `${host}-4194999-1 0 00`);
    await Promise.all([add("alice"), add("bob")]);
    await writeFile(lock, `${processIdentity()} ${threadId} 00`);
    await add("dan");
    await writeFile(lock, "");
    await utimes(lock, 1, 1);
    await add("carol");
    expect((await names()).toSorted()).toEqual(["alice", "bob", "carol", "dan"]);
    expect(await readdir(folder)).toEqual(["accounts.json"]);
  });

  it("leave nothing after the next start, also if one was killed before its lock had its name", async () => {
    await writeFile(lock, "");
    await removeLeftoverLock(file);
    expect(await readdir(folder)).toEqual(["accounts.json"]);
    await writeFile(lock, `${processIdentity()} 9999 00`);
    await removeLeftoverLock(file);
    expect(await readdir(folder)).toContain(".accounts.json.lock");
  });
});
