import { describe, expect, it } from "vitest";
import type { Authenticator, Verdict } from "../../../src/contracts/authenticator.ts";
import type { Connection } from "../../../src/contracts/connection.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { StorageError } from "../../../src/contracts/storage-adapter.ts";
import { createFileService } from "../../../src/service/service.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { basic, createTestService, sessionOf, type TestServiceOptions } from "../../support/service.ts";

const server = { uuid: "cc5c804d-0a3c-4c4c-b651-eba6fc3b5902" };
const component = { uuid: "dff314a6-c594-48dc-8e34-5270fd6cb635" };
const peer = { address: "192.0.2.1", port: 4711, family: "IPv4", protocol: "TCP" } as const;
const connection: Connection = { peer };
const password = "secret that is nobody's business";
const accepted: Verdict = { outcome: "accepted", account: {} };
const session = /^[\da-f]{32}$/;

/** A service whose methods answer with these verdicts, and the events of it. */
async function createTold(verdicts: readonly (Verdict | Error)[], options: TestServiceOptions = {}) {
  const events: FileEvent[] = [];
  const authentication = verdicts.map((verdict, index) => toMethod(`m${index}`, verdict));
  const onEvent = (event: FileEvent) => (event.id === 40000 || event.id === 40007) && events.push(event);
  const test = await createTestService({
    authentication,
    server,
    component,
    onEvent,
    files: { "/alice/who": "alice" },
    ...options,
  });
  const headers = { authorization: basic("alice", password) };
  const ask = (variant: "json" | "webdav" | "html" = "json") =>
    test.call("GET", "/home/who", { as: null, variant, headers, connection });
  return { ...test, ask, events };
}

function toMethod(name: string, verdict: Verdict | Error): Authenticator {
  return {
    name,
    authenticate: async () => {
      if (verdict instanceof Error) throw verdict;
      return verdict;
    },
  };
}

describe("a login that is accepted", () => {
  it("is told as event 40007, with what each method said (CONTRACT 8)", async () => {
    const { ask, events } = await createTold([
      { outcome: "unknown", message: "Who?" },
      { outcome: "accepted", account: { uuid: "u-1", email: "a@example.org" }, audit: { host: "ldap" } },
    ]);
    const before = Date.now() / 1000;
    expect((await ask()).status).toBe(200);
    const timestamp = { timestamp: expect.any(Number), iso_8601: expect.any(String) };
    expect(events).toEqual([
      {
        id: 40007,
        message: "An account logged in.",
        timestamp,
        account: { uuid: "u-1", name: "alice", email: "a@example.org", peer },
        component: { ...component, type: "http" },
        server,
        data: {
          credentials: { type: "password" },
          verdicts: [
            { method: "m0", outcome: "unknown", message: "Who?" },
            { method: "m1", outcome: "accepted", audit: { host: "ldap" } },
          ],
          session: false,
        },
      },
    ]);
    const told = events[0]?.timestamp;
    expect(told?.timestamp).toBeGreaterThanOrEqual(before);
    expect(told?.iso_8601).toBe(new Date((told?.timestamp ?? 0) * 1000).toISOString());
  });

  it("is told once by a login request, and by no request of its session (CONTRACT 8)", async () => {
    const { call, events } = await createTold([accepted]);
    const body = JSON.stringify({ username: "alice", password });
    const login = await call("POST", "/__svc__/login", {
      as: null,
      variant: "json",
      headers: { "content-type": "application/json" },
      body,
      scheme: "https",
    });
    const id = login.json<{ results: [{ session: string }] }>().results[0].session;
    expect(id).toMatch(session);
    expect(
      (await call("GET", "/home/", { as: null, variant: "json", headers: { authorization: `session ${id}` } })).status,
    ).toBe(200);
    expect(events.map(({ id }) => id)).toEqual([40007]);
    expect(events[0]?.component).toEqual({ ...component, type: "https" });
    expect(JSON.stringify(events)).not.toContain(id);
  });

  it("has the account's name as its uuid, and no e-mail, where the method gives none (2.4)", async () => {
    const { ask, events } = await createTold([accepted]);
    await ask();
    expect(events[0]?.account).toEqual({ uuid: "alice", name: "alice", email: "", peer });
  });
});

describe("a login that is refused", () => {
  it.each<[string, (Verdict | Error)[], string, object[]]>([
    ["no method knows it", [{ outcome: "unknown" }], "unknown", [{ method: "m0", outcome: "unknown" }]],
    [
      "the credentials are rejected",
      [{ outcome: "rejected", message: "Locked.", audit: { code: 7, extra: "x" } }, accepted],
      "credentials",
      [
        {
          method: "m0",
          outcome: "rejected",
          reason: "credentials",
          message: "Locked.",
          audit: { code: 7, extra: "x" },
        },
      ],
    ],
    [
      "what the method asks is down",
      [{ outcome: "rejected", reason: "unavailable", audit: { problems: ["timed out"] } }, accepted],
      "unavailable",
      [{ method: "m0", outcome: "rejected", reason: "unavailable", audit: { problems: ["timed out"] } }],
    ],
    [
      "the method could not judge",
      [{ outcome: "rejected", reason: "failure", audit: { problems: ["timed out"] } }, accepted],
      "failure",
      [{ method: "m0", outcome: "rejected", reason: "failure", audit: { problems: ["timed out"] } }],
    ],
    ["the method throws", [new Error("down")], "failure", [{ method: "m0", outcome: "rejected", reason: "failure" }]],
  ])("is told as event 40000 when %s (CONTRACT 8)", async (_case, verdicts, reason, told) => {
    const { ask, events } = await createTold(verdicts);
    expect((await ask()).status).toBe(401);
    expect(events).toEqual([
      {
        id: 40000,
        message: "A login was refused.",
        timestamp: expect.anything(),
        account: { uuid: "alice", name: "alice", email: "", peer },
        component: { ...component, type: "http" },
        server,
        data: { credentials: { type: "password" }, reason, verdicts: told },
      },
    ]);
  });

  it("is told as event 40000 when its account cannot be used, with the reason that the client does not learn (CONTRACT 7.3, 9.1)", async () => {
    for (const [account, status, details] of [
      [{ home_folder_path: "/nowhere", create_home_folder: false }, 403, "The home folder is missing."],
      [{ group: "staff" }, 401, "group: is not a configured group"],
      [{ email: null }, 401, expect.stringMatching(/^email: /)],
      [{ hom: "/x" }, 401, expect.stringContaining("hom")],
    ] as const) {
      const { ask, events } = await createTold([{ outcome: "accepted", account } as unknown as Verdict]);
      const answer = await ask();
      expect(answer.status).toBe(status);
      expect(answer.text).not.toMatch(/group|missing|email|hom/);
      expect(events).toMatchObject([{ id: 40000, data: { reason: "account", details } }]);
    }
  });

  it("is told as event 40000 when too many have failed (CONTRACT 6.6)", async () => {
    const { ask, events } = await createTold([{ outcome: "rejected" }], { limits: { loginAttempts: 2 } });
    for (let count = 0; count < 3; count += 1) await ask();
    const reasons = events.map(({ data }) => "reason" in data && data.reason);
    expect(reasons).toEqual(["credentials", "credentials", "throttled"]);
    expect(events[2]?.data).toMatchObject({ verdicts: [] });
  });

  it("is told as event 40000 when a browser sent valid credentials from another site (CONTRACT 6.5)", async () => {
    const { call, events } = await createTold([accepted]);
    const headers = { authorization: basic("alice", password), origin: "https://evil.example" };
    expect((await call("PUT", "/home/x", { as: null, headers, body: "x", connection })).status).toBe(403);
    expect(events).toMatchObject([{ id: 40000, account: { name: "alice" }, data: { reason: "cross-site" } }]);
  });

  it("is told as event 40000 when the storage of its home fails, which the client may try again (CONTRACT 1)", async () => {
    const down = () => Promise.reject(new StorageError("unavailable", "The disk is away."));
    const storage = { ...createMemoryStorage(), stat: down, createFolder: down };
    const events: FileEvent[] = [];
    const service = createFileService({
      storage,
      authentication: toMethod("m0", accepted),
      onEvent: (event) => events.push(event),
      logger: createRecordingLogger(),
    });
    const headers = { authorization: basic("alice", password), accept: "application/json" };
    expect((await service.fetch(new Request("http://files.example/home/", { headers }))).status).toBe(503);
    expect(events).toMatchObject([{ id: 40000, data: { reason: "account", details: "The disk is away." } }]);
  });

  it("is told as event 40000 when it was the current password of a change, also beyond the limit (CONTRACT 7.6)", async () => {
    const events: FileEvent[] = [];
    const authentication: Authenticator = {
      ...toMethod("m0", accepted),
      updatePassword: async () => ({ outcome: "wrong-password" }),
    };
    const onEvent = (event: FileEvent) => events.push(event);
    const { call } = await createTestService({ authentication, onEvent, component, limits: { loginAttempts: 2 } });
    const type = { "content-type": "application/json" };
    const credentials = JSON.stringify({ username: "alice", password });
    const login = await call("POST", "/__svc__/login", { as: null, variant: "json", headers: type, body: credentials });
    const headers = { ...type, authorization: `session ${sessionOf(login)}` };
    const body = JSON.stringify({ current_password: "wrong and secret", new_password: "a new long passphrase" });
    for (let count = 0; count < 3; count += 1) {
      const update = await call("POST", "/home/__svc__/password-update", { as: null, variant: "json", headers, body });
      expect(update.status).toBe(422);
    }
    const refusals = events.filter(({ id }) => id === 40000);
    expect(refusals.map(({ data }) => "reason" in data && data.reason)).toEqual([
      "credentials",
      "credentials",
      "throttled",
    ]);
    expect(refusals[0]).toMatchObject({ account: { name: "alice" }, component: { ...component, type: "http" } });
    expect(JSON.stringify(events)).not.toContain("wrong and secret");
  });

  it("does not count as failed when nobody judged it, and looks the same to the client (CONTRACT 6.6)", async () => {
    const failing = await createTold([{ outcome: "rejected", reason: "unavailable" }], {
      limits: { loginAttempts: 2 },
    });
    const rejecting = await createTold([{ outcome: "rejected" }], { limits: { loginAttempts: 2 } });
    for (const variant of ["json", "webdav", "html"] as const) {
      const [one, other] = [await failing.ask(variant), await rejecting.ask(variant)];
      expect({ status: one.status, text: one.text }).toEqual({ status: other.status, text: other.text });
    }
    const reasons = failing.events.map(({ data }) => "reason" in data && data.reason);
    expect(reasons).toEqual(["unavailable", "unavailable", "unavailable"]);
    // An answer that is nonsense may be the remote's word on a wrong password.
    const odd = await createTold([{ outcome: "rejected", reason: "failure" }], { limits: { loginAttempts: 2 } });
    for (let count = 0; count < 3; count += 1) await odd.ask();
    expect(odd.events.map(({ data }) => "reason" in data && data.reason)).toEqual(["failure", "failure", "throttled"]);
  });

  it("stands in the log, a failing method as a warning, without what is for the event alone (2.5)", async () => {
    const audit = { extra: "for the event alone" };
    for (const [verdict, level] of [
      [{ outcome: "rejected", audit }, "info"],
      [{ outcome: "unknown", audit }, "info"],
      [{ outcome: "rejected", reason: "failure", audit }, "warn"],
    ] as const) {
      const { ask, log } = await createTold([verdict]);
      await ask();
      expect(log.entries.map((entry) => entry.level)).toEqual([level]);
      expect(log.entries[0]?.details).toMatchObject({ username: "alice", method: "m0", address: peer.address });
      expect(log.text()).not.toContain("for the event alone");
      expect(log.text()).not.toContain(password);
    }
  });

  it("never has the secret in its event (CONTRACT 8)", async () => {
    for (const verdict of [accepted, { outcome: "unknown" }, { outcome: "rejected" }, new Error("down")] as const) {
      const { ask, events } = await createTold([verdict as Verdict]);
      await ask();
      expect(events).toHaveLength(1);
      expect(JSON.stringify(events)).not.toContain(password);
      expect(JSON.stringify(events)).not.toContain(btoa(`alice:${password}`));
    }
  });
});

describe("a listener of events", () => {
  it.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("sink broken");
      },
    ],
    ["rejects", () => Promise.reject(new Error("sink broken"))],
    ["never ends", () => new Promise(() => undefined)],
  ])("that %s fails no request (CONTRACT 8)", async (what, onEvent) => {
    const { ask, log } = await createTold([accepted], { onEvent });
    expect((await ask()).status).toBe(200);
    expect(log.text().includes("sink broken")).toBe(what !== "never ends");
  });
});

describe("the publicError option", () => {
  const response = { hint: { contact: "help@example.org" }, list: [1, null] };
  const locked: Verdict = {
    outcome: "rejected",
    message: "Locked until <Monday>.",
    publicResponse: response,
    audit: { extra: "audit only" },
  };
  const form = "application/x-www-form-urlencoded";

  it.each(["json", "webdav"] as const)("shows message and response in a %s body (7.2)", async (variant) => {
    const { ask, call } = await createTold([locked], { publicError: true });
    const body = JSON.stringify({ username: "alice", password });
    const headers = { "content-type": "application/json" };
    for (const answer of [await ask(variant), await call("POST", "/__svc__/login", { as: null, headers, body })]) {
      expect(answer.status).toBe(401);
      expect(answer.json()).toEqual({
        errors: [{ message: "Locked until <Monday>.", response, title: "Unauthorized" }],
      });
      expect(answer.header("www-authenticate")).toContain("basic");
    }
  });

  it("shows the message alone in HTML, escaped (7.2)", async () => {
    const { ask, call } = await createTold([locked], { publicError: true });
    const body = `username=alice&password=${encodeURIComponent(password)}`;
    const login = await call("POST", "/__svc__/login", {
      as: null,
      variant: "html",
      headers: { "content-type": form },
      body,
    });
    expect(login.status).toBe(401);
    const byBasic = await ask("html");
    expect(byBasic.status).toBe(302);
    for (const { text } of [login, byBasic]) {
      expect(text).toContain("Locked until &lt;Monday&gt;.");
      expect(text).not.toMatch(/hint|help@example|audit only/);
    }
  });

  it("shows them to clients of JSON whose certificate was rejected, too (7.2)", async () => {
    const { call } = await createTold([locked], { publicError: true });
    const certified = { clientCertificate: { pem: "PEM", commonName: "alice" } };
    const answer = await call("GET", "/home/who", { as: null, variant: "json", connection: certified });
    expect(answer.status).toBe(401);
    expect(answer.json()).toMatchObject({ errors: [{ message: "Locked until <Monday>.", response }] });
  });

  it("off, which is the default, shows nothing of either (7.2)", async () => {
    for (const options of [{}, { publicError: false }]) {
      const { ask } = await createTold([locked], options);
      const own = await createTold([{ outcome: "rejected" }], options);
      for (const variant of ["json", "webdav", "html"] as const) {
        const [answer, plain] = [await ask(variant), await own.ask(variant)];
        expect({ status: answer.status, text: answer.text }).toEqual({ status: plain.status, text: plain.text });
      }
    }
  });

  it.each<[string, Verdict, object]>([
    ["the message alone", { outcome: "rejected", message: "Locked." }, { message: "Locked." }],
    [
      "the response beside our own message",
      { outcome: "rejected", publicResponse: response },
      { message: "The user name or password is wrong.", response },
    ],
    [
      "nothing of an account that a method does not know",
      { outcome: "unknown", message: "Who?" },
      { message: "The user name or password is wrong." },
    ],
    [
      "nothing where the method has nothing to say",
      { outcome: "rejected", audit: "x" },
      { message: "The user name or password is wrong." },
    ],
  ])("shows %s (7.2)", async (_what, verdict, error) => {
    const { ask } = await createTold([verdict], { publicError: true });
    expect((await ask()).json()).toEqual({ errors: [{ ...error, title: "Unauthorized" }] });
  });
});
