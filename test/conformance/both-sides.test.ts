import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { CREDENTIAL_TYPES, type Credentials } from "../../src/contracts/authenticator.ts";
import type { HttpAuthenticatorOptions } from "../../src/remote-auth/authenticator/options.ts";
import { type AuthenticationEndpointOptions, createAuthenticationEndpoint } from "../../src/remote-auth/endpoint.ts";
import { createHttpAuthenticator } from "../../src/remote-auth/http-authenticator.ts";
import { closeNodeServer, createNodeServer } from "../../src/runtimes/node/server.ts";
import { createFileService } from "../../src/service/service.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { createRecordingLogger, type RecordingLogger } from "../support/logger.ts";

const CONTENTS: Readonly<Record<Credentials["type"], string>> = {
  password: 'pä"ss\\wörd 🔑\u0000',
  "ssh-key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl alice@host",
  "ssl-certificate": "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
};
const SERVER = { uuid: "cc5c804d-0a3c-4c4c-b651-eba6fc3b5902" };
const LOGIN = {
  username: "Zoë\\alice",
  peer: { address: "2001:db8::7", port: 50_123, family: "IPv6", protocol: "TCP" },
  creator: { uuid: "dff314a6-c594-48dc-8e34-5270fd6cb635", type: "ssh" },
} as const;

type Authenticate = AuthenticationEndpointOptions["authenticate"];
type Authorize = NonNullable<AuthenticationEndpointOptions["authorize"]>;

interface Sides {
  readonly url: string;
  /** What the endpoint was asked to judge. */
  readonly judged: unknown[];
  readonly endpointLog: RecordingLogger;
  readonly log: RecordingLogger;
  ask(type?: Credentials["type"]): Promise<unknown>;
}

/** An endpoint on a server of ours, and an authenticator that asks it. */
async function connect(
  authenticate: Authenticate,
  { authorize, ...options }: { readonly authorize?: Authorize } & Partial<HttpAuthenticatorOptions> = {},
): Promise<Sides> {
  const [endpointLog, log] = [createRecordingLogger(), createRecordingLogger()];
  const judged: unknown[] = [];
  const endpoint = createAuthenticationEndpoint({
    authenticate(request, outcomes) {
      judged.push(request);
      return authenticate(request, outcomes);
    },
    logger: endpointLog,
    ...(authorize === undefined ? {} : { authorize }),
  });
  const server = createNodeServer(endpoint).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => closeNodeServer(server));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/auth`;
  const authenticator = createHttpAuthenticator({ url, logger: log, testAtStart: false, ...options });
  const ask: Sides["ask"] = async (type = "password") =>
    authenticator.authenticate({ type, content: CONTENTS[type], server: SERVER, ...LOGIN });
  return { url, judged, endpointLog, log, ask };
}

const account = {
  home_folder_path: "/hôme/zoë",
  uuid: "z",
  email: "z@example.com",
  group: "staff",
  create_home_folder: false,
  create_home_folder_owner: "zoë",
  create_home_folder_group: "staff",
  home_folder_structure: ["in", "out/done"],
  virtual_folders: [["/shared", "/srv/shared"] as [string, string]],
  permissions: [["allow-read"], ["*.csv", "allow-write"]] as never,
};
const reason = {
  code: -7.5,
  message: "Bis Montag gesperrt ☹",
  extra: { by: ["ops", null] },
  public_response: { until: { day: 1 } },
};

interface Outcome {
  readonly authenticate: Authenticate;
  /** The verdict but for the `url` of its audit. */
  readonly verdict: { readonly audit: object } & Readonly<Record<string, unknown>>;
  /** The levels and messages at the endpoint, and at the service. */
  readonly told?: { readonly endpoint: string; readonly service: string };
}

const OUTCOMES: readonly (readonly [name: string, outcome: Outcome])[] = [
  [
    "accept()",
    {
      authenticate: (_request, { accept }) => accept(),
      verdict: { outcome: "accepted", account: {}, audit: { status: 204 } },
    },
  ],
  [
    "accept(account), with every member",
    {
      authenticate: async (_request, { accept }) => accept(account),
      verdict: { outcome: "accepted", account, audit: { status: 200 } },
    },
  ],
  [
    "unknown(message)",
    {
      authenticate: (_request, { unknown }) => unknown("Unbekannt: Zoë 👩‍🚀"),
      verdict: { outcome: "unknown", message: "Unbekannt: Zoë 👩‍🚀", audit: { status: 401 } },
    },
  ],
  [
    "reject({ code, message, extra, public_response })",
    {
      authenticate: async (_request, { reject }) => reject(reason),
      verdict: {
        outcome: "rejected",
        reason: "credentials",
        message: reason.message,
        publicResponse: reason.public_response,
        audit: { status: 403, code: reason.code, extra: reason.extra },
      },
    },
  ],
  [
    "an error that is thrown",
    {
      authenticate: () => {
        throw new Error("The directory is down.");
      },
      verdict: {
        outcome: "rejected",
        reason: "unavailable",
        audit: { status: 503, problems: ["responded 503: the credentials could not be verified"] },
      },
      told: {
        endpoint: "error: An authentication endpoint could not verify the credentials.",
        service: "warn: The authentication endpoint could not verify the credentials.",
      },
    },
  ],
];

function tell({ entries }: RecordingLogger): readonly string[] {
  return entries.map(({ level, message }) => `${level}: ${message}`);
}

describe.each(CREDENTIAL_TYPES)("createHttpAuthenticator and createAuthenticationEndpoint, of a %s", (type) => {
  it.each(OUTCOMES)("understand each other: %s (2.3, 7.2)", async (_name, { authenticate, verdict, told }) => {
    const { url, judged, endpointLog, log, ask } = await connect(authenticate);
    expect(await ask(type)).toEqual({ ...verdict, audit: { url, ...verdict.audit } });
    expect(judged).toEqual([{ credentials: { type, content: CONTENTS[type], ...LOGIN }, server: SERVER }]);
    expect(tell(endpointLog)).toEqual(told === undefined ? [] : [told.endpoint]);
    expect(tell(log)).toEqual(told === undefined ? [] : [told.service]);
    expect(log.text() + endpointLog.text()).not.toContain(CONTENTS[type]);
  });
});

describe("the service's own authorization, from createHttpAuthenticator to createAuthenticationEndpoint (5.2)", () => {
  const basic = { username: "svc", password: "kéy:🔑" };
  const token: Authorize = { header: "Authorization", value: "token abc" };
  const custom: Authorize = { header: "X-Api-Key", value: "abc def" };
  const accept: Authenticate = (_request, outcomes) => outcomes.accept();

  it.each<[string, Authorize, Partial<HttpAuthenticatorOptions>]>([
    ["HTTP Basic", basic, basic],
    ["HTTP Basic, before a header", basic, { ...basic, headers: "Authorization: token abc" }],
    ["a header in a line", token, { headers: "Authorization: token abc" }],
    ["a header in an object", custom, { headers: { "x-api-key": " abc def " } }],
  ])("lets the service ask by %s", async (_means, authorize, options) => {
    const { url, judged, log, ask } = await connect(accept, { authorize, ...options });
    expect(await ask()).toEqual({ outcome: "accepted", account: {}, audit: { url, status: 204 } });
    expect([judged.length, log.entries]).toEqual([1, []]);
  });

  it.each<[string, Authorize, Partial<HttpAuthenticatorOptions>]>([
    ["nothing", basic, {}],
    ["a wrong password", basic, { username: "svc", password: "kéy:x" }],
    ["another name", basic, { ...basic, username: "svd" }],
    ["a header in place of HTTP Basic", basic, { headers: "Authorization: token abc" }],
    ["no header", token, {}],
    ["a wrong token", token, { headers: "Authorization: token abd" }],
    ["the value in another header", custom, { headers: { "X-Key": "abc def" } }],
    ["HTTP Basic in place of a header", token, basic],
  ])("refuses %s, unread, and the service tells its operator", async (_means, authorize, options) => {
    const { url, judged, endpointLog, log, ask } = await connect(accept, { authorize, ...options });
    const refusal = {
      outcome: "unknown",
      message: "The service is not authorized.",
      audit: { url, status: 401, challenged: true },
    };
    expect([await ask(), await ask()]).toEqual([refusal, refusal]);
    expect([judged, endpointLog.entries]).toEqual([[], []]);
    expect(log.entries).toMatchObject([
      { level: "warn", message: expect.stringContaining("responded 401 with WWW-Authenticate"), details: { url } },
    ]);
  });
});

describe("an outage behind an authentication endpoint", () => {
  const attempts = 12;
  const toBasic = (password: string): string => `Basic ${Buffer.from(`alice:${password}`).toString("base64")}`;

  /** Logs in more often than failed logins are let, then once with the right password. */
  async function logIn(authenticate: Authenticate): Promise<{ readonly before: Set<number>; readonly after: number }> {
    let isOver = false;
    const { url } = await connect((request, outcomes) =>
      isOver ? outcomes.accept() : authenticate(request, outcomes),
    );
    const logger = createRecordingLogger();
    const service = createFileService({
      storage: createMemoryStorage(),
      authentication: createHttpAuthenticator({ url, logger, testAtStart: false }),
      limits: { loginAttempts: 10, loginWindowSeconds: 600 },
      logger,
    });
    const ask = async (password: string): Promise<number> => {
      const headers = { Authorization: toBasic(password), Accept: "application/json" };
      return (await service.fetch(new Request("http://localhost/home/", { headers }))).status;
    };
    const before = new Set<number>();
    for (let attempt = 0; attempt < attempts; attempt += 1) before.add(await ask("secret"));
    isOver = true;
    return { before, after: await ask("secret") };
  }

  it("locks nobody out: the first login after it succeeds (7.2, CONTRACT 6.6)", async () => {
    const outcome = await logIn(() => {
      throw new Error("The directory is down.");
    });
    expect(outcome).toEqual({ before: new Set([401]), after: 200 });
  });

  it("is told from wrong passwords, which do lock out for a while (CONTRACT 6.6)", async () => {
    expect(await logIn((_request, { reject }) => reject())).toEqual({ before: new Set([401]), after: 401 });
  });
});
