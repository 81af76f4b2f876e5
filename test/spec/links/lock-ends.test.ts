import { describe, expect, it } from "vitest";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import type { Authenticator } from "../../../src/contracts/authenticator.ts";
import type { Identify } from "../../../src/contracts/identity.ts";
import type { NewLink } from "../../../src/contracts/links.ts";
import { openVisits, type VisitOptions } from "./visits.ts";

const BODY =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>';
const DISCOVERY = '<D:propfind xmlns:D="DAV:"><D:prop><D:lockdiscovery/></D:prop></D:propfind>';
const WRITING = ["allow-read", "allow-list", "allow-write", "allow-create-folder", "allow-delete-file"] as const;

/** A file that a link has locked, and an account whose settings the test changes. */
async function open(wanted: Partial<NewLink> = {}, options: VisitOptions = {}) {
  let settings: AccountSettings = { home_folder_path: "/homes/hildegards-home" };
  const authentication: Authenticator = {
    name: "accounts of the test",
    authenticate: async () => ({ outcome: "accepted", account: settings }),
    lookup: async () => ({ outcome: "found", account: settings }),
  };
  const visits = await openVisits({ inside: { "inbox/a.txt": "a" }, webdav: {}, authentication, ...options });
  const { service, visit, owner, advance } = visits;
  const link = await service.links.create({
    username: "hildegard",
    path: "/vault/inbox",
    permissions: WRITING,
    ...wanted,
  });
  const locked = await visit("LOCK", `${link.urlPath}a.txt`, { body: BODY, headers: { timeout: "Second-3600" } });
  const token = locked.header("lock-token") ?? "";
  const put = async () => (await owner("PUT", "vault/inbox/a.txt", { variant: "webdav", body: "x" })).status;
  expect([locked.status, await put()]).toEqual([200, 423]);
  return {
    ...visits,
    advance,
    put,
    urlPath: link.urlPath,
    id: link.id,
    token,
    timeout: /Second-(\d+)/.exec(locked.text)?.[1],
    set: (next: AccountSettings) => {
      settings = { ...settings, ...next };
    },
    shownLocks: async () => {
      const found = await owner("PROPFIND", "vault/inbox/a.txt", { body: DISCOVERY, headers: { depth: "0" } });
      return found.text.split("<D:activelock>").length - 1;
    },
    lock: () => owner("LOCK", "vault/inbox/a.txt", { body: BODY }),
  };
}

describe("a lock by a link (SHARING 1.3)", () => {
  it("counts no more when the link is withdrawn: neither for changes, nor for listings, nor for new locks", async () => {
    const { service, id, put, shownLocks, lock, owner } = await open();
    expect(await shownLocks()).toBe(1);
    expect(await service.links.revoke(id)).toBe(true);
    expect([await shownLocks(), await put()]).toEqual([0, 201]);
    expect((await lock()).status).toBe(200);
    expect(await shownLocks()).toBe(1);
    expect((await owner("DELETE", "vault/", { variant: "webdav" })).status).toBe(423);
  });

  it("does not keep the account from removing or moving the folder around it", async () => {
    const { service, owner } = await open();
    const headers = { destination: "/home/elsewhere/" };
    expect((await owner("MOVE", "vault/inbox/", { headers })).status).toBe(423);
    expect((await owner("DELETE", "vault/", { variant: "webdav" })).status).toBe(423);
    await service.links.revokeAll("hildegard");
    expect((await owner("DELETE", "vault/", { variant: "webdav" })).status).toBe(204);
  });

  it("ends with its file also while its account may have no links", async () => {
    const { put, owner, set, shownLocks } = await open();
    set({ allow_links: false });
    expect(await shownLocks()).toBe(0);
    expect((await owner("DELETE", "vault/inbox/a.txt", { variant: "webdav" })).status).toBe(204);
    set({ allow_links: true });
    expect(await put()).toBe(201);
  });

  it("lasts no longer than the link, also if it is refreshed", async () => {
    const { advance, put, timeout, visit, urlPath, token } = await open({ expiresIn: 100 });
    // The clock runs meanwhile.
    expect(timeout).toMatch(/^(?:9\d|100)$/);
    advance(40);
    const headers = { if: `(${token})`, timeout: "Second-3600" };
    expect((await visit("LOCK", `${urlPath}a.txt`, { headers })).text).toMatch(/Second-(?:5\d|60)</);
    expect(await put()).toBe(423);
    advance(60);
    expect(await put()).toBe(201);
  });

  it("lasts no longer than a link that is in no store", async () => {
    const { advance, put, timeout } = await open({ expiresIn: 100 }, { own: { store: undefined as never } });
    // A link without a store ends at a whole second.
    expect(timeout).toMatch(/^(?:9\d|100)$/);
    expect(await put()).toBe(423);
    advance(100);
    expect(await put()).toBe(201);
  });

  it("counts no more when the link is used up", async () => {
    const { put, visit, urlPath, lock, shownLocks } = await open({ maxUses: 1 });
    expect((await visit("GET", `${urlPath}a.txt`)).status).toBe(200);
    expect([await put(), await shownLocks()]).toEqual([201, 0]);
    expect((await lock()).status).toBe(200);
  });

  it("counts no more when the account may have no links", async () => {
    const { put, set } = await open();
    set({ allow_links: false });
    expect(await put()).toBe(201);
    set({ allow_links: true });
    expect(await put()).toBe(423);
  });
});

describe("an account with the name of a link", () => {
  /** The account of a name that the host gives, in the home of the owner. */
  const identify: Identify = (request) => {
    const username = request.headers.get("x-user");
    return username === null ? undefined : { username, settings: { home_folder_path: "/homes/hildegards-home" } };
  };

  it("does not have the locks of the link", async () => {
    const { call, id, token, put } = await open({}, { identify });
    const headers = { "x-user": `link:${id}`, "lock-token": token };
    const answer = await call("UNLOCK", "/home/vault/inbox/a.txt", { as: null, headers });
    expect([answer.status, await put()]).toEqual([403, 423]);
  });

  it("keeps its locks when the link ends", async () => {
    const { call, id, put, service } = await open({}, { identify });
    await service.links.revoke(id);
    const headers = { "x-user": `link:${id}` };
    const locked = await call("LOCK", "/home/vault/inbox/a.txt", { as: null, headers, body: BODY });
    expect([locked.status, await put()]).toEqual([200, 423]);
  });
});
