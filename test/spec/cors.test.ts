import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../src/auth/accounts/accounts.ts";
import { createFileService } from "../../src/service/service.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { basic, byCookie, bySession, createTestService, sessionOf } from "../support/service.ts";

const APP = "https://app.example";
const cors = { origins: [APP, "http://localhost:5173"] };
const files = { "/alice/a.txt": "a" };
const FIELDS = [
  "access-control-allow-origin",
  "access-control-expose-headers",
  "access-control-allow-methods",
  "access-control-allow-headers",
  "access-control-max-age",
  "access-control-allow-credentials",
];

describe("without the option cors", () => {
  it("no response has a CORS header, nor depends on the origin", async () => {
    const { call } = await createTestService({ files });
    const preflight = { origin: APP, "access-control-request-method": "PUT" };
    for (const [method, headers] of [
      ["GET", { origin: APP }],
      ["OPTIONS", preflight],
    ] as const) {
      const answer = await call(method, "/home/a.txt", { headers });
      expect(FIELDS.filter((name) => answer.header(name) !== null)).toEqual([]);
      expect(answer.header("vary")).not.toContain("Origin");
    }
  });
});

describe("the option cors", () => {
  it("lets scripts of a listed origin read responses, also refusals", async () => {
    const { call } = await createTestService({ files, cors });
    for (const [path, status] of [
      ["/home/a.txt", 200],
      ["/home/missing", 404],
      ["/home/a%2fb", 400],
      ["/none", 404],
    ] as const) {
      const answer = await call("GET", path, { headers: { origin: APP } });
      expect([path, answer.status]).toEqual([path, status]);
      expect(answer.header("access-control-allow-origin")).toBe(APP);
      expect(answer.header("access-control-expose-headers")).toBe(
        "Error-Code, Link, Content-Range, Location, ETag, Last-Modified, Preference-Applied, Server-Path, Retry-After, Allow, WWW-Authenticate, Accept-Patch, Content-Location, Content-Disposition, Accept-Ranges, Content-Digest, Repr-Digest, Idempotency-Replayed, Trash-Id, DAV, Lock-Token, Upload-Offset, Upload-Length, Upload-Defer-Length, Upload-Complete, Upload-Limit, Upload-Expires, Upload-Metadata, Upload-Concat, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Tus-Checksum-Algorithm",
      );
      expect(answer.header("vary")).toMatch(/, Origin$/);
      expect(answer.header("access-control-allow-credentials")).toBeNull();
    }
    const anonymous = await call("GET", "/home/a.txt", { as: null, variant: "json", headers: { origin: APP } });
    expect([anonymous.status, anonymous.header("access-control-allow-origin")]).toEqual([401, APP]);
  });

  it.each([
    "https://evil.example",
    `${APP}.evil.example`,
    "http://app.example",
    "https://app.example:8443",
    "HTTPS://APP.EXAMPLE",
    `${APP}/`,
    "null",
    "",
  ])("gives the origin %j nothing, and no other status", async (origin) => {
    const { call } = await createTestService({ files, cors });
    for (const [method, status] of [
      ["GET", 200],
      ["OPTIONS", 204],
    ] as const) {
      const answer = await call(method, "/home/a.txt", { headers: { origin, "access-control-request-method": "PUT" } });
      expect(answer.status).toBe(status);
      expect(FIELDS.filter((name) => answer.header(name) !== null)).toEqual([]);
      expect(answer.header("vary")).toContain("Origin");
    }
  });

  it("answers a preflight with the methods of the URL and the headers that the service reads", async () => {
    const { call } = await createTestService({
      files,
      cors: { ...cors, maxAgeSeconds: 60 },
      metadataFields: "x-labels\ntag, optional",
    });
    const headers = { origin: APP, "access-control-request-method": "PUT", "access-control-request-headers": "x-evil" };
    const answer = await call("OPTIONS", "/home/a.txt", { as: null, headers });
    expect(answer.status).toBe(204);
    expect(answer.header("access-control-allow-methods")).toBe(answer.header("allow"));
    expect(answer.header("access-control-allow-headers")).toMatch(/^Authorization, Content-Type, .*, x-labels$/i);
    expect(answer.header("access-control-allow-headers")).not.toContain("x-evil");
    expect(answer.header("access-control-max-age")).toBe("60");
    const plain = await call("OPTIONS", "/home/a.txt", { as: null, headers: { origin: APP } });
    expect(plain.header("access-control-allow-methods")).toBeNull();
  });

  it("lets scripts send what clients of resumable uploads send (R 10.3)", async () => {
    const { call } = await createTestService({ files, cors });
    const headers = { origin: APP, "access-control-request-method": "PATCH" };
    const answer = await call("OPTIONS", "/home/a.txt", { as: null, headers });
    const allowed = answer.header("access-control-allow-headers")?.toLowerCase().split(", ");
    for (const name of [
      "authorization",
      "content-type",
      "content-disposition",
      "content-digest",
      "repr-digest",
      "tus-resumable",
      "upload-offset",
      "upload-length",
      "upload-defer-length",
      "upload-complete",
      "upload-draft-interop-version",
      "upload-metadata",
      "upload-checksum",
      "upload-concat",
      "x-http-method-override",
      "x-request-id",
    ]) {
      expect(allowed, name).toContain(name);
    }
  });

  it("lets scripts send and read what clients of WebDAV do", async () => {
    const { call } = await createTestService({ files, cors, webdav: {} });
    const headers = { origin: APP, "access-control-request-method": "PROPFIND" };
    const answer = await call("OPTIONS", "/home/a.txt", { as: null, headers });
    const [methods, allowed, exposed] = ["allow-methods", "allow-headers", "expose-headers"].map((name) =>
      answer.header(`access-control-${name}`)?.split(", "),
    );
    expect(methods).toEqual(expect.arrayContaining(["PROPFIND", "PROPPATCH", "COPY", "MOVE", "LOCK", "UNLOCK"]));
    expect(allowed).toEqual(
      expect.arrayContaining(["Depth", "Destination", "If", "Lock-Token", "Overwrite", "Timeout"]),
    );
    expect(exposed).toEqual(expect.arrayContaining(["DAV", "Lock-Token", "Accept-Ranges", "Content-Disposition"]));
  });

  it("changes nothing about requests of other sites: only a session header passes", async () => {
    const { call } = await createTestService({ files, cors });
    const session = sessionOf(
      await call("POST", "/__svc__/login", {
        as: null,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ username: "alice", password: "secret" }),
      }),
    );
    const put = async (headers: Readonly<Record<string, string>>) =>
      (await call("PUT", "/home/new", { as: null, variant: "json", body: "x", headers: { origin: APP, ...headers } }))
        .status;
    expect(await put(bySession(session))).toBe(201);
    expect(await put(byCookie(session))).toBe(403);
    expect(await put({ authorization: basic("alice", "secret") })).toBe(403);
  });

  it("makes public files depend on the origin, too", async () => {
    const { call } = await createTestService({ files, cors });
    const page = await call("GET", "/__svc__/login", { as: null, variant: "html" });
    const asset = /href="(\/__svc__\/assets\/[^"]+)"/.exec(page.text)?.[1] ?? "";
    const answer = await call("GET", asset, { as: null, headers: { origin: APP } });
    expect([answer.status, answer.header("vary"), answer.header("access-control-allow-origin")]).toEqual([
      200,
      "Accept-Encoding, Origin",
      APP,
    ]);
  });

  it.each([
    [{ origins: ["*"] }, "cors.origins"],
    [{ origins: ["null"] }, "cors.origins"],
    [{ origins: ["https://*.example"] }, "cors.origins"],
    [{ origins: [`${APP}/`] }, "cors.origins"],
    [{ origins: [`${APP}/path`] }, "cors.origins"],
    [{ origins: APP }, "cors.origins"],
    [{ origins: [APP], maxAgeSeconds: -1 }, "cors.maxAgeSeconds"],
    [{ origins: [APP], maxAgeSeconds: "60" }, "cors.maxAgeSeconds"],
    ["*", "cors"],
    ["", "cors"],
    [false, "cors"],
    [null, "cors"],
  ])("refuses %j by naming %s", (wrong, name) => {
    const authentication = createAccountsAuthenticator({ accounts: [] });
    const options = { storage: createMemoryStorage(), authentication, cors: wrong as unknown as typeof cors };
    expect(() => createFileService(options)).toThrow(new RegExp(`${name.replace(".", "\\.")} must be`));
    expect(() => createFileService(options)).toThrow(TypeError);
  });
});
