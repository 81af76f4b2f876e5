import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { basic, bySession, createTestService } from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";

const files = {
  "/alice/own": "alice's",
  "/alice/f/": "",
  "/bob/own": "bob's",
  "/bob/private": "bob's secret",
  "/alicex/own": "alicex's",
  "/top": "the root's",
};

describe("an account", () => {
  it("sees its own files under the same URL as another sees its own (1.1)", async () => {
    const { call } = await createTestService({ files });
    expect((await call("GET", "/home/own", { as: "alice" })).text).toBe("alice's");
    expect((await call("GET", "/home/own", { as: "bob" })).text).toBe("bob's");
  });

  it("sees the whole storage where that is its home (CONTRACT 7.2)", async () => {
    const { call } = await createTestService({ files });
    expect((await call("GET", "/home/top", { as: "root" })).text).toBe("the root's");
    expect((await call("GET", "/home/bob/private", { as: "root" })).text).toBe("bob's secret");
  });

  const attempts: readonly string[] = [
    "../bob/private",
    "../../bob/private",
    "f/../../bob/private",
    "%2e%2e/bob/private",
    "%2e%2e%2fbob%2fprivate",
    "..%2fbob/private",
    "..%5cbob%5cprivate",
    "..\\bob\\private",
    "%252e%252e/bob/private",
    "..;/bob/private",
    "%c0%ae%c0%ae/bob/private",
    "%c0%ae%c0%ae%c0%afbob%c0%afprivate",
    "%uff0e%uff0e/bob/private",
    "%ef%bc%8e%ef%bc%8e/bob/private",
    "..%00/bob/private",
    "..%20/bob/private",
    ".../bob/private",
    "/bob/private",
    "//bob/private",
    "%2fbob/private",
    "f/%2e%2e/%2e%2e/bob/private",
    "f/..%2f..%2fbob%2fprivate",
    "./../bob/private",
    "bob/private",
    "x/own",
    "~bob/private",
    "C:/bob/private",
  ];

  it.each(attempts)("never comes to another one's files by /home/%s (CONTRACT 2.1, SECURITY 1)", async (path) => {
    const { call, stored } = await createTestService({ files });
    for (const method of ["GET", "HEAD", "PUT", "DELETE", "POST", "MKCOL"]) {
      for (const slash of ["", "/"]) {
        const body = method === "PUT" && slash === "" ? "overwritten" : undefined;
        const answer = await call(method, `/home/${path}${slash}`, { body, variant: "json" });
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(answer.status).toBeLessThan(500);
        expect(answer.text).not.toContain("bob's");
      }
    }
    expect([await stored("/bob/private"), await stored("/bob/own"), await stored("/top")]).toEqual([
      "bob's secret",
      "bob's",
      "the root's",
    ]);
  });

  it("never touches a storage path outside of its home (SECURITY 2, 19)", async () => {
    const base = createMemoryStorage();
    const touched: string[] = [];
    const note = (path: string) => {
      touched.push(path);
      return path;
    };
    const storage = overrideStorage(base, {
      stat: (path) => base.stat(note(path)),
      list: (path) => base.list(note(path)),
      read: (path, range) => base.read(note(path), range),
      write: (path, content, options) => base.write(note(path), content, options),
      createFolder: (path) => base.createFolder(note(path)),
      remove: (path) => base.remove(note(path)),
    });
    const { call } = await createTestService({ storage, files });
    touched.length = 0;
    const targets = [...attempts, "", "own", "f/", "f", "new/", "__svc__/x", "missing/x"];
    for (const target of targets) {
      for (const method of ["GET", "HEAD", "PUT", "DELETE", "POST", "MKCOL"]) {
        const commands = [
          { command: "delete", target: ".." },
          { command: "create-folder", target: "../bob/x" },
        ];
        const headers = { "content-type": "application/json" };
        const body = method === "POST" ? JSON.stringify({ commands }) : undefined;
        await call(method, `/home/${target}`, { headers, body });
      }
    }
    expect(touched.length).toBeGreaterThan(50);
    for (const path of touched) expect(path).toMatch(/^\/alice(\/|$)/);
    for (const path of touched) expect(path.split("/")).not.toContain("..");
  });

  it("keeps its own session (5.1.3)", async () => {
    const { call, login } = await createTestService({ files });
    const [alice, bob] = [await login("alice"), await login("bob")];
    const own = async (id: string) => (await call("GET", "/home/own", { as: null, headers: bySession(id) })).text;
    expect([await own(alice), await own(bob), await own(alice)]).toEqual(["alice's", "bob's", "alice's"]);
  });

  it("has a home of its own, whatever its name (CONTRACT 7.1, SECURITY 4)", async () => {
    const names = [
      "carol",
      "Carol",
      "ca/rol",
      "ca%2Frol",
      "ca:rol",
      "ca\\rol",
      "ca*rol",
      "ca?rol",
      'ca"rol',
      "ca<rol>",
      "ca|rol",
      "c%rol",
      "c%25rol",
    ];
    const accounts = names.map((username) => ({ username, password: "secret" }));
    const { call, storage } = await createTestService({ authentication: createAccountsAuthenticator({ accounts }) });
    for (const name of names) {
      const headers = { authorization: basic(name, "secret") };
      // No colon can be in a Basic user name (RFC 7617 2).
      if (name.includes(":")) continue;
      expect((await call("PUT", "/home/who", { as: null, headers, body: name })).status).toBe(201);
    }
    for (const name of names.filter((each) => !each.includes(":"))) {
      const headers = { authorization: basic(name, "secret") };
      expect((await call("GET", "/home/who", { as: null, headers })).text).toBe(name);
    }
    const homes: string[] = [];
    for await (const home of storage.list("/")) homes.push(home.name);
    expect(homes).not.toContain("ca");
  });

  it.each([".", ".."])("of the name %j has no home: it is refused (CONTRACT 7.1)", async (username) => {
    const accounts = [{ username, password: "secret" }];
    const { call } = await createTestService({ authentication: createAccountsAuthenticator({ accounts }), files });
    const headers = { authorization: basic(username, "secret") };
    for (const path of ["/home/", "/home/top", "/home/bob/private"]) {
      expect((await call("GET", path, { as: null, headers, variant: "json" })).status).toBe(401);
    }
  });
});

describe("the reserved name __svc__", () => {
  const reserved = { "/alice/__svc__/x": "hidden", "/alice/f/__svc__/x": "shown" };

  it("is never listed at the root (CONTRACT 2.3)", async () => {
    const { call } = await createTestService({ files: reserved });
    expect((await call("GET", "/home/", { variant: "json" })).json()).toMatchObject({ content: [{ name: "f" }] });
    expect((await call("GET", "/home/", { variant: "html" })).text).not.toContain('__svc__/"');
  });

  it.each([
    "PUT /home/__svc__",
    "PUT /home/__svc__/",
    "PUT /home/__svc__/x",
    "MKCOL /home/__svc__/",
    "PUT /home/%5f%5fsvc%5f%5f/x",
  ])("cannot be created: %s (CONTRACT 2.3)", async (request) => {
    const [method = "", path = ""] = request.split(" ");
    const { call, storage } = await createTestService();
    expect((await call(method, path)).status).toBe(403);
    expect(await storage.stat("/alice/__svc__")).toBeUndefined();
  });

  it.each(["/home/__svc__", "/home/__svc__/", "/home/__svc__/x", "/home/%5F%5Fsvc__/x"])(
    "shows nothing that lies there: GET %s (CONTRACT 2.3)",
    async (path) => {
      const { call } = await createTestService({ files: reserved });
      const answer = await call("GET", path, { variant: "json" });
      expect(answer.status).toBe(404);
      expect(answer.text).not.toContain("hidden");
    },
  );

  it("is a name like any other deeper down (CONTRACT 2.3)", async () => {
    const { call } = await createTestService({ files: reserved });
    expect((await call("GET", "/home/f/__svc__/x")).text).toBe("shown");
    expect((await call("PUT", "/home/f/__svc__/y", { body: "x" })).status).toBe(201);
    expect((await call("GET", "/home/f/", { variant: "json" })).json()).toMatchObject({
      content: [{ name: "__svc__" }],
    });
  });
});
