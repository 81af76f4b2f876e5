import { describe, expect, it } from "vitest";
import type { FileEvent } from "../../src/contracts/events/file-event.ts";
import { basic, byCookie, createTestService } from "../support/service.ts";

const publicOrigin = "https://files.example.org";
const login = {
  as: null,
  variant: "html",
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: "username=alice&password=secret",
} as const;

describe("the option publicOrigin", () => {
  it("makes cookies Secure although the request came over HTTP (CONTRACT 6.3)", async () => {
    const { call } = await createTestService({ publicOrigin });
    const answer = await call("POST", "/__svc__/login", login);
    expect(answer.header("set-cookie")).toMatch(/; Secure$/);
    const [cookie = ""] = answer.header("set-cookie")?.split(";") ?? [];
    const logout = await call("POST", "/__svc__/logout", { as: null, headers: { cookie } });
    expect(logout.header("set-cookie")).toContain("; Secure; Max-Age=0");
  });

  it("leaves them without it where it is of HTTP, also when the proxy speaks TLS to the service (CONTRACT 6.3)", async () => {
    const { call } = await createTestService({ publicOrigin: "http://files.example.org" });
    const answer = await call("POST", "/__svc__/login", { ...login, scheme: "https" });
    expect(answer.header("set-cookie")).not.toContain("Secure");
  });

  it("does so for the sessions that the host's application starts (CONTRACT 6.3)", async () => {
    const events: FileEvent[] = [];
    const onEvent = (event: FileEvent) => void events.push(event);
    const [encrypted, plain] = await Promise.all(
      [publicOrigin, "http://files.example.org"].map((origin) => createTestService({ publicOrigin: origin, onEvent })),
    );
    const settings = { home_folder_path: "/" };
    expect((await encrypted?.service.sessions.start("eve", settings))?.setCookie).toMatch(/; Secure$/);
    const { setCookie } = (await plain?.service.sessions.start("eve", settings, { isSecure: true })) ?? {};
    expect(setCookie).not.toContain("Secure");
    expect(events.map(({ id, component }) => [id, component.type])).toEqual([
      [40007, "https"],
      [40007, "http"],
    ]);
  });

  it("is not needed by a host that knows of each connection whether it is secure (CONTRACT 6.3)", async () => {
    const { call } = await createTestService();
    const secure = await call("POST", "/__svc__/login", { ...login, connection: { isSecure: true } });
    expect(secure.header("set-cookie")).toMatch(/; Secure$/);
    const plain = await call("POST", "/__svc__/login", { ...login, connection: { isSecure: false }, scheme: "https" });
    expect(plain.header("set-cookie")).not.toContain("Secure");
  });

  it("names the protocol in events and authentication requests (CONTRACT 9.4)", async () => {
    const events: FileEvent[] = [];
    const { call } = await createTestService({ publicOrigin, onEvent: (event) => void events.push(event) });
    await call("PUT", "/home/a", { body: "x" });
    expect(events.map(({ id, component }) => [id, component.type])).toEqual([
      [40007, "https"],
      [40021, "https"],
      [40017, "https"],
    ]);
  });

  it.each([
    ["an Origin", { origin: publicOrigin }, 201],
    ["a Referer", { referer: `${publicOrigin}/home/` }, 201],
    ["an Origin by another scheme", { origin: "http://files.example.org" }, 403],
    [
      "an Origin by another scheme, and its Host",
      { origin: "http://files.example.org", host: "files.example.org" },
      403,
    ],
    ["an Origin that is the Host's alone", { origin: "http://127.0.0.1:8080" }, 403],
    ["another Referer", { referer: "https://files.example.org.evil.example/" }, 403],
    ["its Origin from another site", { origin: publicOrigin, "sec-fetch-site": "cross-site" }, 403],
  ])("stands for Host in the check of cross-site requests: %s (CONTRACT 6.5)", async (_what, headers, status) => {
    const { call, login: logIn } = await createTestService({ publicOrigin });
    for (const credentials of [byCookie(await logIn()), { authorization: basic("alice", "secret") }]) {
      const options = { as: null, host: "127.0.0.1:8080", body: "x", headers: { ...headers, ...credentials } };
      expect((await call("PUT", "/home/a", options)).status).toBe(status);
    }
  });
});
