import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CREDENTIAL_TYPES, type Credentials } from "../../../../src/contracts/authenticator.ts";
import { NIL_UUID, type Peer } from "../../../../src/contracts/connection.ts";
import type { HttpAuthenticatorOptions } from "../../../../src/remote-auth/authenticator/options.ts";
import { createHttpAuthenticator } from "../../../../src/remote-auth/http-authenticator.ts";
import { MAX_MESSAGE_BYTES } from "../../../../src/schemas/remote-auth.ts";
import { createRecordingLogger } from "../../../support/logger.ts";
import { ALICE, createAsked, type RemoteServer, serveRemote } from "../remote-server.ts";

const peer: Peer = { address: "2001:db8::7", port: 50_123, family: "IPv6", protocol: "TCP" };
const creator = { uuid: "dff314a6-c594-48dc-8e34-5270fd6cb635", type: "https" };
const server = { uuid: "cc5c804d-0a3c-4c4c-b651-eba6fc3b5902" };
const nobody = { address: "0.0.0.0", port: 0, family: "IPv4", protocol: "TCP" };

let remote: RemoteServer;
beforeEach(async () => {
  remote = await serveRemote();
});
afterEach(() => remote.close());

/** Asks once, and gives what was received. */
async function receive(options: Partial<HttpAuthenticatorOptions> = {}, credentials: Partial<Credentials> = {}) {
  const { outcome } = await createAsked({ url: remote.url, ...options }).ask(credentials);
  expect(outcome).toBe("accepted");
  const [request] = remote.requests.splice(0);
  if (request === undefined) throw new Error("nothing was received");
  return { ...request, text: request.body.toString("utf8"), json: JSON.parse(request.body.toString("utf8")) };
}

describe("createHttpAuthenticator", () => {
  it.each(CREDENTIAL_TYPES)(
    "sends one POST with exactly the members of the spec for a %s, in its order (2.3)",
    async (type) => {
      const { method, target, text } = await receive(
        { server },
        { type, username: "alice", content: "c\nd", peer, creator },
      );
      expect([method, target]).toEqual(["POST", "/auth"]);
      expect(text).toBe(
        JSON.stringify({
          credentials: { type, username: "alice", content: "c\nd", peer, creator },
          server,
        }),
      );
    },
  );

  it("sends JSON in UTF-8 of a known length, and asks for plain JSON (4.7)", async () => {
    const { headers, body } = await receive();
    expect(headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      accept: "application/json",
      "accept-encoding": "identity",
      "content-length": String(body.length),
    });
    const unwanted = ["cookie", "referer", "origin", "authorization", "transfer-encoding", "expect"];
    expect(unwanted.filter((name) => headers[name] !== undefined)).toEqual([]);
  });

  it.each([
    ["UTF-8", "Zoë Ωμέγα 李", "pässwörd"],
    ["quotes and backslashes", 'a"b\\c', '"}, "x": {"'],
    ["emoji", "👩‍🚀", "🔑🗝️"],
    ["control characters and line ends", "a\u0000b\u2028", "\r\n\t\u007f"],
    ["what URLs and headers would read otherwise", "../?a=b#c%00&d", "%s{{y}}$&"],
    ["a member of every object", "__proto__", "constructor"],
  ])("sends names and secrets with %s as they are (2.3)", async (_what, username, content) => {
    const { text, target, json } = await receive({}, { username, content });
    expect(json.credentials).toMatchObject({ username, content });
    expect(text).toBe(JSON.stringify(json));
    expect(target).toBe("/auth");
  });

  it("sends a peer that is not known as one without address, and nil UUIDs (2.3)", async () => {
    const { json } = await receive();
    expect(json.credentials.peer).toEqual(nobody);
    expect(json.credentials.creator).toEqual({ uuid: NIL_UUID, type: "http" });
    expect(json.server).toEqual({ uuid: NIL_UUID });
  });

  it("sends no more of the peer and the creator than the spec has (2.3)", async () => {
    const more = { peer: { ...peer, zone: "eth0" }, creator: { ...creator, name: "x" }, extra: 1 };
    const { json } = await receive({}, more as Partial<Credentials>);
    expect(json).toEqual({
      credentials: { type: "password", username: "alice", content: "secret of alice", peer, creator },
      server: { uuid: NIL_UUID },
    });
  });

  it.each([
    ["all of it", creator, creator],
    ["the UUID", { uuid: creator.uuid }, { uuid: creator.uuid, type: "ssh" }],
    ["the type", { type: "https" }, { uuid: server.uuid, type: "https" }],
    ["nothing", {}, { uuid: server.uuid, type: "ssh" }],
  ])("lets the configured creator win by what it names: %s (CONTRACT 9.4)", async (_what, configured, sent) => {
    const { json } = await receive({ creator: configured }, { creator: { uuid: server.uuid, type: "ssh" } });
    expect(json.credentials.creator).toEqual(sent);
  });

  const other = { uuid: "dff314a6-c594-48dc-8e34-5270fd6cb635" };
  it.each([
    ["the option, before the credentials'", { server }, { server: other }, server],
    ["the credentials', where there is no option", {}, { server: other }, other],
    ["the nil UUID, where there is neither", {}, {}, { uuid: NIL_UUID }],
  ])("names the server that asks: %s (2.3)", async (_which, options, credentials, sent) => {
    const { json } = await receive(options, credentials);
    expect(json.server).toEqual(sent);
    const asked = createAsked({ url: "https://auth.invalid/", fetch: () => Promise.reject(new Error()), ...options });
    await asked.ask(credentials);
    expect(asked.events.map((event) => event.server)).toEqual([sent]);
  });

  it("belongs to the trace of the login (W3C Trace Context)", async () => {
    const trace = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "a=1" };
    expect((await receive({}, { trace })).headers).toMatchObject(trace);
    expect(Object.keys((await receive()).headers).filter((name) => name.startsWith("trace"))).toEqual([]);
  });

  it("is sent up to 1 MiB (CONTRACT 9.1)", async () => {
    const { body } = await receive({}, { content: "x" });
    const content = "x".repeat(MAX_MESSAGE_BYTES - body.length + 1);
    expect((await receive({}, { content })).body.length).toBe(MAX_MESSAGE_BYTES);
    const { outcome, audit } = await createAsked({ url: remote.url }).ask({ content: `${content}x` });
    expect([outcome, audit.problems]).toEqual(["rejected", ["the credentials are too large: no request sent"]]);
  });

  it("keeps the URL's query, which holds nothing of the user's (SECURITY 23)", async () => {
    const { target } = await receive({ url: `${remote.origin}/a%2Fb?key=1,2&x`.replace(",", "%2C") });
    expect(target).toBe("/a%2Fb?key=1%2C2&x");
  });

  it.each([
    ["ASCII", "fileferry", "open sesame", "Basic ZmlsZWZlcnJ5Om9wZW4gc2VzYW1l"],
    ["UTF-8", "zoë", "pä:ss🔑", `Basic ${Buffer.from("zoë:pä:ss🔑").toString("base64")}`],
    ["no password", "key", undefined, "Basic a2V5Og=="],
  ])(
    "authenticates the request itself by Basic on every request: %s (5.2)",
    async (_what, username, password, expected) => {
      const authenticator = createAsked({ url: remote.url, username, ...(password !== undefined && { password }) });
      await authenticator.ask();
      await authenticator.ask();
      expect(remote.requests.map(({ headers }) => headers.authorization)).toEqual([expected, expected]);
    },
  );

  it("takes an empty username and password for none (CONTRACT 10)", async () => {
    const { headers } = await receive({ username: "", password: "", headers: "" });
    expect(headers.authorization).toBeUndefined();
  });

  it("authenticates the request itself by a custom header (5.2)", async () => {
    const { headers } = await receive({ headers: "Authorization: token KEY" });
    expect(headers.authorization).toBe("token KEY");
  });

  it.each([
    ["lines", "X-First:one\r\n\nx-second: two: 2 \t\n"],
    ["an object", { "X-First": "one", "x-second": " two: 2" }],
  ])("sends several headers given as %s (5.2)", async (_what, given) => {
    const { headers } = await receive({ headers: given });
    expect([headers["x-first"], headers["x-second"]]).toEqual(["one", "two: 2"]);
  });

  it("lets the username win over an Authorization among the headers (CONTRACT 9.4)", async () => {
    const { headers } = await receive({ username: "u", password: "p", headers: "AUTHORIZATION: token KEY\nX-A: 1" });
    expect([headers.authorization, headers["x-a"]]).toEqual(["Basic dTpw", "1"]);
  });

  it.each([
    ["an empty username", { username: "" }, "the username is empty: no request sent"],
    ["an empty password", { content: "" }, "the credentials are empty: no request sent"],
    ["an empty key", { type: "ssh-key", content: "" }, "the credentials are empty: no request sent"],
    [
      "a username without UTF-8",
      { username: "a\ud800" },
      "the credentials cannot be encoded as UTF-8: no request sent",
    ],
    ["a password without UTF-8", { content: "\udc00a" }, "the credentials cannot be encoded as UTF-8: no request sent"],
    ["more than 1 MiB", { content: "x".repeat(MAX_MESSAGE_BYTES) }, "the credentials are too large: no request sent"],
  ] as const)("rejects %s without asking (2.3)", async (_what, credentials, problem) => {
    const verdict = await createAsked({ url: remote.url, testAtStart: true }).ask(credentials);
    expect(verdict).toEqual({ outcome: "rejected", audit: { problems: [problem] } });
    expect(remote.requests).toEqual([]);
  });

  it("looks the platform's fetch up at every call, and uses the given one instead (4.7)", async () => {
    const given = createAsked({ url: "https://auth.invalid/", fetch: async () => new Response(null, { status: 204 }) });
    expect((await given.ask()).outcome).toBe("accepted");
    const authenticator = createAsked({ url: remote.url });
    const platform = globalThis.fetch;
    const inits: (RequestInit | undefined)[] = [];
    globalThis.fetch = async (_input, init) => {
      inits.push(init);
      return new Response(null, { status: 401 });
    };
    try {
      expect((await authenticator.ask()).outcome).toBe("unknown");
    } finally {
      globalThis.fetch = platform;
    }
    expect(inits).toMatchObject([
      { method: "POST", redirect: "manual", cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer" },
    ]);
    expect((await authenticator.ask()).outcome).toBe("accepted");
  });

  it("uses only what the platform knows: workerd throws at the word cache (4.7)", async () => {
    const platform = globalThis.Request;
    const inits: (RequestInit | undefined)[] = [];
    const fetch = async (_input: unknown, init?: RequestInit): Promise<Response> => {
      inits.push(init);
      return new Response(null, { status: 204 });
    };
    globalThis.Request = class {} as never;
    try {
      await createAsked({ url: remote.url, fetch }).ask();
    } finally {
      globalThis.Request = platform;
    }
    expect(Object.keys(inits[0] ?? {}).sort()).toEqual(["body", "headers", "method", "redirect", "signal"]);
  });
});

describe("the imitation of a request by createHttpAuthenticator (SECURITY 17)", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
  afterEach(() => void vi.useRealTimers());

  it("takes as long as requests do: the first one, and then an eighth of each change", async () => {
    let milliseconds = 0;
    const { authenticate, equalizeTiming: imitate } = createHttpAuthenticator({
      url: "https://auth.example/",
      testAtStart: false,
      logger: createRecordingLogger(),
      fetch: async () => {
        await new Promise((resolve) => setTimeout(resolve, milliseconds));
        return new Response(null, { status: 204 });
      },
    });
    for (const [took, usual] of [
      [80, 80],
      [160, 90],
      [10, 80],
    ] as const) {
      milliseconds = took;
      const asked = authenticate(ALICE);
      await vi.advanceTimersByTimeAsync(took);
      await asked;
      let isOver = false;
      const imitated = imitate?.(ALICE).then(() => {
        isOver = true;
      });
      await vi.advanceTimersByTimeAsync(usual - 1);
      expect(isOver).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(isOver).toBe(true);
      await imitated;
    }
  });
});
