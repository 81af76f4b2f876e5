import { beforeEach, describe, expect, it } from "vitest";
import { createBasicCache } from "../../../src/auth/basic-cache.ts";
import type { AuthenticationChain, ChainVerdict } from "../../../src/auth/chain.ts";
import { createIdentifier, type Identifier, type PresentedCredentials } from "../../../src/auth/identify.ts";
import { createSecondFactor } from "../../../src/auth/second-factor/second-factor.ts";
import type { OnSession, Sessions } from "../../../src/auth/sessions/types.ts";
import { type AttemptResult, type AttemptSource, type LoginThrottle, Throttled } from "../../../src/auth/throttle.ts";
import type { Connection } from "../../../src/contracts/connection.ts";
import { createSessionCookie } from "../../../src/http/cookie.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { createRecordingLogger, type RecordingLogger } from "../../support/logger.ts";

const sessionCookie = createSessionCookie("SVC_HTTP_SESSION", "/");
const component = { uuid: "dff314a6-c594-48dc-8e34-5270fd6cb635" };
const server = { uuid: "cc5c804d-0a3c-4c4c-b651-eba6fc3b5902" };
const peer = { address: "192.0.2.1", port: 4711, family: "IPv4", protocol: "TCP" } as const;
const trace = { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" };
const presented: PresentedCredentials = { type: "password", username: "alice", content: "secret" };
const certificate: Connection = { clientCertificate: { pem: "PEM", commonName: "alice" } };
const basic = { authorization: `Basic ${btoa("alice:secret")}` };
const live = "0123456789abcdef0123456789abcdef";
const over = "fedcba9876543210fedcba9876543210";
const session = { username: "alice", settings: {}, created: 1_700_000_000_000 };
const accepted: ChainVerdict = { outcome: "accepted", account: { uuid: "u-1" }, verdicts: [] };

let judgement: ChainVerdict | "throttled";
let problem: string | undefined;
let asked: unknown[];
let attempts: [who: AttemptSource, result: AttemptResult][];
let reported: unknown[];
let logger: RecordingLogger;
let identifier: Identifier;

beforeEach(() => {
  judgement = accepted;
  problem = undefined;
  asked = [];
  attempts = [];
  reported = [];
  logger = createRecordingLogger();
  identifier = create();
});

describe("credentials that are verified", () => {
  it("reach the methods with all that is known about the request, and nothing else", async () => {
    await identifier.authenticate(toRequest(), {}, presented);
    await identifier.authenticate(toRequest(trace, "https:"), { peer }, presented);
    expect(asked).toStrictEqual([
      { ...presented, creator: { ...component, type: "http" }, server },
      { ...presented, peer, creator: { ...component, type: "https" }, server, trace },
    ]);
  });

  it("log in with the settings that the method gave, and the version where it gave one", async () => {
    const request = toRequest();
    const login = { username: "alice", settings: { uuid: "u-1" } };
    const first = await identifier.authenticate(request, {}, presented);
    expect(first).toStrictEqual({ outcome: "accepted", login, attempt: { credentials: asked[0], verdicts: [] } });
    judgement = { ...accepted, version: "1" };
    expect(await identifier.authenticate(request, {}, presented)).toMatchObject({ login: { ...login, version: "1" } });
    expect(reported).toEqual([]);
  });

  it.each<[string, ChainVerdict | "throttled", string, object]>([
    ["unknown", { outcome: "unknown", message: "Who?", verdicts: [] }, "unknown", {}],
    ["too many", "throttled", "throttled", {}],
    ["wrong", { outcome: "rejected", verdicts: [] }, "credentials", { publicError: {} }],
    [
      "rejected with words for the user",
      { outcome: "rejected", reason: "failure", message: "Locked.", publicResponse: { until: 1 }, verdicts: [] },
      "failure",
      { publicError: { message: "Locked.", publicResponse: { until: 1 } } },
    ],
  ])("are refused where they are %s, which is reported with the reason", async (_what, answer, reason, publicError) => {
    judgement = answer;
    expect(await identifier.authenticate(toRequest(), {}, presented)).toStrictEqual({
      outcome: "refused",
      ...publicError,
    });
    const credentials = { ...presented, creator: { ...component, type: "http" }, server };
    expect(reported).toEqual([[{ credentials, verdicts: [] }, reason]]);
  });

  it.each<[string, object, string | undefined, string]>([
    ["a home that is not there", {}, "home_folder_path: is not there", "home_folder_path: is not there"],
    ["settings of a wrong type", { uuid: 1, email: false }, undefined, "uuid: Invalid input.*; email: Invalid input.*"],
  ])(
    "are refused for an account with %s, which is reported to the operator",
    async (_what, account, found, details) => {
      judgement = { ...accepted, account } as ChainVerdict;
      problem = found;
      expect(await identifier.authenticate(toRequest(), {}, presented)).toStrictEqual({ outcome: "refused" });
      expect(reported).toEqual([[expect.anything(), "account", expect.stringMatching(new RegExp(`^${details}$`))]]);
    },
  );

  it.each<[ChainVerdict, AttemptResult]>([
    [accepted, "succeeded"],
    [{ outcome: "unknown", verdicts: [] }, "failed"],
    [{ outcome: "rejected", verdicts: [] }, "failed"],
    [{ outcome: "rejected", reason: "failure", verdicts: [] }, "failed"],
    [{ outcome: "rejected", reason: "unavailable", verdicts: [] }, "neither"],
  ])("count as an attempt on name and address: %j is %s", async (answer, result) => {
    judgement = answer;
    const request = toRequest();
    await identifier.authenticate(request, { peer }, presented);
    await identifier.authenticate(request, {}, { ...presented, username: "a\nb" });
    expect(attempts).toEqual([
      [{ username: "alice", address: peer.address, request }, result],
      [{ username: undefined, address: undefined, request }, result],
    ]);
  });

  it("are not throttled if they are keys or certificates", async () => {
    for (const type of ["ssh-key", "ssl-certificate"] as const) {
      expect((await identifier.authenticate(toRequest(), {}, { ...presented, type })).outcome).toBe("accepted");
    }
    expect(attempts).toEqual([]);
  });
});

describe("who is asking", () => {
  const known = { outcome: "identified", login: session };
  const cookie = (id: string) => ({ cookie: sessionCookie.set(id, false).split(";", 1)[0] ?? "" });

  it.each<[string, Record<string, string>, Connection, object, object?]>([
    ["nothing", {}, {}, { outcome: "anonymous" }],
    ["a session", { authorization: `session ${live}` }, {}, { ...known, scheme: "session", session: live }],
    ["a session that is over", { authorization: `session ${over}`, ...cookie(live) }, {}, refusedBy("session")],
    ["a cookie", cookie(live), certificate, { ...known, scheme: "cookie", session: live }],
    ["a cookie of a session that is over", cookie(over), {}, { outcome: "anonymous" }],
    ["an odd Authorization", { authorization: "Bearer x" }, {}, refusedBy("authorization"), refusedBy("no-session")],
    ["a certificate", cookie(over), certificate, identifiedBy("certificate"), { outcome: "anonymous" }],
    ["Basic", { ...basic, ...cookie(live) }, {}, identifiedBy("basic"), refusedBy("no-session")],
  ])("is identified by %s, or not", async (_what, headers, connection, expected, bySession = expected) => {
    expect(await identifier.identify(toRequest(headers), connection)).toEqual(expected);
    expect(await identifier.identifySession(toRequest(headers), connection)).toEqual(bySession);
  });

  it("is anonymous with a certificate, and refused with Basic, when the method rejects", async () => {
    judgement = { outcome: "rejected", message: "Locked.", verdicts: [] };
    const publicError = { message: "Locked." };
    expect(await identifier.identify(toRequest(), certificate)).toEqual({ outcome: "anonymous", publicError });
    expect(await identifier.identify(toRequest(basic), {})).toEqual({
      outcome: "refused",
      scheme: "basic",
      publicError,
    });
    expect(asked).toMatchObject([{ type: "ssl-certificate", username: "alice", content: "PEM" }, presented]);
  });

  it("is anonymous with a certificate that the host's function has no name for", async () => {
    const error = new Error("no such field");
    const rules: (() => unknown)[] = [
      () => undefined,
      async () => "alice",
      () => {
        throw error;
      },
    ];
    for (const rule of rules) {
      expect(await create(rule).identify(toRequest(), certificate)).toEqual({ outcome: "anonymous" });
    }
    const message = "The user name of a client certificate could not be determined.";
    expect(logger.entries).toEqual([{ level: "error", details: { error }, message }]);
    expect(asked).toEqual([]);
  });

  it("is reported to the audit when a session has expired", async () => {
    const request = toRequest({ authorization: `session ${over}` });
    await identifier.identify(request, { peer });
    expect(reported).toEqual([["by-time", session, request, { peer }]]);
  });
});

function refusedBy(scheme: string): object {
  return { outcome: "refused", scheme };
}

function identifiedBy(scheme: string): object {
  const login = { username: "alice", settings: { uuid: "u-1" } };
  const attempt = { credentials: expect.anything(), verdicts: [] };
  const remember = scheme === "basic" && { remember: expect.any(Function) };
  return { outcome: "identified", login, scheme, attempt, ...remember };
}

function toRequest(headers: Record<string, string> = {}, scheme = "http:"): Request {
  return new Request(`${scheme}//files.example/home/`, { headers });
}

function create(usernameOfCertificate: (given: { commonName?: string }) => unknown = ({ commonName }) => commonName) {
  const chain: Pick<AuthenticationChain, "authenticate"> = {
    async authenticate(credentials) {
      asked.push(credentials);
      if (judgement === "throttled") throw new Error("must not be asked");
      return judgement;
    },
  };
  const sessions: Pick<Sessions, "find"> = {
    async find(id: string, onOver?: OnSession) {
      if (id === over) onOver?.(session);
      return id === live ? session : undefined;
    },
  };
  const throttle: Pick<LoginThrottle, "run"> = {
    async run(who, attempt, toAttemptResult) {
      if (judgement === "throttled") return new Throttled();
      const result = await attempt();
      attempts.push([who, toAttemptResult(result)]);
      return result;
    },
  };
  const report = (...all: unknown[]) => void reported.push(all.filter((each) => each !== undefined));
  return createIdentifier({
    chain: chain as AuthenticationChain,
    basicCache: createBasicCache({
      seconds: 0,
      chain: chain as AuthenticationChain,
      sessions: sessions as Sessions,
      clock: Date.now,
    }),
    sessions: sessions as Sessions,
    throttle: throttle as LoginThrottle,
    audit: { accepted: report, refused: report, sessionEnded: report },
    findAccountProblem: () => problem,
    byKey: undefined,
    completeVerdict: createSecondFactor({ store: createMemoryKeyValueStore(), clock: Date.now }),
    needsKey: () => false,
    usernameOfCertificate: usernameOfCertificate as () => string | undefined,
    server,
    component,
    cookie: sessionCookie,
    logger,
  });
}
