import { describe, expect, it } from "vitest";
import { type AccountEntry, createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import { createApiKey } from "../../../src/auth/keys/create-api-key.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import type { KeyValueStore } from "../../../src/contracts/key-value-store.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { TOTP_SECRET, toOneTimePassword, toRecoveryDigest } from "../../support/secrets/totp.ts";
import { basic, bySession, createTestService, type TestServiceOptions } from "../../support/service.ts";

const RECOVERY_CODES = ["7q2m-x0tf-9k4d-hz81", "0123-4567-89ab-cdef"];
const [RECOVERY_CODE = ""] = RECOVERY_CODES;
const TOTP = { secret: TOTP_SECRET, recovery_codes: RECOVERY_CODES.map(toRecoveryDigest) };
const ALICE: AccountEntry = { username: "alice", password: "secret", totp: TOTP };
const BOB: AccountEntry = { username: "bob", password: "hunter2" };
const STEP = 30;

function toMethod(accounts: readonly AccountEntry[]) {
  return createAccountsAuthenticator({ accounts, logger: createRecordingLogger() });
}

/** A service whose account alice has one-time passwords, in the middle of a step. */
async function open(options: TestServiceOptions = {}) {
  const start = Math.floor(Date.now() / 30_000) * 30_000 + 15_000;
  let passed = 0;
  const clock = () => start + 1000 * passed;
  const events: FileEvent[] = [];
  const test = await createTestService({
    authentication: toMethod([ALICE, BOB]),
    files: { "/alice/a.txt": "a" },
    clock,
    onEvent: (event) => void events.push(event),
    ...options,
  });

  /** Logs in by JSON. */
  async function logIn(password: string, code?: string, username = "alice") {
    const body = JSON.stringify({ username, password, ...(code !== undefined && { one_time_password: code }) });
    const headers = { "content-type": "application/json" };
    return test.call("POST", "/__svc__/login", { as: null, variant: "json", headers, body });
  }

  /** What a login by JSON results in: its status and its code. */
  async function tryLogin(password: string, code?: string, username?: string): Promise<string> {
    const answer = await logIn(password, code, username);
    return [answer.status, answer.header("error-code")].filter((part) => part !== null).join(" ");
  }

  async function submit(fields: Readonly<Record<string, string>>) {
    const headers = { "content-type": "application/x-www-form-urlencoded", accept: "text/html" };
    const body = String(new URLSearchParams(fields));
    return test.call("POST", "/__svc__/login", { as: null, headers, body });
  }

  async function tryBasic(password: string): Promise<string> {
    const headers = { authorization: basic("alice", password) };
    const answer = await test.call("GET", "/home/a.txt", { as: null, variant: "json", headers });
    return [answer.status, answer.header("error-code")].filter((part) => part !== null).join(" ");
  }

  return {
    ...test,
    events,
    logIn,
    tryLogin,
    tryBasic,
    submit,
    codeAt: (steps = 0) => toOneTimePassword(clock() + 1000 * STEP * steps),
    advance(seconds: number) {
      passed += seconds;
    },
  };
}

const REQUIRED = "401 second-factor-required";
const WRONG = "401 second-factor-wrong";
const REFUSED = "401 credentials-wrong";
const NO_CODE = "770077";

describe("a login by JSON of an account with one-time passwords", () => {
  it("needs the one of now, and says so after the right password only", async () => {
    const { logIn, tryLogin, codeAt, call } = await open();
    expect(await tryLogin("wrong")).toBe(REFUSED);
    expect(await tryLogin("wrong", codeAt())).toBe(REFUSED);
    expect(await tryLogin("secret", codeAt(), "carol")).toBe(REFUSED);
    const refused = await logIn("secret");
    expect([refused.status, refused.header("error-code")]).toEqual([401, "second-factor-required"]);
    expect(refused.header("www-authenticate")).toBeTruthy();
    expect(refused.json()).toMatchObject({ errors: [{ message: "This account also needs a one-time password." }] });
    expect(await tryLogin("secret", "")).toBe(REQUIRED);
    const accepted = await logIn("secret", codeAt());
    expect(accepted.status).toBe(200);
    const { results } = accepted.json() as { results: readonly [{ session: string }] };
    const read = await call("GET", "/home/a.txt", { as: null, headers: bySession(results[0].session) });
    expect(read.text).toBe("a");
  });

  it("takes the one before and the one after, with blanks, and no other", async () => {
    const { tryLogin, codeAt } = await open();
    expect(await tryLogin("secret", codeAt(-2))).toBe(WRONG);
    expect(await tryLogin("secret", codeAt(2))).toBe(WRONG);
    expect(await tryLogin("secret", codeAt(-1))).toBe("200");
    expect(await tryLogin("secret", codeAt(1).replace(/(?=.{3}$)/, " "))).toBe("200");
  });

  it("of another account takes and ignores one", async () => {
    const { tryLogin } = await open();
    expect(await tryLogin("hunter2", undefined, "bob")).toBe("200");
    expect(await tryLogin("hunter2", NO_CODE, "bob")).toBe("200");
  });

  it.each([
    [59, "287082"],
    [1_111_111_111, "050471"],
    [20_000_000_000, "353130"],
  ])("at %d s takes %s (RFC 6238 B)", async (seconds, code) => {
    const { tryLogin } = await open({ clock: () => 1000 * seconds });
    expect(await tryLogin("secret", code)).toBe("200");
  });
});

/** Stores with and without an atomic step. */
const STORES: readonly (readonly [string, () => KeyValueStore])[] = [
  ["an atomic store", createMemoryKeyValueStore],
  [
    "a store with get and set",
    () => {
      const { get, set, delete: remove } = createMemoryKeyValueStore();
      return { get, set, delete: remove };
    },
  ],
];

describe("a one-time password", () => {
  it.each(STORES)("is accepted once, also of two requests at once, with %s", async (_name, createStore) => {
    const { tryLogin, codeAt, advance } = await open({ session: { store: createStore() } });
    expect((await Promise.all([1, 2, 3].map(() => tryLogin("secret", codeAt())))).toSorted()).toEqual([
      "200",
      WRONG,
      WRONG,
    ]);
    expect(await tryLogin("secret", codeAt())).toBe(WRONG);
    advance(STEP);
    expect(await tryLogin("secret", codeAt(-1))).toBe(WRONG);
    expect(await tryLogin("secret", codeAt())).toBe("200");
  });

  it("is not accepted after a later one", async () => {
    const { tryLogin, codeAt } = await open();
    expect(await tryLogin("secret", codeAt(1))).toBe("200");
    expect(await tryLogin("secret", codeAt())).toBe(WRONG);
  });

  it("is accepted once by all processes on a store", async () => {
    const store = createMemoryKeyValueStore();
    const options = { limits: { loginStore: store } };
    const [one, other] = await Promise.all([open(options), open(options)]);
    const code = one.codeAt();
    const results = await Promise.all([one.tryLogin("secret", code), other.tryLogin("secret", code)]);
    expect(results.toSorted()).toEqual(["200", WRONG]);
  });

  it("is refused with 503 while the store fails", async () => {
    const store = { ...createMemoryKeyValueStore(), replace: () => Promise.reject(new Error("down")) };
    const { tryLogin, codeAt } = await open({ limits: { loginStore: store } });
    expect(await tryLogin("secret", codeAt())).toBe("503 login-store-unavailable");
    expect(await tryLogin("secret")).toBe(REQUIRED);
  });
});

describe("a recovery code", () => {
  it.each(STORES)("works once in place of a one-time password, also of two at once, with %s", async (_name, create) => {
    const { tryLogin } = await open({ session: { store: create() } });
    const written = RECOVERY_CODE.toUpperCase().replaceAll("-", " ");
    const results = await Promise.all([tryLogin("secret", RECOVERY_CODE), tryLogin("secret", written)]);
    expect(results.toSorted()).toEqual(["200", WRONG]);
    expect(await tryLogin("secret", RECOVERY_CODE)).toBe(WRONG);
    expect(await tryLogin("wrong", RECOVERY_CODES[1])).toBe(REFUSED);
    expect(await tryLogin("secret", RECOVERY_CODES[1])).toBe("200");
    expect(await tryLogin("secret", toRecoveryDigest(RECOVERY_CODE))).toBe(WRONG);
  });
});

describe("failed logins with one-time passwords", () => {
  it("count as those with a wrong password", async () => {
    const { tryLogin, codeAt } = await open();
    for (let count = 0; count < 5; count++) expect(await tryLogin("wrong")).toBe(REFUSED);
    for (let count = 0; count < 5; count++) expect(await tryLogin("secret", NO_CODE)).toBe(WRONG);
    expect(await tryLogin("secret", codeAt())).toBe(REFUSED);
    expect(await tryLogin("secret")).toBe(REFUSED);
  });

  it.each(["the login", "HTTP Basic"])("are not forgotten by the password alone at %s", async (way) => {
    const { tryLogin, tryBasic, codeAt } = await open();
    for (let count = 0; count < 9; count++) {
      expect(await tryLogin("secret", NO_CODE)).toBe(WRONG);
      expect(await (way === "the login" ? tryLogin("secret") : tryBasic("secret"))).toMatch(/required$/);
    }
    expect(await tryLogin("secret", NO_CODE)).toBe(WRONG);
    expect(await tryLogin("secret", codeAt())).toBe(REFUSED);
    expect(await tryBasic("secret")).toBe(REFUSED);
  });

  it("are forgotten by a complete login", async () => {
    const { tryLogin, codeAt } = await open();
    for (let count = 0; count < 9; count++) await tryLogin("secret", NO_CODE);
    expect(await tryLogin("secret", codeAt())).toBe("200");
    expect(await tryLogin("secret", NO_CODE)).toBe(WRONG);
    expect(await tryLogin("secret")).toBe(REQUIRED);
  });

  it("do not count while the password alone is asked for", async () => {
    const { tryLogin, codeAt } = await open();
    for (let count = 0; count < 30; count++) expect(await tryLogin("secret")).toBe(REQUIRED);
    expect(await tryLogin("secret", codeAt())).toBe("200");
  });
});

describe("the login page", () => {
  it("asks for a one-time password after the right password, and keeps the name and the page to return to", async () => {
    const { submit, codeAt, call } = await open();
    expect((await call("GET", "/__svc__/login", { as: null, variant: "html" })).text).not.toContain(
      "one_time_password",
    );
    const form = { username: "alice", return: "/home/a.txt" };
    const wrong = await submit({ ...form, password: "wrong" });
    expect(wrong.text).not.toContain("one_time_password");
    for (const [more, alert] of [
      [{}, "This account also needs a one-time password."],
      [{ one_time_password: NO_CODE }, "The one-time password or recovery code is wrong, or was used before."],
    ] as const) {
      const asked = await submit({ ...form, password: "secret", ...more });
      expect(asked.status).toBe(401);
      expect(asked.text).toContain(alert);
      expect(asked.text).toMatch(
        /<input id="code" name="one_time_password" autocomplete="one-time-code"[^>]* required>/,
      );
      expect(asked.text).toContain('value="alice"');
      expect(asked.text).toContain('name="return" value="/home/a.txt"');
      for (const secret of ['"secret"', NO_CODE]) expect(asked.text).not.toContain(secret);
    }
    const accepted = await submit({ ...form, password: "secret", one_time_password: codeAt() });
    expect([accepted.status, accepted.header("location")]).toEqual([302, "/home/a.txt"]);
    expect(accepted.header("set-cookie")).toContain("SVC_HTTP_SESSION=");
  });

  it("keeps the field after a wrong password", async () => {
    const { submit } = await open();
    const refused = await submit({ username: "alice", password: "wrong", one_time_password: NO_CODE });
    expect(refused.text).toContain("The user name or password is wrong.");
    expect(refused.text).toContain("one_time_password");
  });
});

describe("HTTP Basic for an account with one-time passwords", () => {
  it("takes an API key and not the password, with a login remembered or not", async () => {
    const { key, text } = createApiKey({ label: "backup" });
    const authentication = toMethod([{ ...ALICE, keys: [key] }]);
    for (const basicCacheSeconds of [undefined, 0, 3600]) {
      const { tryBasic, tryLogin, codeAt, call } = await open({
        authentication,
        ...(basicCacheSeconds !== undefined && { basicCacheSeconds }),
      });
      const both = await Promise.all([tryBasic("secret"), tryBasic("secret")]);
      expect(both).toEqual(["401 key-required", "401 key-required"]);
      expect(await tryBasic("wrong")).toBe(REFUSED);
      expect(await tryLogin("secret", codeAt())).toBe("200");
      expect(await tryBasic("secret")).toBe("401 key-required");
      expect(await tryBasic(text)).toBe("200");
      const headers = { authorization: `Bearer ${text}` };
      expect((await call("GET", "/home/a.txt", { as: null, headers })).text).toBe("a");
    }
  });

  it("forgets logins that it remembers when the account gets them", async () => {
    let current = toMethod([{ username: "alice", password: "secret" }]);
    const authentication = new Proxy(current, { get: (_first, name) => Reflect.get(current, name) });
    const { tryBasic } = await open({ authentication });
    expect(await tryBasic("secret")).toBe("200");
    current = toMethod([ALICE]);
    expect(await tryBasic("secret")).toBe("401 key-required");
    current = toMethod([{ username: "alice", password: "secret" }]);
    expect(await tryBasic("secret")).toBe("200");
  });
});

describe("sessions of an account", () => {
  it.each<[string, AccountEntry["totp"] | undefined, number]>([
    ["end when it gets no one-time passwords any more", undefined, 401],
    ["end when it gets another secret", { ...TOTP, secret: TOTP_SECRET.replace("G", "H") }, 401],
    ["stay when recovery codes are used up", { secret: TOTP_SECRET }, 200],
  ])("%s", async (_case, totp, status) => {
    let current = toMethod([ALICE]);
    const authentication = new Proxy(current, { get: (_first, name) => Reflect.get(current, name) });
    const { logIn, codeAt, call } = await open({ authentication });
    const { results } = (await logIn("secret", codeAt())).json() as { results: readonly [{ session: string }] };
    const headers = bySession(results[0].session);
    expect((await call("GET", "/home/a.txt", { as: null, headers })).status).toBe(200);
    const { totp: _, ...alice } = ALICE;
    current = toMethod([totp === undefined ? alice : { ...alice, totp }]);
    expect((await call("GET", "/home/a.txt", { as: null, headers })).status).toBe(status);
  });
});

describe("events and the log", () => {
  it("say why a login was refused, and have neither secrets nor codes", async () => {
    const { tryLogin, tryBasic, events, log } = await open({ clock: () => 1_234_567_890_000 });
    const code = "005924";
    await tryLogin("secret");
    await tryLogin("secret", NO_CODE);
    await tryLogin("secret", code);
    await tryLogin("secret", code);
    await tryLogin("secret", RECOVERY_CODE);
    await tryLogin("secret", RECOVERY_CODE);
    await tryBasic("secret");
    const accepted = { verdicts: [{ method: "accounts", outcome: "accepted" }] };
    expect(events.map(({ id, data }) => [id, data])).toEqual([
      [40000, { credentials: { type: "password" }, ...accepted, reason: "second-factor-required" }],
      [40000, { credentials: { type: "password" }, ...accepted, reason: "second-factor-wrong" }],
      [40007, { credentials: { type: "password" }, ...accepted, session: true }],
      [40000, { credentials: { type: "password" }, ...accepted, reason: "second-factor-wrong" }],
      [40007, { credentials: { type: "password" }, ...accepted, session: true }],
      [40000, { credentials: { type: "password" }, ...accepted, reason: "second-factor-wrong" }],
      [40000, { credentials: { type: "password" }, ...accepted, reason: "key-required" }],
    ]);
    const all = JSON.stringify([events, log]);
    const digest = toRecoveryDigest(RECOVERY_CODE);
    for (const secret of [TOTP_SECRET, code, NO_CODE, RECOVERY_CODE, digest]) expect(all).not.toContain(secret);
  });
});

describe("a method of the host", () => {
  it("may ask for a second factor, and uses recovery codes up itself", async () => {
    const left = new Set(TOTP.recovery_codes);
    const secondFactor = { totp: TOTP, useRecoveryCode: async (sha256: string) => left.delete(sha256) };
    const authenticate = async () => ({ outcome: "second-factor", account: {}, secondFactor }) as const;
    const { tryLogin, codeAt } = await open({ authentication: { name: "own", authenticate } });
    expect(await tryLogin("secret")).toBe(REQUIRED);
    expect(await tryLogin("secret", codeAt())).toBe("200");
    const results = await Promise.all([tryLogin("secret", RECOVERY_CODE), tryLogin("secret", RECOVERY_CODE)]);
    expect(results.toSorted()).toEqual(["200", WRONG]);
    expect(left.size).toBe(1);
  });

  it("fails closed with a second factor that cannot be verified", async () => {
    for (const secondFactor of [undefined, {}, { totp: { secret: "x" } }]) {
      const verdict = { outcome: "second-factor", account: {}, secondFactor };
      const authenticate = async () => verdict as never;
      const { tryLogin, codeAt } = await open({ authentication: { name: "own", authenticate } });
      expect(await tryLogin("secret", codeAt())).toBe(REFUSED);
    }
  });
});

describe("guesses of one-time passwords, by someone who has the password", () => {
  const THROTTLED = "401 second-factor-throttled";

  async function openGuessed() {
    const test = await open();
    let address = 0;
    /** Each guess comes from another network. */
    const guess = async (code: string) => {
      address += 1;
      const peer = {
        address: `10.${address >> 8}.${address & 255}.1`,
        port: 1,
        family: "IPv4",
        protocol: "TCP",
      } as const;
      const body = JSON.stringify({ username: "alice", password: "secret", one_time_password: code });
      const headers = { "content-type": "application/json" };
      const answer = await test.call("POST", "/__svc__/login", {
        as: null,
        variant: "json",
        headers,
        body,
        connection: { peer },
      });
      return [answer.status, answer.header("error-code")].filter((part) => part !== null).join(" ");
    };
    /** As many as a day allows, some minutes apart, as the name is throttled too. */
    async function guessAll(): Promise<void> {
      for (let count = 0; count < 50; count += 1) {
        expect(await guess(NO_CODE)).toBe(WRONG);
        test.advance(60);
      }
    }
    return { ...test, guess, guessAll };
  }

  it("end after 50 a day, wherever they come from; recovery codes still count, and the next day is another one", async () => {
    const { guess, guessAll, codeAt, advance, events } = await openGuessed();
    await guessAll();
    expect(await guess(codeAt())).toBe(THROTTLED);
    expect(await guess("0000-0000-0000-0000")).toBe(WRONG);
    expect(await guess(RECOVERY_CODE)).toBe("200");
    expect(events.filter(({ id }) => id === 40000).map(({ data }) => (data as { reason: string }).reason)).toContain(
      "second-factor-throttled",
    );
    advance(86_400);
    expect(await guess(codeAt())).toBe("200");
  });

  it("are no more if they come at the same moment", async () => {
    const { guess, advance } = await openGuessed();
    for (let round = 0; round < 2; round += 1) {
      await Promise.all(Array.from({ length: 40 }, () => guess(NO_CODE)));
      advance(1200);
    }
    expect(await guess(NO_CODE)).toBe(THROTTLED);
  });

  it("leave out one-time passwords that were used before", async () => {
    const { guess, codeAt, advance } = await openGuessed();
    expect(await guess(codeAt())).toBe("200");
    const used = codeAt();
    for (let count = 0; count < 60; count += 1) expect(await guess(used)).toBe(WRONG);
    advance(STEP);
    expect(await guess(codeAt())).toBe("200");
  });
});
