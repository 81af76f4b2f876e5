import { describe, expect, it } from "vitest";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createTrashStorage } from "../../../src/storage/trash.ts";
import { basic, byCookie, createTestService, type TestServiceOptions, variants } from "../../support/service.ts";

const PUBLIC: AccountSettings = { home_folder_path: "/public" };
const DROP: AccountSettings = { home_folder_path: "/public", permissions: [["allow-list", "allow-write"]] };

async function create(anonymous: AccountSettings = PUBLIC, options: TestServiceOptions = {}) {
  const events: FileEvent[] = [];
  const test = await createTestService({
    files: { "/public/a.txt": "for all", "/public/b/c.txt": "deeper", "/alice/a.txt": "alice's" },
    anonymous,
    webdav: {},
    links: { secret: "0123456789abcdef0123456789abcdef" },
    onEvent: (event) => void events.push(event),
    ...options,
  });
  const call = (method: string, target: string, own: Parameters<typeof test.call>[2] = {}) =>
    test.call(method, target, { as: null, ...own });
  return { ...test, call, events };
}

describe("a request without a login, with the option anonymous", () => {
  it.each(variants)("reads what the account may read, as %s", async (variant) => {
    const { call } = await create();
    expect((await call("GET", "/home/a.txt", { variant })).text).toBe("for all");
    const listing = await call("GET", "/home/", { variant });
    expect([listing.status, listing.text.includes("a.txt")]).toEqual([200, true]);
    expect((await call("GET", "/home/none.txt", { variant })).status).toBe(404);
  });

  it("finds properties by WebDAV", async () => {
    const { call } = await create();
    const found = await call("PROPFIND", "/home/", { headers: { depth: "1" } });
    expect([found.status, found.text.includes("/home/a.txt")]).toEqual([207, true]);
  });

  it("gets a page with the login, and nothing of an account", async () => {
    const { call } = await create();
    const { text } = await call("GET", "/home/b/", { variant: "html" });
    expect(text).toContain(`<a href="/__svc__/login?return=%2Fhome%2Fb%2F">Log in</a>`);
    for (const own of ["logout", "password-update", "/__svc__/links", "/__svc__/keys"]) expect(text).not.toContain(own);
  });

  it("needs a login for what the account may not do: browsers are led to it, others are asked for it", async () => {
    const { call, stored } = await create();
    const put = await call("PUT", "/home/new.txt", { variant: "json", body: "x" });
    expect([put.status, put.header("error-code")]).toEqual([401, "login-required"]);
    expect(put.header("www-authenticate")).toContain("basic");
    expect((await call("PUT", "/home/a.txt", { variant: "webdav", body: "x" })).status).toBe(401);
    expect((await call("DELETE", "/home/a.txt", { variant: "webdav" })).status).toBe(401);
    expect((await call("MKCOL", "/home/d/", { variant: "webdav" })).status).toBe(401);
    const lock = `<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>`;
    expect((await call("LOCK", "/home/a.txt", { variant: "webdav", body: lock })).status).toBe(401);
    const moved = { destination: "/home/z.txt" };
    expect((await call("MOVE", "/home/a.txt", { variant: "webdav", headers: moved })).status).toBe(401);
    expect(await stored("/public/a.txt")).toBe("for all");
    const hidden = await create({ ...PUBLIC, permissions: [["allow-read"], ["/b/*", "deny-full-control"]] });
    const page = await hidden.call("GET", "/home/b/c.txt", { variant: "html" });
    expect([page.status, page.header("location")]).toEqual([302, "/__svc__/login?return=%2Fhome%2Fb%2Fc.txt"]);
  });

  it("writes where the account may write, but never from another site", async () => {
    const { call, stored, events } = await create(DROP);
    const from = (origin: string) => ({ variant: "json" as const, body: "sent", headers: { origin } });
    expect((await call("PUT", "/home/n.txt", from("https://evil.example"))).status).toBe(403);
    expect(await stored("/public/n.txt")).toBeUndefined();
    expect((await call("PUT", "/home/n.txt", from("http://files.example"))).status).toBe(201);
    expect(await stored("/public/n.txt")).toBe("sent");
    const account = expect.objectContaining({ name: "anonymous", uuid: "anonymous" });
    expect(events.filter(({ id }) => id === 40000 || id === 40007)).toEqual([]);
    expect(events).toContainEqual(
      expect.objectContaining({ account, data: expect.objectContaining({ path: "/n.txt" }) }),
    );
  });

  it("has no other URLs of an account, whatever its permissions", async () => {
    const { call } = await create({ ...PUBLIC, permissions: [["allow-full-control"]], allow_links: true });
    for (const name of ["account", "links", "uploads/", "password-update", "trash", "quota"]) {
      expect([name, (await call("GET", `/home/__svc__/${name}`, { variant: "json" })).status]).toEqual([
        name,
        name === "trash" || name === "quota" ? 404 : 401,
      ]);
    }
    const tus = { "tus-resumable": "1.0.0", "upload-length": "1" };
    expect((await call("POST", "/home/", { variant: "json", headers: tus })).status).toBe(501);
    const body = JSON.stringify({ commands: [{ command: "create-link", target: "a.txt" }] });
    const headers = { "content-type": "application/json" };
    expect((await call("POST", "/home/", { variant: "json", headers, body, isProbe: true })).status).toBe(400);
  });

  it("reaches neither the trash nor what others have deleted", async () => {
    const storage = createTrashStorage(createMemoryStorage());
    const all = { ...PUBLIC, permissions: [["allow-full-control"]] };
    const { call } = await create(all, { storage, trash: storage.trash });
    expect((await call("DELETE", "/home/a.txt", { variant: "json" })).status).toBe(204);
    expect((await call("GET", "/home/__svc__/trash", { variant: "json" })).status).toBe(401);
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ commands: [{ command: "restore", target: "0".repeat(32) }] });
    expect((await call("POST", "/home/__svc__/trash", { variant: "json", headers, body })).status).toBe(401);
    expect((await call("GET", "/home/", { variant: "html" })).text).not.toContain("/__svc__/trash");
  });
});

describe("a request with credentials", () => {
  it.each(variants)("is that of its account, as %s", async (variant) => {
    const { call } = await create();
    expect((await call("GET", "/home/a.txt", { as: "alice", variant })).text).toBe("alice's");
  });

  it("is refused if they are wrong, and not served as anonymous", async () => {
    const { call } = await create();
    for (const authorization of [basic("alice", "wrong"), "session 0123", "Bearer x", "nonsense"]) {
      const answer = await call("GET", "/home/a.txt", { variant: "json", headers: { authorization } });
      expect([authorization, answer.status]).toEqual([authorization, 401]);
    }
  });

  it("is not anonymous with a session that is over: what it sends is not for everyone to see", async () => {
    const { call, login, advance, stored } = await create(DROP);
    const headers = byCookie(await login());
    expect((await call("GET", "/home/a.txt", { variant: "html", headers })).text).toBe("alice's");
    advance(3600);
    expect((await call("PUT", "/home/private.txt", { variant: "json", headers, body: "mine" })).status).toBe(401);
    expect(await stored("/public/private.txt")).toBeUndefined();
    const page = await call("GET", "/home/", { variant: "html", headers });
    expect([page.status, page.header("location")]).toEqual([302, "/__svc__/login?return=%2Fhome%2F"]);
  });

  it("is not anonymous with two session cookies, of which one may be its own", async () => {
    const { call } = await create();
    const headers = { cookie: "SVC_HTTP_SESSION=1; SVC_HTTP_SESSION=2" };
    expect((await call("GET", "/home/a.txt", { variant: "json", headers })).status).toBe(401);
  });

  it.each(["MY_SVC_HTTP_SESSION=1", "x=SVC_HTTP_SESSION=", "app=1; OLD-SVC_HTTP_SESSION=2"])(
    "is anonymous with the cookie of another application: %s",
    async (cookie) => {
      const { call } = await create();
      const answer = await call("GET", "/home/a.txt", { variant: "json", headers: { cookie } });
      expect([answer.status, answer.text]).toEqual([200, "for all"]);
    },
  );

  it("can still be asked for at the URL of the login without cookies", async () => {
    const { call } = await create();
    const asked = await call("GET", "/home/?login=basic", { variant: "html" });
    expect([asked.status, asked.header("www-authenticate")]).toEqual([401, expect.stringMatching(/^basic/)]);
  });

  it("of an account that is called anonymous is of that one", async () => {
    const { call, service } = await create();
    const { id } = await service.sessions.start("anonymous", { home_folder_path: "/alice" });
    expect((await call("GET", "/home/a.txt", { variant: "html", headers: byCookie(id) })).text).toBe("alice's");
    expect((await call("GET", "/home/a.txt", { variant: "html" })).text).toBe("for all");
  });
});

describe("the limits of visitors", () => {
  it("are those of their addresses, so that none of them locks the others out", async () => {
    const { open } = await create(PUBLIC, {
      files: { "/public/large.bin": new Uint8Array(4_000_000) },
      limits: { transfersPerAccount: 1, transfersPerAddress: 2 },
    });
    const from = (address: string) => ({
      as: null,
      variant: "json" as const,
      connection: { peer: { address, port: 1, family: "IPv4" as const, protocol: "TCP" as const } },
    });
    const answers = [];
    for (const address of ["10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.2"]) {
      answers.push(await open("GET", "/home/large.bin", from(address)));
    }
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 503, 200]);
    for (const { body } of answers) await body?.cancel();
  });
});

describe("the option", () => {
  it.each<[string, unknown]>([
    ["unknown settings", { home: "/public" }],
    ["an unknown group", { group: "none" }],
    ["no object", "yes"],
  ])("is wrong with %s", async (_what, anonymous) => {
    await expect(createTestService({ anonymous: anonymous as AccountSettings })).rejects.toThrow("anonymous");
  });

  it("gives nobody more than reading unless it says so, whatever the group of the account may do", async () => {
    const groups = { DEFAULT_GROUP: { permissions: [["allow-full-control"]] } };
    const { call } = await create(PUBLIC, { groups });
    expect((await call("GET", "/home/a.txt", { variant: "json" })).status).toBe(200);
    expect((await call("DELETE", "/home/a.txt", { variant: "json" })).status).toBe(401);
  });
});
