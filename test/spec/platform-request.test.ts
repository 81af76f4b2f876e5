import { describe, expect, it } from "vitest";
import { brokenBody, recordedBody, streamOf } from "../support/bodies.ts";
import { bySession, cookieOf, createTestService } from "../support/service.ts";

const requestClass = Request;

describe("the platform's own Request", () => {
  it("reads, writes and removes files (4.2)", async () => {
    const { call } = await createTestService({ requestClass });
    expect((await call("PUT", "/home/a%20b", { body: "content" })).status).toBe(201);
    const read = await call("GET", "/home/a%20b");
    expect([read.status, read.text, read.header("server-path")]).toEqual([200, "content", "/a%20b"]);
    expect((await call("HEAD", "/home/a%20b")).header("content-length")).toBe("7");
    expect((await call("GET", "/home/a%20b", { headers: { range: "bytes=1-2" } })).text).toBe("on");
    expect((await call("DELETE", "/home/a%20b")).status).toBe(204);
    expect((await call("GET", "/home/a%20b")).status).toBe(404);
  });

  it("makes, lists and removes folders (4.2, 4.5)", async () => {
    const { call } = await createTestService({ requestClass });
    expect((await call("MKCOL", "/home/f/")).status).toBe(201);
    expect((await call("PUT", "/home/f/g/")).status).toBe(201);
    expect((await call("GET", "/home/f/", { variant: "json" })).json()).toMatchObject({ content: [{ name: "g" }] });
    expect((await call("GET", "/home/f?q=1")).header("location")).toBe("/home/f/?q=1");
    expect((await call("DELETE", "/home/f/")).status).toBe(204);
  });

  it("streams uploads, also ones that are not whole (CONTRACT 4.1)", async () => {
    const { call, stored } = await createTestService({ requestClass });
    expect((await call("PUT", "/home/a", { body: streamOf("one ", "two") })).status).toBe(201);
    expect((await call("PUT", "/home/a", { body: brokenBody("three") })).status).toBe(400);
    const short = { body: streamOf("four"), headers: { "content-length": "9" } };
    expect((await call("PUT", "/home/a", short)).status).toBe(400);
    expect(await stored("/alice/a")).toBe("one two");
  });

  it("keeps a refused body unread (CONTRACT 4.3)", async () => {
    const { call } = await createTestService({ requestClass });
    const body = recordedBody("x");
    expect((await call("PUT", "/home/no/a", { variant: "json", body: body.stream })).status).toBe(422);
    expect(body.pulls()).toBe(0);
  });

  it("ends an upload when it is aborted (CONTRACT 4.1)", async () => {
    const { call, stored, log } = await createTestService({ requestClass, files: { "/alice/a": "former" } });
    const controller = new AbortController();
    const body = new ReadableStream<Uint8Array>({
      pull(stream) {
        stream.enqueue(new Uint8Array(10));
        controller.abort();
        return new Promise<void>(() => undefined);
      },
    });
    expect((await call("PUT", "/home/a", { body, signal: controller.signal })).status).toBe(400);
    expect(await stored("/alice/a")).toBe("former");
    expect(log.entries).toEqual([]);
  });

  it("logs in by form and by JSON, and runs commands (4.1, 4.3)", async () => {
    const { call, login } = await createTestService({ requestClass });
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const byForm = await call("POST", "/__svc__/login", {
      as: null,
      headers: form,
      body: "username=alice&password=secret",
    });
    expect(byForm.status).toBe(302);
    expect((await call("GET", "/home/", { as: null, headers: { cookie: cookieOf(byForm) } })).status).toBe(200);
    const headers = { ...bySession(await login()), "content-type": "application/json" };
    const body = '{"commands":[{"command":"create-folder","target":"f"}]}';
    const answer = await call("POST", "/home/", { as: null, headers, body });
    expect(answer.json()).toEqual({ results: [{ target: "f", message: null }] });
  });

  it("is challenged, refused and answered as any other (7.1, CONTRACT 6.5)", async () => {
    const { call } = await createTestService({ requestClass });
    const anonymous = await call("GET", "/home/a", { as: null, variant: "json" });
    expect([anonymous.status, anonymous.header("www-authenticate")]).toEqual([
      401,
      'basic realm="Web files access", session',
    ]);
    expect((await call("PUT", "/home/a", { headers: { origin: "https://evil.example" } })).status).toBe(403);
    expect((await call("PROPFIND", "/home/")).status).toBe(501);
    expect((await call("POST", "/home/a")).status).toBe(405);
    expect((await call("OPTIONS", "/home/a", { as: null })).status).toBe(204);
  });

  it("is refused for bad escapes, and led nowhere by dots that it has resolved (CONTRACT 2.1)", async () => {
    const { call } = await createTestService({ requestClass, files: { "/bob/private": "secret" } });
    for (const path of ["a%2fb", "%00", "%ff", "a//b", "..%2fbob%2fprivate"]) {
      expect([path, (await call("GET", `/home/${path}`)).status]).toEqual([path, 400]);
    }
    for (const path of ["../bob/private", "%2e%2e/bob/private", "..\\bob\\private"]) {
      expect([path, (await call("GET", `/home/${path}`)).status]).toEqual([path, 404]);
    }
  });
});
