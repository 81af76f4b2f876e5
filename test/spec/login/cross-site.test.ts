import { describe, expect, it } from "vitest";
import { basic, byCookie, bySession, type CallOptions, createTestService } from "../../support/service.ts";

type Fields = Readonly<Record<string, string>>;
type Row = readonly [what: string, headers: Fields, passes: boolean];

const ACCEPTED = "https://app.example";

const rows: readonly Row[] = [
  ["none of the three headers", {}, true],
  ["an Origin of its own", { origin: "http://files.example" }, true],
  ["an Origin of its own in upper case", { origin: "HTTP://FILES.EXAMPLE" }, true],
  ["an Origin of its own behind TLS", { origin: "https://files.example" }, true],
  ["a Referer of its own", { referer: "http://files.example/home/?x" }, true],
  ["Sec-Fetch-Site: same-origin", { "sec-fetch-site": "same-origin", origin: "http://files.example" }, true],
  ["Sec-Fetch-Site: none", { "sec-fetch-site": "none" }, true],
  ["Sec-Fetch-Site before an odd Origin", { "sec-fetch-site": "same-origin", origin: "null" }, true],
  ["an accepted Origin", { origin: ACCEPTED }, true],
  ["an accepted Origin from another site", { origin: ACCEPTED, "sec-fetch-site": "cross-site" }, true],
  ["Origin before Referer", { origin: "http://files.example", referer: "https://evil.example/" }, true],
  ["another Origin", { origin: "https://evil.example" }, false],
  [
    "another Origin with a Referer of its own",
    { origin: "https://evil.example", referer: "http://files.example/" },
    false,
  ],
  ["Origin: null", { origin: "null" }, false],
  ["an empty Origin", { origin: "" }, false],
  ["an Origin that is none", { origin: "files.example" }, false],
  ["an Origin that begins alike", { origin: "http://files.example.evil.example" }, false],
  ["an Origin that ends alike", { origin: "http://evilfiles.example" }, false],
  ["an Origin with its host as the user", { origin: "http://files.example@evil.example" }, false],
  ["an Origin of another port", { origin: "http://files.example:8080" }, false],
  ["an Origin of a subdomain", { origin: "http://a.files.example" }, false],
  ["an accepted Origin with more", { origin: `${ACCEPTED}.evil.example` }, false],
  ["an accepted Origin by another scheme", { origin: "http://app.example" }, false],
  ["an accepted site as Referer only", { referer: `${ACCEPTED}/page` }, false],
  ["another Referer", { referer: "https://evil.example/files.example/" }, false],
  ["an opaque Referer", { referer: "about:blank" }, false],
  ["Sec-Fetch-Site: cross-site", { "sec-fetch-site": "cross-site" }, false],
  ["Sec-Fetch-Site: same-site", { "sec-fetch-site": "same-site" }, false],
  ["an unknown Sec-Fetch-Site", { "sec-fetch-site": "whatever" }, false],
  ["cross-site with an Origin of its own", { "sec-fetch-site": "cross-site", origin: "http://files.example" }, false],
];

describe("an unsafe request with", () => {
  it.each(rows)("%s by cookie or Basic (CONTRACT 6.5)", async (_what, headers, passes) => {
    const { call, login, stored } = await createTestService({ acceptedOrigins: [ACCEPTED] });
    for (const credentials of [byCookie(await login()), { authorization: basic("alice", "secret") }]) {
      const answer = await call("PUT", "/home/x", { as: null, body: "x", headers: { ...headers, ...credentials } });
      expect(answer.status).toBe(passes ? 201 : 403);
      expect(await stored("/alice/x")).toBe(passes ? "x" : undefined);
    }
  });

  it.each(rows)("%s by Authorization: session passes in any case (CONTRACT 6.5)", async (_what, headers) => {
    const { call, login } = await createTestService();
    const credentials = bySession(await login());
    const answer = await call("PUT", "/home/x", { as: null, body: "x", headers: { ...headers, ...credentials } });
    expect(answer.status).toBe(201);
  });
});

describe("a login with", () => {
  it.each(rows)("%s (CONTRACT 6.5)", async (_what, fields, passes) => {
    const { call } = await createTestService({ acceptedOrigins: [ACCEPTED] });
    const requests: readonly CallOptions[] = [
      { headers: { "content-type": "application/json", ...fields }, body: '{"username":"alice","password":"secret"}' },
      {
        headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json", ...fields },
        body: "username=alice&password=secret",
      },
    ];
    for (const options of requests) {
      const answer = await call("POST", "/__svc__/login", { as: null, ...options });
      expect(answer.status).toBe(passes ? 200 : 403);
      expect(answer.text.includes("session")).toBe(passes);
    }
  });
});

describe("requests from another site", () => {
  const evil = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };

  it.each(["PUT /home/x", "PUT /home/x/", "MKCOL /home/x/", "DELETE /home/f/a", "DELETE /home/f/", "POST /home/f/"])(
    "are refused by 403 and change nothing: %s (CONTRACT 6.5)",
    async (request) => {
      const [method = "", path = ""] = request.split(" ");
      const { call, storage, stored } = await createTestService({ files: { "/alice/f/a": "a" } });
      const body = method === "POST" ? '{"commands":[{"command":"delete","target":"a"}]}' : undefined;
      const headers = { ...evil, "content-type": "application/json" };
      expect((await call(method, path, { body, headers })).status).toBe(403);
      expect(await stored("/alice/f/a")).toBe("a");
      expect(await storage.stat("/alice/x")).toBeUndefined();
    },
  );

  it("may read, as reading changes nothing (CONTRACT 6.5)", async () => {
    const { call, login } = await createTestService({ files: { "/alice/a": "a" } });
    for (const method of ["GET", "HEAD", "OPTIONS"]) {
      const answer = await call(method, "/home/a", { as: null, headers: { ...evil, ...byCookie(await login()) } });
      expect(answer.status).toBe(method === "OPTIONS" ? 204 : 200);
    }
  });

  it("are refused by client certificate too, which browsers send unasked (SECURITY 18)", async () => {
    const { call } = await createTestService();
    const connection = { clientCertificate: { commonName: "alice", pem: "PEM" } };
    expect((await call("PUT", "/home/x", { as: null, connection, headers: evil })).status).toBe(403);
    expect((await call("PUT", "/home/x", { as: null, connection })).status).toBe(201);
  });

  it("are compared with Host and its port (CONTRACT 6.5)", async () => {
    const { call } = await createTestService();
    const put = async (host: string, origin: string) =>
      (await call("PUT", "/home/x", { host, headers: { origin }, body: "x" })).status;
    expect(await put("files.example:8080", "http://files.example:8080")).toBe(201);
    expect(await put("files.example:8080", "http://files.example")).toBe(403);
    expect(await put("files.example:80", "http://files.example")).toBe(201);
    expect(await put("files.example:443", "https://files.example")).toBe(201);
    expect(await put("[::1]:8080", "http://[::1]:8080")).toBe(201);
    expect(await put("other.example", "http://files.example")).toBe(403);
  });
});
