import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAccountsFileAuthenticator } from "../../../../src/auth/accounts/accounts-file-node.ts";
import type { Authenticator, PasswordAccepted } from "../../../../src/contracts/authenticator.ts";
import { createRecordingLogger } from "../../../support/logger.ts";
import { quickHasher } from "../../../support/quick-hasher.ts";
import { TOTP_SECRET, toRecoveryDigest } from "../../../support/secrets/totp.ts";

const CODES = ["7q2m-x0tf-9k4d-hz81", "0123-4567-89ab-cdef"].map(toRecoveryDigest);
const [CODE = "", OTHER = ""] = CODES;
const ALICE = {
  password: "one",
  totp: { secret: TOTP_SECRET, recovery_codes: CODES },
  username: "alice",
  email: "a@b.c",
};
const BOB = { username: "bob", password: "two", totp: { secret: TOTP_SECRET, recovery_codes: CODES } };

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fileferry-accounts-"));
  file = join(folder, "accounts.json");
  await write(ALICE, BOB);
});
afterEach(() => rm(folder, { recursive: true }));

describe("one-time passwords in the accounts file", () => {
  it("are needed after the right password, and not after a wrong one or for a disabled account", async () => {
    const authenticator = create();
    expect(await verify(authenticator, "one")).toMatchObject({
      ...{ outcome: "second-factor", account: { email: "a@b.c" } },
      secondFactor: { totp: ALICE.totp },
    });
    expect(await verify(authenticator, "wrong")).toEqual({ outcome: "rejected" });
    await write({ ...ALICE, disabled: true });
    expect(await verify(authenticator, "one")).toEqual({ outcome: "rejected" });
  });

  it("are not in the settings that are looked up", async () => {
    expect(await create().lookup?.("alice")).toEqual({ outcome: "found", account: { email: "a@b.c" } });
  });

  it("make a version outdated when their secret changes, but not when a recovery code is used", async () => {
    const authenticator = create();
    const { version = "", secondFactor } = (await verify(authenticator, "one")) as PasswordAccepted;
    await secondFactor.useRecoveryCode?.(CODE);
    expect(await authenticator.isCurrent?.("alice", version)).toBe(true);
    await write({ ...ALICE, totp: { ...ALICE.totp, secret: TOTP_SECRET.replace("G", "H") } });
    expect(await authenticator.isCurrent?.("alice", version)).toBe(false);
  });

  it("stay with the password's change, whose version is current", async () => {
    const authenticator = create();
    const change = { username: "alice", currentPassword: "one", newPassword: "three" };
    let version = "";
    const beforeChange = async (next = "") => {
      version = next;
    };
    expect(await authenticator.updatePassword?.({ ...change, beforeChange })).toEqual({ outcome: "updated" });
    expect(await authenticator.isCurrent?.("alice", version)).toBe(true);
    expect((await read())[0]?.totp).toEqual(ALICE.totp);
  });
});

describe("a recovery code in the accounts file", () => {
  it("is used once by all processes at once, and removed from its account alone", async () => {
    const methods = [create(), create(), create()];
    const verdicts = (await Promise.all(methods.map((method) => verify(method, "one")))) as PasswordAccepted[];
    const uses = await Promise.all(verdicts.map(({ secondFactor }) => secondFactor.useRecoveryCode?.(CODE)));
    expect(uses.toSorted()).toEqual([false, false, true]);
    const left = { secret: TOTP_SECRET, recovery_codes: [OTHER] };
    expect(await read()).toEqual([{ ...ALICE, totp: left }, BOB]);
    expect(Object.keys((await read())[0] ?? {})).toEqual(["password", "totp", "username", "email"]);
    for (const method of methods) expect(await verify(method, "one")).toMatchObject({ secondFactor: { totp: left } });
  });
});

describe("an accounts file with one-time passwords that are not valid", () => {
  it("is refused, without their values", async () => {
    await write({ ...ALICE, totp: { secret: "TOPSECRET" } });
    const error = await create()
      .start?.()
      .catch((reason: Error) => reason);
    expect(String(error)).toMatch(/accounts\[0\]\.totp\.secret: must be Base32/);
    expect(String(error)).not.toContain("TOPSECRET");
  });
});

function create(): Authenticator {
  let seconds = 0;
  return createAccountsFileAuthenticator({
    ...{ file, passwordHasher: quickHasher, logger: createRecordingLogger(), recheckSeconds: 0 },
    // So much later that each call looks at the file.
    clock: () => 2000 * seconds++,
  });
}

function verify(authenticator: Authenticator, content: string) {
  return authenticator.authenticate({ type: "password", username: "alice", content });
}

async function write(...accounts: readonly object[]): Promise<void> {
  await writeFile(file, JSON.stringify({ accounts }));
}

async function read(): Promise<readonly { readonly totp?: unknown }[]> {
  return JSON.parse(await readFile(file, "utf8")).accounts;
}
