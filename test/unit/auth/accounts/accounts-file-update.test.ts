import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type AccountsFileOptions,
  createAccountsFileAuthenticator,
} from "../../../../src/auth/accounts/accounts-file-node.ts";
import type { Authenticator, PasswordUpdateOutcome } from "../../../../src/contracts/authenticator.ts";
import { processIdentity } from "../../../../src/platform/process-identity-node.ts";
import { quickHasher } from "../../../support/quick-hasher.ts";

const TEXT = `{
    "accounts": [
        { "username": "alice", "email": "a@b.example", "password": "one", "uuid": "u-1" },
        { "username": "bob", "password": "two", "permissions": [["allow-read"], ["/x/*", "allow-full-control"]] }
    ]
}
`;

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fileferry-accounts-"));
  file = join(folder, "accounts.json");
  await writeFile(file, TEXT);
});
afterEach(() => rm(folder, { recursive: true }));

describe("a change of password in the accounts file", () => {
  it("counts at once, for new logins as for those that come meanwhile", async () => {
    const authenticator = create();
    expect(await outcome(authenticator, "alice", "one")).toBe("accepted");
    expect(await update(authenticator, "alice", "one", "three")).toEqual({ outcome: "updated" });
    expect(await outcome(authenticator, "alice", "three")).toBe("accepted");
    expect(await outcome(authenticator, "alice", "one")).toBe("rejected");
    expect(await outcome(authenticator, "bob", "two")).toBe("accepted");
  });

  it("changes nothing else: every member stays, in its order, with the indentation", async () => {
    await update(create(), "alice", "one", "three");
    const text = await readFile(file, "utf8");
    const expected = JSON.parse(TEXT);
    expected.accounts[0].password = await quickHasher.hash("three");
    expect(text).toBe(`${JSON.stringify(expected, null, 4)}\n`);
  });

  it("leaves a file of one line in one line", async () => {
    await writeFile(file, '{ "accounts": [ { "username": "alice", "password": "one" } ] }');
    await update(create(), "alice", "one", "three");
    const accounts = [{ username: "alice", password: await quickHasher.hash("three") }];
    expect(await readFile(file, "utf8")).toBe(`${JSON.stringify({ accounts })}\n`);
  });

  it("is refused with a wrong password, and unknown for a name that is not in it", async () => {
    const authenticator = create();
    expect(await update(authenticator, "alice", "two", "three")).toEqual({ outcome: "wrong-password" });
    expect(await update(authenticator, "carol", "one", "three")).toEqual({ outcome: "unknown" });
    expect(await readFile(file, "utf8")).toBe(TEXT);
    expect(await authenticator.canUpdatePassword?.("alice")).toBe("updatable");
    expect(await authenticator.canUpdatePassword?.("carol")).toBe("unknown");
  });

  it("never shows readers less than a whole file", async () => {
    const authenticator = create();
    const readers = Array.from({ length: 4 }, () => create());
    let isDone = false;
    let reads = 0;
    const reading = (async () => {
      while (!isDone) {
        expect(JSON.parse(await readFile(file, "utf8")).accounts).toHaveLength(2);
        for (const reader of readers) expect(await outcome(reader, "bob", "two")).toBe("accepted");
        expect(await outcome(authenticator, "bob", "two")).toBe("accepted");
        reads += 1;
      }
    })().finally(() => {
      isDone = true;
    });
    // A reader that starts in the moment in which a change has made its lock, still empty, waits a second for it.
    for (let round = 0; round < 50 || (reads <= 5 && !isDone); round += 1) {
      const [current, next] = [round === 0 ? "one" : `password ${round}`, `password ${round + 1}`];
      expect(await update(authenticator, "alice", current, next)).toEqual({ outcome: "updated" });
      expect(await outcome(authenticator, "alice", next)).toBe("accepted");
      expect(await outcome(authenticator, "alice", current)).toBe("rejected");
    }
    isDone = true;
    await reading;
    expect(reads).toBeGreaterThan(5);
    expect(await readdir(folder)).toEqual(["accounts.json"]);
  });

  it("of one account happens once, however many ask at once; of two accounts both do", async () => {
    const authenticator = create();
    const alices = Array.from({ length: 10 }, (_, index) => update(authenticator, "alice", "one", `new ${index}`));
    const bobs = update(authenticator, "bob", "two", "three");
    const outcomes = (await Promise.all(alices)).map((result) => result?.outcome);
    expect(outcomes.filter((result) => result === "updated")).toHaveLength(1);
    expect(outcomes.filter((result) => result === "wrong-password")).toHaveLength(9);
    expect(await bobs).toEqual({ outcome: "updated" });
    const fresh = create();
    expect(await outcome(fresh, "alice", `new ${outcomes.indexOf("updated")}`)).toBe("accepted");
    expect(await outcome(fresh, "bob", "three")).toBe("accepted");
  });

  it("does not undo what another process writes meanwhile", async () => {
    let isFirst = true;
    const edited = TEXT.replace('"two"', '"edited"');
    const hash = async (password: string) => {
      if (isFirst) await writeFile(file, edited);
      isFirst = false;
      return quickHasher.hash(password);
    };
    const authenticator = create({ passwordHasher: { ...quickHasher, hash } });
    expect(await update(authenticator, "alice", "one", "three")).toEqual({ outcome: "updated" });
    expect(await outcome(authenticator, "bob", "edited")).toBe("accepted");
    expect(await outcome(authenticator, "alice", "three")).toBe("accepted");
  });

  it("knows before it that the account has changed in the last second, so that no session of before gets its version", async () => {
    const authenticator = create({ recheckSeconds: 1, clock: () => 0 });
    const verdict = await authenticator.authenticate({ type: "password", username: "alice", content: "one" });
    const version = ("version" in verdict && verdict.version) || "";
    await writeFile(join(folder, "new"), TEXT.replace("a@b.example", "other@b.example"));
    await rename(join(folder, "new"), file);
    expect(await authenticator.isCurrent?.("alice", version), "the last check").toBe(true);
    const current: (boolean | undefined)[] = [];
    const beforeChange = async () => {
      current.push(await authenticator.isCurrent?.("alice", version));
    };
    await authenticator.updatePassword?.({
      username: "alice",
      currentPassword: "one",
      newPassword: "three",
      beforeChange,
    });
    expect(current).toEqual([false]);
  });

  it("keeps the file's permissions, and a link to it", async () => {
    const real = join(folder, "real.json");
    await rename(file, real);
    await chmod(real, 0o640);
    await symlink("real.json", file);
    expect(await update(create(), "alice", "one", "three")).toEqual({ outcome: "updated" });
    expect((await stat(real)).mode & 0o777).toBe(0o640);
    expect((await readdir(folder)).sort()).toEqual(["accounts.json", "real.json"]);
    expect(await readFile(real, "utf8")).not.toContain('"one"');
  });

  it("rejects and leaves everything as it was where the file is broken or cannot be replaced", async () => {
    const authenticator = create();
    expect(await outcome(authenticator, "alice", "one")).toBe("accepted");
    await writeFile(file, '{ "accounts": [{ "password": "hidden" }');
    await expect(update(authenticator, "alice", "one", "three")).rejects.not.toThrow("hidden");
    await rm(file);
    await expect(update(authenticator, "alice", "one", "three")).rejects.toThrow("ENOENT");
    expect(await readdir(folder)).toEqual([]);
    expect(await outcome(authenticator, "alice", "one")).toBe("accepted");
  });

  it.each(["a change of password", "the start"])(
    "removes at %s what a crash has left, and nothing else",
    async (when) => {
      const own = processIdentity();
      const [host] = own.split("-");
      const left = [
        // Of a process that has ended, and long ago of one that may run.
        `.accounts.json.${host}-999999999-1-0123456789abcdef.tmp`,
        ".accounts.json.01234567-1-1-0123456789abcdef.tmp",
      ];
      const kept = [
        ".accounts.json.01234567-1-1-fedcba9876543210.tmp",
        `.accounts.json.${own}-0123456789abcdef.tmp`,
        `.accounts.json.${host}-${process.ppid}--0123456789abcdef.tmp`,
        ".accounts.json.x.tmp",
        `.other.json.${host}-999999999-1-0123456789abcdef.tmp`,
        `.accountz.json.${host}-999999999-1-0123456789abcdef.tmp`,
        `.accounts.json.${host}-999999999-1-0123456789abcdef.bak`,
      ];
      for (const name of [...left, ...kept]) await writeFile(join(folder, name), "{");
      const longAgo = new Date(Date.now() - 3_600_000);
      for (const name of [left[1], kept[3]]) await utimes(join(folder, String(name)), longAgo, longAgo);
      if (when === "the start") await create().start?.();
      else await update(create(), "alice", "one", "three");
      expect((await readdir(folder)).sort()).toEqual([...kept, "accounts.json"].sort());
    },
  );
});

function create(options: Partial<AccountsFileOptions> = {}): Authenticator {
  return createAccountsFileAuthenticator({ file, passwordHasher: quickHasher, clock: () => 0, ...options });
}

async function update(
  { updatePassword }: Authenticator,
  username: string,
  currentPassword: string,
  newPassword: string,
): Promise<PasswordUpdateOutcome | undefined> {
  return updatePassword?.({ username, currentPassword, newPassword });
}

async function outcome(authenticator: Authenticator, username: string, content: string): Promise<string> {
  return (await authenticator.authenticate({ type: "password", username, content })).outcome;
}
