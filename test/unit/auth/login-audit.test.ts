import { beforeEach, describe, expect, it } from "vitest";
import { createLoginAudit, type LoginAttempt, type LoginAudit } from "../../../src/auth/login-audit.ts";
import type { Credentials } from "../../../src/contracts/authenticator.ts";
import { type Component, NIL_UUID } from "../../../src/contracts/connection.ts";
import type { RefusalReason } from "../../../src/contracts/events/logins.ts";
import type { EventDraft } from "../../../src/events/emitter.ts";
import { createRecordingLogger, type RecordingLogger } from "../../support/logger.ts";

const now = 1_700_000_000_000;
const component = { uuid: "dff314a6-c594-48dc-8e34-5270fd6cb635" };
const peer = { address: "192.0.2.1", port: 4711, family: "IPv4", protocol: "TCP" } as const;
const trace = { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" };
const creator: Component = { ...component, type: "https" };
const content = "secret that is nobody's business";

const credentials: Credentials = { type: "password", username: "alice", content };
const bare: LoginAttempt = { credentials, verdicts: [] };
const whole: LoginAttempt = {
  credentials: { ...bare.credentials, peer, creator, trace },
  verdicts: [
    { method: "first", outcome: "unknown" },
    { method: "second", outcome: "unknown", message: "Who?" },
    { method: "third", outcome: "rejected", reason: "credentials", audit: { host: "ldap" } },
  ],
};
const nobody = { uuid: "alice", name: "alice", email: "" };

let events: EventDraft[];
let logger: RecordingLogger;
let audit: LoginAudit;

beforeEach(() => {
  events = [];
  logger = createRecordingLogger();
  audit = createLoginAudit({ emit: (event) => void events.push(event), logger, component, clock: () => now });
});

describe("the audit of logins", () => {
  it("reports an accepted login with the account's own uuid and e-mail, and logs nothing", () => {
    const account = { uuid: "u-1", email: "a@example.org" };
    audit.accepted({ ...whole, beginsSession: true }, account);
    audit.accepted(bare, account);
    expect(events).toStrictEqual([
      {
        id: 40007,
        account: { ...account, name: "alice", peer },
        component: creator,
        trace,
        data: { credentials: { type: "password" }, verdicts: whole.verdicts, session: true },
      },
      {
        id: 40007,
        account: { ...account, name: "alice" },
        component: { uuid: NIL_UUID, type: "http" },
        data: { credentials: { type: "password" }, verdicts: [], session: false },
      },
    ]);
    expect(logger.entries).toEqual([]);
  });

  it("reports a refused login, and logs it without what is only for the event", () => {
    audit.refused(whole, "account", "home_folder_path: is not there");
    audit.refused(bare, "throttled");
    const data = { credentials: { type: "password" }, verdicts: whole.verdicts, reason: "account" };
    const details = "home_folder_path: is not there";
    expect(events).toStrictEqual([
      { id: 40000, account: { ...nobody, peer }, component: creator, trace, data: { ...data, details } },
      {
        id: 40000,
        account: nobody,
        component: { uuid: NIL_UUID, type: "http" },
        data: { ...data, verdicts: [], reason: "throttled" },
      },
    ]);
    const message = "A login was refused.";
    const line = { username: "alice", type: "password" };
    const known = { method: "third", address: "192.0.2.1", details };
    expect(logger.entries).toStrictEqual([
      { level: "warn", message, details: { ...line, reason: "account", ...known } },
      { level: "warn", message, details: { ...line, reason: "throttled" } },
    ]);
  });

  it.each<[RefusalReason, string]>([
    ["unknown", "info"],
    ["credentials", "info"],
    ["unavailable", "warn"],
    ["failure", "warn"],
    ["throttled", "warn"],
    ["account", "warn"],
    ["cross-site", "warn"],
  ])("has a refusal for the reason %s in the log as %s", (reason, level) => {
    audit.refused(whole, reason);
    expect(logger.entries).toMatchObject([{ level, details: { reason } }]);
  });

  it("cuts a very long name for the log", () => {
    audit.refused({ ...bare, credentials: { ...bare.credentials, username: "x".repeat(100_000) } }, "credentials");
    expect(logger.entries).toMatchObject([{ details: { username: "x".repeat(255) } }]);
  });
});

describe("the audit of sessions", () => {
  const session = { username: "alice", settings: {}, created: now - 1500 };

  it("reports how a session ended, and how long it was", () => {
    const settings = { uuid: "u-1", email: "a@example.org" };
    const traced = new Request("https://files.example/home/", { headers: trace });
    audit.sessionEnded("by-time", { ...session, settings }, traced, { peer });
    audit.sessionEnded("by-account", session, new Request("http://files.example/home/"), {});
    expect(events).toStrictEqual([
      {
        id: 40015,
        account: { ...settings, name: "alice", peer },
        component: creator,
        trace,
        data: { duration: 1.5 },
      },
      { id: 40037, account: nobody, component: { ...component, type: "http" }, data: { duration: 1.5 } },
    ]);
  });

  it("never reports a negative duration, even if the clocks of several processes differ", () => {
    audit.sessionEnded("by-time", { ...session, created: now + 1000 }, new Request("https://files.example/"), {});
    expect(events).toMatchObject([{ data: { duration: 0 } }]);
  });
});
