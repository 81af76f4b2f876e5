import { describe, expect, it } from "vitest";
import { createTestService, type TestService, type TestServiceOptions } from "../support/service.ts";

const requestClass = Request;
const authorization = `Basic ${btoa("alice:secret")}`;
const form = '--b\r\nContent-Disposition: form-data; name="action"\r\n\r\nupload-file\r\n--b--\r\n';

async function start(options: TestServiceOptions = {}): Promise<TestService> {
  return createTestService({ requestClass, files: { "/alice/a": "former" }, ...options });
}

async function expectRefused({ service, log, stored }: TestService, request: Request): Promise<void> {
  const response = await service.fetch(request);
  expect([response.status, await response.text()]).toEqual([
    500,
    expect.stringContaining("The request's body was read before it reached the service."),
  ]);
  expect(await stored("/alice/a")).toBe("former");
  expect(log.entries.map(({ level }) => level)).toEqual(["error"]);
  expect(log.text()).toContain("mount the service before body parsers");
}

function toRequest(method: string, path: string, fields: Record<string, string>, body?: string): Request {
  const headers = { authorization, accept: "application/json", ...fields };
  return new Request(`http://files.example${path}`, { method, headers, ...(body !== undefined && { body }) });
}

describe("a body that was read before it reached the service", () => {
  it.each([
    ["PUT", "/home/a", "text/plain", "new"],
    ["PUT", "/home/a", "application/json", '{"new":true}'],
    ["POST", "/home/", "application/json", '[{"command":"delete","target":"a"}]'],
    ["POST", "/home/", "multipart/form-data; boundary=b", form],
    ["POST", "/__svc__/login", "application/json", '{"username":"alice","password":"secret"}'],
  ])("is a failure that the log explains, and changes nothing: %s %s as %s", async (method, path, type, body) => {
    const request = toRequest(method, path, { "content-type": type }, body);
    await request.text();
    await expectRefused(await start(), request);
  });

  it("is one also where somebody is still at it", async () => {
    const request = toRequest("PUT", "/home/a", {}, "new");
    request.body?.getReader();
    await expectRefused(await start(), request);
  });

  it.each([{ "content-length": "3" }, { "transfer-encoding": "chunked" }])(
    "is one also where nothing is left of it but %j, and stores no empty file",
    async (fields) => {
      await expectRefused(await start(), toRequest("PUT", "/home/a", fields));
    },
  );

  it("is no matter where none is needed", async () => {
    const { service } = await start();
    const request = toRequest("DELETE", "/home/a", {}, "{}");
    await request.text();
    expect((await service.fetch(request)).status).toBe(204);
  });
});
