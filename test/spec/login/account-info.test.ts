import { describe, expect, it } from "vitest";
import type { AccountInfo } from "../../../src/schemas/account-info.ts";
import { bySession, type CallOptions, createTestService, sessionOf, type TestService } from "../../support/service.ts";

const PATH = "/home/__svc__/account";

async function ask({ call }: TestService, options: CallOptions = {}): Promise<AccountInfo> {
  const answer = await call("GET", PATH, options);
  expect(answer.status).toBe(200);
  expect(answer.header("content-type")).toBe("application/json; charset=utf-8");
  expect(answer.header("cache-control")).toBe("no-store");
  return answer.json<AccountInfo>();
}

describe("GET /home/__svc__/account", () => {
  it("says who the client is and what it may do", async () => {
    const groups = {
      DEFAULT_GROUP: {
        permissions: [
          ["allow-list", "allow-read"],
          ["drop/*", "allow-write"],
        ],
        max_file_bytes: 5000,
      },
    };
    const test = await createTestService({
      groups,
      triggers: { publish: { run: async () => ({ message: null }) } } as never,
    });
    expect(await ask(test)).toEqual({
      name: "alice",
      groups: ["DEFAULT_GROUP"],
      login: "basic",
      logins: ["basic", "session", "cookie"],
      permissions: expect.arrayContaining(["read", "list", "write"]),
      maxFileBytes: 5000,
      capabilities: { archive: true, passwordChange: expect.any(Boolean), webdav: false, triggers: expect.any(Array) },
    });
    expect((await ask(test)).permissions).not.toContain("delete-file");
  });

  it("says how the request was identified", async () => {
    const test = await createTestService({ identify: ({ headers }) => ({ username: headers.get("x-user") ?? "" }) });
    expect(
      await ask(test, { as: null, headers: { "x-user": "ann" }, undescribed: "The host identifies." }),
    ).toMatchObject({
      name: "ann",
      login: "identity",
      logins: ["basic", "session", "cookie", "identity"],
      maxFileBytes: null,
    });
    const own = await createTestService();
    const session = sessionOf(await own.call("POST", "/__svc__/login", loginOf("alice")));
    expect(await ask(own, { as: null, headers: bySession(session) })).toMatchObject({ login: "session" });
  });

  it.each(["json", "html", "webdav"] as const)("is JSON for a client that prefers %s", async (variant) => {
    const test = await createTestService();
    expect((await ask(test, { variant })).name).toBe("alice");
  });

  it("has no body for HEAD, is 401 without a login, and has no other methods", async () => {
    const { call } = await createTestService();
    expect(await call("HEAD", PATH)).toMatchObject({ status: 200, text: "" });
    expect((await call("GET", PATH, { as: null, variant: "json" })).status).toBe(401);
    const refused = await call("PUT", PATH, { variant: "json", body: "x" });
    expect([refused.status, refused.header("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  });

  it("leaves files of this name elsewhere alone", async () => {
    const { call } = await createTestService({ files: { "/alice/account": "a", "/alice/a/__svc__/account": "b" } });
    expect((await call("GET", "/home/account")).text).toBe("a");
    expect((await call("GET", "/home/a/__svc__/account")).text).toBe("b");
    expect((await call("GET", `${PATH}/`, { variant: "json" })).status).toBe(404);
  });
});

function loginOf(username: string): CallOptions {
  return {
    as: null,
    variant: "json",
    body: JSON.stringify({ username, password: "secret" }),
    headers: { "content-type": "application/json" },
  };
}
