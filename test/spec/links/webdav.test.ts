import { describe, expect, it } from "vitest";
import { openVisits, type Visits } from "./visits.ts";

const inside = { "inbox/a.txt": "a", "inbox/sub/b.txt": "b", "inbox/sub/deeper/c.txt": "c", "outside.txt": "secret" };
const ALL = [
  "allow-read",
  "allow-list",
  "allow-write",
  "allow-create-folder",
  "allow-delete-file",
  "allow-delete-folder",
] as const;

function lockBody(owner = "", scope = "exclusive"): string {
  const parts = `<D:lockscope><D:${scope}/></D:lockscope><D:locktype><D:write/></D:locktype>`;
  return `<D:lockinfo xmlns:D="DAV:">${parts}${owner && `<D:owner>${owner}</D:owner>`}</D:lockinfo>`;
}

async function open(): Promise<Visits & { readonly url: string }> {
  const visits = await openVisits({ inside, webdav: {} });
  return { ...visits, url: await visits.link({ path: "/vault/inbox", permissions: ALL }) };
}

function toHrefs(text: string): readonly string[] {
  return [...text.matchAll(/<D:response><D:href>([^<]*)/g)].map(([, href]) => href ?? "");
}

describe("WebDAV below a link (SHARING 1.3)", () => {
  it("is announced without a password or a login, also for a token that is none", async () => {
    const { visit, url } = await open();
    for (const path of [url, "/__svc__/share/never/"]) {
      const answer = await visit("OPTIONS", path);
      expect([answer.status, answer.header("dav")]).toEqual([200, "1, 2, 3"]);
    }
  });

  it("shows paths below the link, and the link as the root", async () => {
    const { visit, url } = await open();
    const root = await visit("PROPFIND", url, { headers: { depth: "1" } });
    expect(
      toHrefs(root.text)
        .map((href) => href.replace(url, ""))
        .sort(),
    ).toEqual(["", "a.txt", "sub/"]);
    const folder = await visit("PROPFIND", `${url}sub`, { headers: { depth: "1" } });
    expect(folder.header("content-location")).toBe(`${url}sub/`);
    expect(toHrefs(folder.text)).toEqual([`${url}sub/`, `${url}sub/b.txt`, `${url}sub/deeper/`]);
  });

  it("copies to destinations below the link alone", async () => {
    const { visit, link, url, files } = await open();
    const other = await link({ path: "/vault", permissions: ALL });
    const copy = async (destination: string) => {
      const answer = await visit("COPY", `${url}a.txt`, { headers: { destination } });
      return [answer.status, answer.header("location")];
    };
    expect(await copy(`http://files.example${url}sub/a.txt`)).toEqual([201, `${url}sub/a.txt`]);
    expect(await copy(`${url}copy.txt`)).toEqual([201, `${url}copy.txt`]);
    expect(await copy("http://files.example/home/vault/inbox/x.txt")).toEqual([403, null]);
    expect(await copy(`http://files.example${other}x.txt`)).toEqual([403, null]);
    expect(await copy(`http://files.example${url.slice(0, -1)}`)).toEqual([403, null]);
    expect(await copy(`http://files.example${url}../x.txt`)).toEqual([400, null]);
    expect((await copy(`http://elsewhere.example${url}x.txt`))[0]).toBe(502);
    expect(await copy(`http://files.example${url}`)).toEqual([403, null]);
    expect(Object.keys(await files()).sort()).toEqual(
      [...Object.keys(inside), "inbox/copy.txt", "inbox/sub/a.txt"].sort(),
    );
  });

  it("works below a base path", async () => {
    const visits = await openVisits({ inside, webdav: {}, basePath: "/files" });
    const url = await visits.link({ path: "/vault/inbox", permissions: ALL });
    expect(url).toMatch(/^\/files\/__svc__\/share\//);
    const headers = { destination: `http://files.example${url}copy.txt` };
    expect((await visits.visit("COPY", `${url}a.txt`, { headers })).status).toBe(201);
  });

  it("moves nothing, whatever is there", async () => {
    const { visit, url, files } = await open();
    for (const path of ["a.txt", "sub", "sub/", "never"]) {
      const headers = { destination: `http://files.example${url}moved` };
      expect((await visit("MOVE", url + path, { headers })).status).toBe(403);
      expect((await visit("MOVE", url + path)).status).toBe(403);
    }
    expect(await files()).toEqual(inside);
  });

  it("changes no properties but those that an upload needs", async () => {
    const { visit, url } = await open();
    const set = (name: string) =>
      `<D:propertyupdate xmlns:D="DAV:" xmlns:x="urn:x"><D:set><D:prop><x:${name}>v</x:${name}></D:prop></D:set></D:propertyupdate>`;
    expect((await visit("PROPPATCH", `${url}a.txt`, { body: set("color") })).status).toBe(403);
    const win32 = set("Win32LastModifiedTime").replace("urn:x", "urn:schemas-microsoft-com:");
    expect((await visit("PROPPATCH", `${url}a.txt`, { body: win32 })).status).toBe(207);
  });

  it("locks in the link's own name: the account and other links are locked out", async () => {
    const { visit, owner, link, url } = await open();
    const other = await link({ path: "/vault/inbox", permissions: ALL });
    const granted = await visit("LOCK", `${url}a.txt`, { body: lockBody("<D:href>a visitor</D:href>") });
    expect(granted.status).toBe(200);
    expect(granted.text).toContain(`<D:lockroot><D:href>${url}a.txt</D:href></D:lockroot>`);
    const token = granted.header("lock-token") ?? "";
    const put = (path: string, headers: Record<string, string>) =>
      visit("PUT", path, { variant: "webdav", body: "x", headers });
    expect((await put(`${url}a.txt`, {})).status).toBe(423);
    expect((await put(`${other}a.txt`, { if: `(${token})` })).status).toBe(423);
    const owners = await owner("PUT", "vault/inbox/a.txt", {
      variant: "webdav",
      body: "x",
      headers: { if: `(${token})` },
    });
    expect(owners.status).toBe(423);
    expect(owners.text).toContain("<D:href>/home/vault/inbox/a.txt</D:href>");
    expect((await put(`${url}a.txt`, { if: `(${token})` })).status).toBe(201);
    const unlock = (path: string) => visit("UNLOCK", path, { headers: { "lock-token": token } });
    expect((await unlock(`${other}a.txt`)).status).toBe(403);
    expect((await unlock(`${url}a.txt`)).status).toBe(204);
  });

  it("takes the URLs of `If` below the link alone", async () => {
    const { visit, url } = await open();
    const granted = await visit("LOCK", `${url}a.txt`, { body: lockBody() });
    const token = granted.header("lock-token") ?? "";
    const put = async (value: string) =>
      (await visit("PUT", `${url}a.txt`, { variant: "webdav", body: "x", headers: { if: value } })).status;
    expect(await put(`<http://files.example${url}a.txt> (${token})`)).toBe(201);
    expect(await put(`<${url}a.txt> (${token})`)).toBe(201);
    expect(await put(`<http://files.example/home/vault/inbox/a.txt> (${token})`)).toBe(412);
  });

  it("shows locks of the account without whose they are, and without a path above the link", async () => {
    const { visit, owner, url } = await open();
    const body = lockBody("<D:href>hildegard@homes.example</D:href>");
    expect((await owner("LOCK", "vault/", { body, headers: { depth: "infinity" } })).status).toBe(200);
    const names = '<D:propfind xmlns:D="DAV:"><D:prop><D:lockdiscovery/></D:prop></D:propfind>';
    for (const path of ["", "a.txt", "sub/"]) {
      const found = await visit("PROPFIND", url + path, { headers: { depth: "1" }, body: names });
      expect(found.text).toContain(`<D:lockroot><D:href>${url}</D:href></D:lockroot>`);
      expect(found.text).not.toMatch(/<D:owner>|locktoken/);
    }
    for (const method of ["PUT", "DELETE"]) {
      const refused = await visit(method, `${url}a.txt`, { variant: "webdav", ...(method === "PUT" && { body: "x" }) });
      expect(refused.status).toBe(423);
      expect(refused.text).toContain(`<D:href>${url}</D:href>`);
    }
    const conflict = await visit("LOCK", `${url}a.txt`, { body: lockBody() });
    expect(conflict.status).toBe(423);
  });

  it("removes neither the root of the link nor what it may not remove", async () => {
    const { visit, link, url, files } = await open();
    expect((await visit("DELETE", url, { variant: "webdav" })).status).toBe(403);
    const reading = await link({ path: "/vault/inbox" });
    expect((await visit("DELETE", `${reading}a.txt`, { variant: "webdav" })).status).toBe(403);
    expect((await visit("DELETE", `${reading}sub`, { variant: "webdav" })).status).toBe(403);
    expect(await files()).toEqual(inside);
  });
});

describe("forms and commands below a link (SHARING 1.3)", () => {
  const TRIGGERS = { triggers: { approve: { run: async () => undefined } } };

  async function command(visits: Visits, url: string, commands: readonly object[]) {
    const headers = { "content-type": "application/json" };
    return visits.visit("POST", url, { variant: "json", headers, body: JSON.stringify({ commands }) });
  }

  it("has the commands delete, create-folder, create-folder-if-missing and copy", async () => {
    const visits = await openVisits({ inside, ...TRIGGERS });
    const url = await visits.link({ path: "/vault/inbox", permissions: ALL });
    const answer = await command(visits, `${url}sub/`, [
      { command: "create-folder", target: "made" },
      { command: "create-folder-if-missing", target: "made" },
      { command: "copy", target: "b.txt", destination: "/sub/made/" },
      { command: "copy", target: "b.txt", destination: "/b.txt" },
      { command: "delete", target: "deeper" },
    ]);
    expect(answer.status).toBe(200);
    expect(await visits.files()).toEqual({
      ...{ "inbox/a.txt": "a", "inbox/b.txt": "b", "inbox/sub/b.txt": "b", "inbox/sub/made/b.txt": "b" },
      "outside.txt": "secret",
    });
  });

  it.each([
    ["move", { command: "move", target: "a.txt", destination: "b.txt" }],
    ["a trigger", { command: "approve", target: "a.txt" }],
    ["create-link", { command: "create-link", target: "a.txt" }],
    ["an unknown one", { command: "never", target: "a.txt" }],
  ])("takes %s for a malformed command, and does nothing", async (_, unknown) => {
    const visits = await openVisits({ inside, ...TRIGGERS });
    const url = await visits.link({ path: "/vault/inbox", permissions: ALL });
    const answer = await command(visits, url, [{ command: "create-folder", target: "made" }, unknown]);
    expect([answer.status, answer.header("error-code")]).toEqual([400, "commands-malformed"]);
    expect((await visits.owner("GET", "vault/inbox/made/")).status).toBe(404);
    expect(await visits.files()).toEqual(inside);
  });

  it.each(["rename-member", "move-members", "approve", "share-members", "never"])(
    "does not have the form action %s",
    async (action) => {
      const visits = await openVisits({ inside, ...TRIGGERS });
      const url = await visits.link({ path: "/vault/inbox", permissions: ALL });
      const answer = await visits.form(url, [
        ["action", action],
        ["selected-members", "a.txt"],
        ["new-name", "b.txt"],
        ["destination", "/sub"],
      ]);
      expect([answer.status, answer.header("error-code")]).toEqual([400, "link-action-unsupported"]);
      expect(await visits.files()).toEqual(inside);
    },
  );

  it("has the other form actions", async () => {
    const visits = await openVisits({ inside, ...TRIGGERS });
    const url = await visits.link({ path: "/vault/inbox", permissions: ALL });
    const page = await visits.visit("GET", url, { variant: "html" });
    expect(page.text).not.toMatch(/value="(?:move-members|approve|share-members)"|class="rename"/);
    const copied = await visits.form(url, [
      ["action", "copy-members"],
      ["selected-members", "a.txt"],
      ["destination", "/sub"],
    ]);
    expect([copied.status, copied.header("location")]).toEqual([303, `${url}?done=copied`]);
    const deleted = await visits.form(url, [
      ["action", "delete-members"],
      ["selected-members", "a.txt"],
    ]);
    expect(deleted.status).toBe(303);
    const made = await visits.form(url, [
      ["action", "create-folder"],
      ["new-folder", "made"],
    ]);
    expect(made.status).toBe(303);
    const archive = await visits.form(url, [
      ["action", "download-members"],
      ["selected-members", "sub"],
    ]);
    expect(archive.header("content-type")).toBe("application/zip");
    expect((await visits.files())["inbox/sub/a.txt"]).toBe("a");
  });
});
