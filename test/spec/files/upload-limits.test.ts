import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import { describeIssues } from "../../../src/cli/config/issues.ts";
import { configFileSchema } from "../../../src/cli/config/schema.ts";
import type { FileServiceOptions } from "../../../src/config/options.ts";
import type { AccountSettings, GroupSettings } from "../../../src/contracts/account.ts";
import { accountSettingsSchema, groupSettingsSchema } from "../../../src/schemas/account.ts";
import { authenticationSuccessSchema } from "../../../src/schemas/remote-auth.ts";
import { createAccountOpener } from "../../../src/service/account-opener.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { recordedBody, streamOf } from "../../support/bodies.ts";
import { sendForm, sendFormForJson, uploadsOf } from "../../support/forms.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { createTestService, type TestService, variants } from "../../support/service.ts";

const LIMIT = 10;
const FITS = "x".repeat(LIMIT);
const TOO_LARGE = `${FITS}x`;
const limits = { maxFileBytes: LIMIT };

describe("a file that is larger than allowed", () => {
  it.each(variants)(
    "is 413 by its announced length, before its content is read (%s; CONTRACT 1, 4.3)",
    async (variant) => {
      const { call, stored } = await createTestService({ limits, files: { "/alice/a": "former" } });
      for (const name of ["a", "new"]) {
        const body = recordedBody("never read");
        const headers = { "content-length": String(LIMIT + 1) };
        const answer = await call("PUT", `/home/${name}`, { variant, headers, body: body.stream });
        expect(answer.status).toBe(413);
        expect(body.pulls()).toBe(0);
      }
      expect([await stored("/alice/a"), await stored("/alice/new")]).toEqual(["former", undefined]);
    },
  );

  it.each(variants)(
    "is 413 by count midway, with nothing left of it (%s; CONTRACT 4.1, SECURITY 12)",
    async (variant) => {
      const { call, stored } = await createTestService({ limits, files: { "/alice/a": "former" } });
      for (const name of ["a", "new"]) {
        const body = recordedBody("12345", "67890", "1", "one", "ahead", "never", "read");
        expect((await call("PUT", `/home/${name}`, { variant, body: body.stream })).status).toBe(413);
        // A body of this platform reads one chunk ahead.
        expect(body.pulls()).toBeLessThan(5);
      }
      expect([await stored("/alice/a"), await stored("/alice/new")]).toEqual(["former", undefined]);
      expect((await call("GET", "/home/", { variant: "json" })).json()).toMatchObject({ content: [{ name: "a" }] });
    },
  );

  it("says so, in the client's language (CONTRACT 1)", async () => {
    const { call } = await createTestService({ limits });
    const json = await call("PUT", "/home/a", { variant: "json", body: TOO_LARGE });
    expect(json.json()).toEqual({ errors: [{ message: "The file is larger than 10 bytes." }] });
    const german = await call("PUT", "/home/a", {
      variant: "html",
      body: TOO_LARGE,
      headers: { "accept-language": "de" },
    });
    expect(german.text).toContain("Die Datei ist größer als 10 Byte.");
  });

  it("is refused by its own count, whatever length was announced (SECURITY 12)", async () => {
    const { call, stored } = await createTestService({ limits });
    const headers = { "content-length": "3" };
    expect((await call("PUT", "/home/a", { headers, body: streamOf(TOO_LARGE) })).status).toBe(413);
    expect((await call("PUT", "/home/a", { headers, body: streamOf(FITS) })).status).toBe(400);
    expect(await stored("/alice/a")).toBeUndefined();
  });

  it("is a failed condition or a missing permission first: those say more (CONTRACT 1)", async () => {
    const { call } = await createTestService({ limits, files: { "/alice/a": "former" } });
    const put = (path: string, headers: Record<string, string> = {}) =>
      call("PUT", path, { variant: "json", headers, body: TOO_LARGE });
    expect((await put("/home/a", { "if-none-match": "*" })).status).toBe(412);
    expect((await put("/home/__svc__/a")).status).toBe(403);
  });

  it("is no failure of ours: nothing is logged", async () => {
    const { call, log } = await createTestService({ limits });
    await call("PUT", "/home/a", { body: TOO_LARGE });
    await call("PUT", "/home/a", { body: streamOf(TOO_LARGE) });
    expect(log.entries).toEqual([]);
  });
});

describe("a file within its limit", () => {
  it("is stored up to the last byte, announced or not (4.2)", async () => {
    const { call, stored } = await createTestService({ limits });
    expect((await call("PUT", "/home/a", { body: FITS })).status).toBe(201);
    expect((await call("PUT", "/home/b", { body: streamOf("123", "4567890") })).status).toBe(201);
    expect((await call("PUT", "/home/c", { body: "" })).status).toBe(201);
    expect([await stored("/alice/a"), await stored("/alice/b"), await stored("/alice/c")]).toEqual([
      FITS,
      "1234567890",
      "",
    ]);
  });

  it("may be larger without a limit, which is the default (CONTRACT 10)", async () => {
    for (const none of [undefined, {}, { maxFileBytes: 0 }]) {
      const { call } = await createTestService(none && { limits: none });
      expect((await call("PUT", "/home/a", { body: "x".repeat(100_000) })).status).toBe(201);
    }
  });
});

describe("the files of a form", () => {
  const files = uploadsOf({ "small.txt": "1", "large.txt": TOO_LARGE, "exact.txt": FITS });
  const action = ["action", "upload-file"] as const;

  async function contents({ stored }: TestService): Promise<readonly (string | undefined)[]> {
    return [await stored("/alice/small.txt"), await stored("/alice/large.txt"), await stored("/alice/exact.txt")];
  }

  it.each([
    ["behind their action", [action, ...files]],
    ["before their action", [...files, action]],
  ] as const)(
    "have a limit each: one that is too large is 413, and the others are stored (%s; CONTRACT 4.6)",
    async (_where, entries) => {
      const test = await createTestService({ limits });
      const answer = await sendForm(test, "/home/", entries);
      expect(answer.status).toBe(413);
      expect(answer.text).toContain("large.txt");
      expect(answer.text).toContain("The file is larger than 10 bytes.");
      expect(await contents(test)).toEqual(["1", undefined, FITS]);
    },
  );

  it("are told of one by one in JSON (CONTRACT 4.6)", async () => {
    const test = await createTestService({ limits });
    const answer = await sendFormForJson(test, "/home/", [action, ...files]);
    expect(answer.status).toBe(422);
    expect(answer.json()).toEqual({
      errors: [
        { target: "small.txt", message: null },
        { target: "large.txt", message: "The file is larger than 10 bytes." },
        { target: "exact.txt", message: null },
      ],
    });
    expect(await contents(test)).toEqual(["1", undefined, FITS]);
  });

  it("may be larger together than one may be", async () => {
    const test = await createTestService({ limits });
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`${index}.txt`, FITS]));
    expect((await sendForm(test, "/home/", [action, ...uploadsOf(many)])).status).toBe(303);
  });
});

describe("the limit of an account", () => {
  /** A service that alice uses, with what one file of hers may hold. */
  async function statusesOf(
    sizes: readonly number[],
    settings: AccountSettings,
    options: Partial<FileServiceOptions> = {},
  ): Promise<readonly number[]> {
    const account = { username: "alice", password: "secret", ...settings };
    const authentication = createAccountsAuthenticator({ accounts: [account], logger: createRecordingLogger() });
    const { call } = await createTestService({ authentication, ...options });
    const statuses: number[] = [];
    for (const size of sizes) statuses.push((await call("PUT", "/home/a", { body: "x".repeat(size) })).status);
    return statuses;
  }

  const groups = {
    DEFAULT_GROUP: { max_file_bytes: 7 },
    staff: { max_file_bytes: 9 },
    free: { max_file_bytes: 0 },
    silent: {},
  };

  it.each<readonly [what: string, settings: AccountSettings, allowed: number]>([
    ["its own", { group: "staff", max_file_bytes: 5 }, 5],
    ["its own, also when it is the larger one", { group: "staff", max_file_bytes: 12 }, 12],
    ["its group's where it has none", { group: "staff" }, 9],
    ["the default group's where its group has none", { group: "silent" }, 7],
    ["the default group's where it names no group", {}, 7],
  ])("is %s (CONTRACT 7.1)", async (_what, settings, allowed) => {
    expect(await statusesOf([allowed, allowed + 1], settings, { groups })).toEqual([201, 413]);
  });

  it.each<readonly [what: string, settings: AccountSettings]>([
    ["of its own", { group: "staff", max_file_bytes: 0 }],
    ["of its group", { group: "free" }],
  ])("is none with a 0 %s, whatever would come behind it", async (_what, settings) => {
    expect(await statusesOf([1000], settings, { groups })).toEqual([201]);
  });

  it("and the service's: the smaller one counts", async () => {
    expect(await statusesOf([5, 6], { max_file_bytes: 5 }, { limits })).toEqual([201, 413]);
    expect(await statusesOf([10, 11], { max_file_bytes: 50 }, { limits })).toEqual([201, 413]);
    expect(await statusesOf([10, 11], { max_file_bytes: 0 }, { limits })).toEqual([201, 413]);
  });

  it("holds in a session as well", async () => {
    const account = { username: "alice", password: "secret", max_file_bytes: 5 };
    const authentication = createAccountsAuthenticator({ accounts: [account], logger: createRecordingLogger() });
    const { call, login } = await createTestService({ authentication });
    const headers = { authorization: `session ${await login()}` };
    const body = () => ({ as: null, headers, body: streamOf("123456") });
    expect((await call("PUT", "/home/a", body())).status).toBe(413);
  });

  it("is kept for hosts of other protocols too (SECURITY 12)", async () => {
    const storage = createMemoryStorage();
    const openAccount = createAccountOpener({ storage, groups, limits });
    const content = async function* () {
      yield new Uint8Array(8);
    };
    const own = await openAccount("alice", {});
    await expect(own.write(["a"], content())).rejects.toMatchObject({ name: "HttpError", failure: "too-large" });
    const free = await openAccount("bob", { group: "free" });
    await free.write(["a"], content());
    await expect(free.write(["a"], content(), { size: 11 })).rejects.toMatchObject({ failure: "too-large" });
    expect(await own.stat(["a"], "read")).toBeUndefined();
    expect(() => createAccountOpener({ storage, limits: { maxFileBytes: -1 } })).toThrow(
      /^The option limits\.maxFileBytes /,
    );
  });
});

describe("the limit as it is configured", () => {
  const wrong: readonly unknown[] = [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "10", null, true];

  it.each(wrong)("is not %s: the service names the option (CONTRACT 10)", async (maxFileBytes) => {
    const made = createTestService({ limits: { maxFileBytes } as never });
    await expect(made).rejects.toThrow(/^The option limits\.maxFileBytes must be a whole number of bytes, or 0\.$/);
  });

  it.each(wrong)("is not %s for an account or a group", (max_file_bytes) => {
    expect(accountSettingsSchema.safeParse({ max_file_bytes }).success).toBe(false);
    expect(groupSettingsSchema.safeParse({ max_file_bytes }).success).toBe(false);
    const make = () => createTestService({ groups: { staff: { max_file_bytes } as GroupSettings } });
    return expect(make()).rejects.toThrow(/^The option groups\.staff\.max_file_bytes /);
  });

  it("may stand in a configuration file, for all, a group and an account (CONTRACT 10)", () => {
    const account = { username: "alice", password: "secret", max_file_bytes: 5 };
    const config = {
      limits: { maxFileBytes: 1_000_000 },
      groups: { staff: { max_file_bytes: 0 } },
      authentication: [{ type: "accounts", accounts: [account] }],
    };
    expect(configFileSchema.parse(config)).toEqual(config);
    const bad = configFileSchema.safeParse({
      limits: { maxFileBytes: -5 },
      groups: { staff: { max_file_bytes: "5" } },
      authentication: [{ type: "accounts", accounts: [{ ...account, max_file_bytes: -1 }] }],
    });
    expect(bad.error && describeIssues(bad.error).toSorted()).toEqual([
      "authentication[0].accounts[0].max_file_bytes: must not be negative",
      "groups.staff.max_file_bytes: expected number, received string",
      "limits.maxFileBytes: must be a whole number of bytes, or 0",
    ]);
  });

  it("cannot come from a remote endpoint, whose members are closed: it names a group (2.4)", () => {
    expect(authenticationSuccessSchema.safeParse({ account: { max_file_bytes: 5 } }).success).toBe(false);
    expect(authenticationSuccessSchema.safeParse({ account: { group: "staff" } }).success).toBe(true);
  });
});
