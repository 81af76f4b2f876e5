import { describe, expect, it } from "vitest";
import { uploadsOf } from "../../support/forms.ts";
import { openVisits, type Visits } from "./visits.ts";

const inside = { "inbox/a.txt": "old", "inbox/b.txt": "other", "inbox/sub/c.txt": "deep" };
const WRITING = ["allow-read", "allow-list", "allow-write", "allow-create-folder"] as const;
const REFUSED = { errors: [{ message: "The link does not permit replacing a file." }] };
const LOCK_BODY =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>';

describe.each(["memory", "disk"] as const)("a link that may write, but not delete, on %s (SHARING 6.1)", (kind) => {
  async function open(): Promise<Visits & { readonly url: string }> {
    const visits = await openVisits({ kind, inside, webdav: {} });
    if (kind === "disk") await visits.symlink("inbox/pointer");
    return { ...visits, url: await visits.link({ path: "/vault/inbox", permissions: WRITING }) };
  }

  /** What must be there after each attempt to replace something. */
  async function expectUntouched(visits: Visits): Promise<void> {
    expect(await visits.files()).toEqual({ ...inside, ...(kind === "disk" && { "inbox/pointer": "-> a link" }) });
  }

  it("replaces nothing by PUT, whatever the conditions", async () => {
    const visits = await open();
    const names = kind === "disk" ? ["a.txt", "pointer"] : ["a.txt"];
    for (const name of names) {
      const conditions = [{}, { "if-match": "*" }, { "if-none-match": '"x"' }] as const;
      for (const headers of name === "pointer" ? [{}] : conditions) {
        const answer = await visits.visit("PUT", visits.url + name, { variant: "json", headers, body: "new" });
        expect([answer.status, answer.json()]).toEqual([403, REFUSED]);
      }
    }
    expect((await visits.visit("PUT", `${visits.url}new.txt`, { body: "new", variant: "json" })).status).toBe(201);
    expect((await visits.owner("DELETE", "vault/inbox/new.txt")).status).toBe(204);
    await expectUntouched(visits);
  });

  it("replaces nothing by a form", async () => {
    const visits = await open();
    const names = { "a.txt": "new", ...(kind === "disk" && { pointer: "new" }) };
    const entries = [["action", "upload-file"], ...uploadsOf(names)] as const;
    const json = await visits.form(visits.url, entries, { headers: { accept: "application/json" } });
    const message = "The link does not permit replacing a file.";
    const errors = Object.keys(names).map((target) => ({ target, message }));
    expect([json.status, json.json()]).toEqual([422, { errors }]);
    const page = await visits.form(visits.url, entries);
    expect(page.status).toBe(403);
    expect(page.text).toContain(message);
    await expectUntouched(visits);
  });

  it.each(["action first", "files first"])("stores one file of a form for a link to a file: %s", async (order) => {
    const visits = await open();
    const url = await visits.link({ path: "/vault/inbox/new.txt", permissions: ["allow-write", "allow-delete-file"] });
    const files = uploadsOf({ "one.txt": "first", "two.txt": "second" });
    const action = ["action", "upload-file"] as const;
    const entries = order === "action first" ? [action, ...files] : [...files, action];
    const json = await visits.form(url, entries, { headers: { accept: "application/json" } });
    const errors = [
      { target: "one.txt", message: null },
      { target: "two.txt", message: "The link takes a single file." },
    ];
    expect([json.status, json.json()]).toEqual([422, { errors }]);
    expect(await visits.files()).toMatchObject({ "inbox/new.txt": "first" });
    expect((await visits.form(url, entries)).status).toBe(400);
    expect((await visits.owner("DELETE", "vault/inbox/new.txt")).status).toBe(204);
    await expectUntouched(visits);
  });

  it("replaces nothing by COPY, the command and the form", async () => {
    const visits = await open();
    for (const name of ["a.txt", "sub", ...(kind === "disk" ? ["pointer"] : [])]) {
      const headers = { destination: `http://files.example${visits.url}${name}`, overwrite: "T" };
      expect((await visits.visit("COPY", `${visits.url}b.txt`, { headers })).status, name).toBe(403);
      const commands = [{ command: "copy", target: "b.txt", destination: name, overwrite: true }];
      const answer = await visits.visit("POST", visits.url, {
        variant: "json",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ commands }),
      });
      expect(answer.status).toBe(422);
    }
    const form = await visits.form(visits.url, [
      ["action", "copy-members"],
      ["selected-members", "c.txt"],
      ["destination", "/"],
    ]);
    expect(form.status).not.toBe(303);
    const headers = { destination: `http://files.example${visits.url}copy.txt`, overwrite: "T" };
    expect((await visits.visit("COPY", `${visits.url}b.txt`, { headers })).status).toBe(201);
    expect((await visits.owner("DELETE", "vault/inbox/copy.txt")).status).toBe(204);
    await expectUntouched(visits);
  });

  it("locks a free name, and nothing but what it has made itself stays", async () => {
    const visits = await open();
    const made = await visits.visit("LOCK", `${visits.url}locked.txt`, { body: LOCK_BODY });
    expect(made.status).toBe(201);
    const token = made.header("lock-token") ?? "";
    const put = await visits.visit("PUT", `${visits.url}locked.txt`, {
      variant: "webdav",
      headers: { if: `(${token})` },
      body: "x",
    });
    expect(put.status).toBe(403);
    expect((await visits.owner("PUT", "vault/inbox/locked.txt", { body: "x" })).status).toBe(423);
    expect((await visits.visit("UNLOCK", `${visits.url}locked.txt`, { headers: { "lock-token": token } })).status).toBe(
      204,
    );
    expect((await visits.owner("DELETE", "vault/inbox/locked.txt")).status).toBe(204);
    if (kind === "disk")
      expect((await visits.visit("LOCK", `${visits.url}pointer`, { body: LOCK_BODY })).status).not.toBe(201);
    await expectUntouched(visits);
  });

  it("replaces nothing by uploads in several requests", async () => {
    const visits = await open();
    const draft = { "upload-draft-interop-version": "8", "upload-complete": "?0" };
    const refused = await visits.visit("PUT", `${visits.url}a.txt`, { variant: "json", headers: draft });
    expect([refused.status, refused.json()]).toEqual([403, REFUSED]);
    const started = await visits.visit("PUT", `${visits.url}late.txt`, { headers: draft, body: "mi" });
    const upload = started.header("location") ?? "";
    expect((await visits.owner("PUT", "vault/inbox/late.txt", { body: "theirs" })).status).toBe(201);
    const append = { "upload-complete": "?1", "upload-offset": "2", "content-type": "application/partial-upload" };
    const ended = await visits.visit("PATCH", upload, { headers: append, body: "ne" });
    expect([ended.status, ended.header("upload-complete")]).toEqual([403, "?1"]);
    expect((await visits.files())["inbox/late.txt"]).toBe("theirs");
    expect((await visits.owner("DELETE", "vault/inbox/late.txt")).status).toBe(204);
    await expectUntouched(visits);
  });

  it("makes a file once by uploads that are joined, also where it may not replace one", async () => {
    const visits = await open();
    const tus = { "tus-resumable": "1.0.0", "content-type": "application/offset+octet-stream" };
    const part = await visits.visit("POST", visits.url, {
      headers: { ...tus, "upload-length": "3", "upload-concat": "partial" },
      body: "new",
    });
    const concat = { "tus-resumable": "1.0.0", "upload-concat": `final;${part.header("location")}` };
    const replaced = await visits.visit("POST", `${visits.url}a.txt`, { headers: concat });
    expect(replaced.status).toBe(403);
    const joined = await visits.visit("POST", `${visits.url}joined.txt`, { headers: concat });
    expect(joined.status).toBe(201);
    expect((await visits.files())["inbox/joined.txt"]).toBe("new");
  });

  it("may replace files with allow-delete-file beside it", async () => {
    const visits = await openVisits({ kind, inside });
    const url = await visits.link({ path: "/vault/inbox", permissions: [...WRITING, "allow-delete-file"] });
    expect((await visits.visit("PUT", `${url}a.txt`, { body: "new" })).status).toBe(201);
    const form = await visits.form(url, [["action", "upload-file"], ...uploadsOf({ "b.txt": "new" })]);
    expect(form.status).toBe(303);
    expect(await visits.files()).toEqual({ "inbox/a.txt": "new", "inbox/b.txt": "new", "inbox/sub/c.txt": "deep" });
  });

  it("to one file takes exactly this one, once, and tells nothing of the folder around it", async () => {
    const visits = await openVisits({ kind, inside, webdav: {} });
    const url = await visits.link({ path: "/vault/inbox/one.txt", permissions: ["allow-write"] });
    for (const path of ["two.txt", "a.txt", "sub/c.txt", "sub", "never/x.txt"])
      expect((await visits.visit("PUT", url + path, { body: "x" })).status, path).toBe(403);
    const destination = { destination: `http://files.example${url}one.txt` };
    const outcomes = new Map<string, Set<number>>();
    for (const path of ["a.txt", "sub", "never"]) {
      for (const method of ["GET", "HEAD", "DELETE", "LOCK", "COPY", "MKCOL", "PROPFIND", "PROPPATCH"]) {
        const body = method === "LOCK" ? LOCK_BODY : undefined;
        const headers = method === "COPY" ? destination : {};
        const { status } = await visits.visit(method, url + path, { variant: "webdav", headers, body });
        outcomes.set(method, (outcomes.get(method) ?? new Set()).add(status));
      }
    }
    for (const [method, statuses] of outcomes) expect([method, statuses.size]).toEqual([method, 1]);
    const root = await visits.visit("PROPFIND", url, { headers: { depth: "1" } });
    expect(root.text).not.toMatch(/inbox|getlastmodified>/);
    expect((await visits.visit("GET", url, { variant: "json" })).json()).toEqual({ content: [] });
    expect((await visits.visit("PUT", `${url}one.txt`, { body: "mine" })).status).toBe(201);
    expect((await visits.visit("GET", `${url}one.txt`)).status).toBe(403);
    const again = await visits.visit("PUT", `${url}one.txt`, { variant: "json", body: "again" });
    expect([again.status, again.json()]).toEqual([403, REFUSED]);
    expect(await visits.files()).toEqual({ ...inside, "inbox/one.txt": "mine" });
  });

  it("to one file takes a form with a file of any name as that one", async () => {
    const visits = await openVisits({ kind, inside });
    const url = await visits.link({ path: "/vault/inbox/one.txt", permissions: ["allow-write"] });
    const entries = [["action", "upload-file"], ...uploadsOf({ "scan 0001.txt": "scanned" })] as const;
    const answer = await visits.form(url, entries);
    expect([answer.status, answer.header("location")]).toEqual([303, `${url}?done=uploaded`]);
    expect((await visits.files())["inbox/one.txt"]).toBe("scanned");
    const page = await visits.visit("GET", `${url}?done=uploaded`, { variant: "html" });
    expect(page.text).toContain("The upload is complete.");
    expect(page.text).not.toContain("<form");
    const again = await visits.form(url, entries);
    expect(again.status).toBe(403);
    expect(again.text).toContain("The link does not permit replacing a file.");
  });
});
