import { expect } from "vitest";
import { LOCKS, PROPFINDS, PROPPATCHES } from "../../unit/webdav/recorded.ts";
import { type WireCase, wireCase } from "./case.ts";
import type { CallOptions, WireAnswer, WireEnvironment } from "./client.ts";

/** Sends a request below the folder of the case: `name` is what stands behind the folder's path. */
type Ask = (
  method: string,
  name: string,
  headers?: Readonly<Record<string, string>>,
  body?: string,
  options?: CallOptions,
) => Promise<WireAnswer>;

/** A client: each request has the headers that this program always sends. */
function clientOf({ call, folder }: WireEnvironment, own: Readonly<Record<string, string>>): Ask {
  return (method, name, headers = {}, body = undefined, options = {}) => {
    const type: Readonly<Record<string, string>> = body?.startsWith("<") ? { "Content-Type": "application/xml" } : {};
    const target = name === SELF ? folder.slice(0, -1) : name.startsWith("/") ? name : folder + name;
    const all = { ...own, ...type, ...headers };
    return call(method, target, {
      undescribed: UNDESCRIBED,
      ...(body !== undefined && { body }),
      ...options,
      headers: all,
    });
  };
}

const UNDESCRIBED = "OpenAPI has no place for the methods of WebDAV";
/** The folder of the case without its slash. */
const SELF = "(the folder without its slash)";

function bodyOf(recorded: Readonly<Record<string, readonly [string, ...unknown[]]>>, client: string): string {
  const [body] = recorded[client] ?? [];
  if (body === undefined) throw new Error(`Nothing is recorded of ${client}`);
  return body;
}

/** The token of a lock that was granted, without its angle brackets. */
function tokenOf(answer: WireAnswer): string {
  const [, token = ""] = /^<(opaquelocktoken:[^>]+)>$/.exec(answer.header("lock-token") ?? "") ?? [];
  expect(token).not.toBe("");
  return token;
}

/** The statuses of requests that follow each other. */
async function statusesOf(...asked: readonly (() => Promise<WireAnswer>)[]): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (const ask of asked) statuses.push((await ask()).status);
  return statuses;
}

const FINDER = { "User-Agent": "WebDAVFS/3.0.0 (03008000) Darwin/24.1.0 (arm64)", Accept: "*/*" };
const EXPLORER = { "User-Agent": "Microsoft-WebDAV-MiniRedir/10.0.22631", translate: "f" };
const OFFICE = {
  "User-Agent": "Microsoft Office Word 2014 (16.0.17328) Windows NT 10.0",
  "X-Office-Major-Version": "16",
};
const GVFS = { "User-Agent": "gvfs/1.54.2", "Accept-Language": "en-us, en;q=0.9" };
const NEON = { "User-Agent": "davfs2/1.6.1 neon/0.32.5", TE: "trailers" };
const LOCK_OF_ALL = { Depth: "0", Timeout: "Second-600" };

/** What clients of WebDAV send, in their order and with their headers (RFC 4918). */
export const webdavCases: readonly WireCase[] = [
  wireCase("Finder mounts, saves a new file under a lock, and sees it", async (environment) => {
    const ask = clientOf(environment, FINDER);
    const options = await ask("OPTIONS", "", {}, undefined, { as: null });
    expect([options.status, options.header("dav"), options.header("content-length")]).toEqual([200, "1, 2, 3", "0"]);
    const mounted = await ask("PROPFIND", "", { Depth: "0" }, bodyOf(PROPFINDS, "Finder (WebDAVFS), of a folder"));
    expect([mounted.status, mounted.text]).toEqual([207, expect.stringContaining("<D:collection/>")]);
    const quota = await ask("PROPFIND", "", { Depth: "0" }, bodyOf(PROPFINDS, "Finder (WebDAVFS), of the quota"));
    expect([quota.status, quota.text]).toEqual([207, expect.stringContaining("404 Not Found")]);
    expect((await ask("PROPFIND", "._new.txt", { Depth: "0" })).status).toBe(404);
    expect((await ask("PUT", "new.txt", {}, "")).status).toBe(201);
    const locked = await ask("LOCK", "new.txt", LOCK_OF_ALL, bodyOf(LOCKS, "Finder (WebDAVFS)"));
    expect([locked.status, locked.text]).toEqual([200, expect.stringContaining("Second-600")]);
    const token = tokenOf(locked);
    const fields = { If: `(<${token}>)`, "X-Expected-Entity-Length": "7" };
    expect((await ask("PUT", "new.txt", fields, "content", { chunked: true })).status).toBe(201);
    const seen = await ask("PROPFIND", "new.txt", { Depth: "0" }, bodyOf(PROPFINDS, "Finder (WebDAVFS), of a folder"));
    expect(seen.text).toContain("<D:getcontentlength>7</D:getcontentlength>");
    expect((await ask("UNLOCK", "new.txt", { "Lock-Token": `<${token}>` })).status).toBe(204);
    expect((await environment.call("GET", `${environment.folder}new.txt`)).text).toBe("content");
    expect(await environment.names()).toEqual(["new.txt"]);
  }),
  wireCase("Explorer walks down from the root, and never meets a redirect", async (environment) => {
    const ask = clientOf(environment, EXPLORER);
    const options = await ask("OPTIONS", "/", {}, undefined, { as: null });
    expect([options.status, options.header("ms-author-via")]).toEqual([200, "DAV"]);
    for (const path of ["/", "/home", SELF]) {
      expect((await ask("PROPFIND", path, { Depth: "0", "Content-Length": "0" })).status).toBe(207);
    }
    const listed = await ask("PROPFIND", SELF, { Depth: "1", "Content-Length": "0" });
    expect([listed.status, listed.header("content-location")]).toEqual([207, environment.folder]);
    expect(
      await statusesOf(
        () => ask("MKCOL", "New%20folder"),
        () => ask("PROPFIND", "New%20folder", { Depth: "0" }),
      ),
    ).toEqual([201, 207]);
    const moved = { Destination: `http://127.0.0.1${environment.folder}Letters`, Overwrite: "F" };
    expect((await ask("MOVE", "New%20folder", moved)).status).toBe(201);
    expect(await environment.names()).toEqual(["Letters"]);
    expect((await ask("DELETE", "Letters")).status).toBe(204);
    expect(await environment.names()).toEqual([]);
  }),
  wireCase(
    "Explorer saves a file under a lock, sets its four times, and unlocks it without brackets",
    async (environment) => {
      const ask = clientOf(environment, EXPLORER);
      expect((await ask("PUT", "a.txt", { "Content-Length": "0" })).status).toBe(201);
      // No `Depth`, which is `infinity`.
      const locked = await ask("LOCK", "a.txt", { Timeout: "Second-3600" }, bodyOf(LOCKS, "Explorer (MiniRedir)"));
      const token = tokenOf(locked);
      const fields = { If: `(<${token}>)` };
      expect((await ask("PUT", "a.txt", fields, "content")).status).toBe(201);
      const patched = await ask("PROPPATCH", "a.txt", fields, bodyOf(PROPPATCHES, "Explorer (MiniRedir)"));
      expect([patched.status, patched.text]).toEqual([207, expect.stringContaining("200 OK")]);
      expect(patched.text).not.toMatch(/HTTP\/1\.1 [45]/);
      expect((await ask("UNLOCK", "a.txt", { "Lock-Token": token })).status).toBe(204);
      expect((await ask("DELETE", "a.txt")).status).toBe(204);
    },
  ),
  wireCase(
    "Office edits a document: its lock is refreshed, and survives what is moved over it",
    async (environment) => {
      const { put, folder, call } = environment;
      await put("a.docx", "one");
      const ask = clientOf(environment, OFFICE);
      expect((await ask("HEAD", "a.docx")).status).toBe(200);
      const token = tokenOf(await ask("LOCK", "a.docx", { Timeout: "Second-180" }, bodyOf(LOCKS, "Office")));
      const refreshed = await ask("LOCK", "a.docx", { Timeout: "Second-3600", If: `(<${token}>)` });
      expect([refreshed.status, refreshed.text]).toEqual([200, expect.stringContaining(token)]);
      expect(refreshed.text).toContain("Second-3600");
      expect((await ask("PUT", "a.docx", { "Lock-Token": `<${token}>` }, "two")).status).toBe(201);
      expect((await ask("PUT", "~WRD0001.tmp", {}, "three")).status).toBe(201);
      const over = {
        Destination: `http://127.0.0.1${folder}a.docx`,
        Overwrite: "T",
        If: `<${folder}a.docx> (<${token}>)`,
      };
      expect((await ask("MOVE", "~WRD0001.tmp", over)).status).toBe(204);
      const discovered = await ask("PROPFIND", "a.docx", { Depth: "0" }, bodyOf(PROPFINDS, "Office on Windows"));
      expect(discovered.text).toContain(token);
      expect((await call("PUT", `${folder}a.docx`, { body: "another program" })).status).toBe(423);
      expect((await ask("UNLOCK", "a.docx", { "Lock-Token": `<${token}>` })).status).toBe(204);
      expect((await call("GET", `${folder}a.docx`)).text).toBe("three");
    },
  ),
  wireCase(
    "gvfs looks for the root of the mount, makes a folder, and moves it without its slash",
    async (environment) => {
      const ask = clientOf(environment, GVFS);
      const body = bodyOf(PROPFINDS, "gvfs");
      expect((await ask("OPTIONS", "")).header("dav")).toContain("1");
      for (const path of ["", "/home/", "/"])
        expect((await ask("PROPFIND", path, { Depth: "0" }, body)).status).toBe(207);
      expect((await ask("MKCOL", "one/")).status).toBe(201);
      await environment.put("one/a%20%26%20b.txt", "content");
      const moved = { Destination: `http://127.0.0.1${environment.folder}two`, Overwrite: "F" };
      expect((await ask("MOVE", "one", moved)).status).toBe(201);
      const listed = await ask("PROPFIND", "two/", { Depth: "1" }, body);
      expect([...listed.text.matchAll(/<D:href>([^<]*)</g)].map(([, href]) => href)).toEqual([
        `${environment.folder}two/`,
        `${environment.folder}two/a%20&amp;%20b.txt`,
      ]);
    },
  ),
  wireCase("davfs2 locks a new file, stores it, sets a property, and finds its lock again", async (environment) => {
    const ask = clientOf(environment, NEON);
    const locked = await ask("LOCK", "new.txt", LOCK_OF_ALL, bodyOf(LOCKS, "davfs2 (neon)"));
    expect(locked.status).toBe(201);
    const token = tokenOf(locked);
    const fields = { If: `<http://127.0.0.1${environment.folder}new.txt> (<${token}>)` };
    expect((await ask("PUT", "new.txt", fields, "content")).status).toBe(201);
    const patched = await ask("PROPPATCH", "new.txt", fields, bodyOf(PROPPATCHES, "davfs2 (neon), the executable bit"));
    expect([patched.status, patched.text]).toEqual([207, expect.stringContaining("200 OK")]);
    const seen = await ask("PROPFIND", "new.txt", { Depth: "0" }, bodyOf(PROPFINDS, "davfs2 (neon)"));
    expect(seen.text).toMatch(/executable[^>]*>T<\//);
    const discovered = await ask("PROPFIND", "new.txt", { Depth: "0" }, bodyOf(PROPFINDS, "LibreOffice"));
    expect(discovered.text).toContain(`<D:href>${token}</D:href>`);
    expect((await ask("UNLOCK", "new.txt", { "Lock-Token": `<${token}>` })).status).toBe(204);
  }),
  wireCase("COPY and MOVE take a tree along, and are reported once", async (environment) => {
    const { put, call, folder, names, events } = environment;
    await call("PUT", `${folder}one/`);
    await put("one/a.txt", "content");
    const ask = clientOf(environment, {});
    const to = (name: string) => ({ Destination: folder + name });
    expect(
      await statusesOf(
        () => ask("COPY", "one/", to("two/")),
        () => ask("COPY", "one/", { ...to("two/"), Overwrite: "F" }),
        () => ask("COPY", "one/", to("two/")),
        () => ask("COPY", "one/", to("one/below/")),
        () => ask("MOVE", "one/", to("three/")),
        () => ask("MOVE", "one/", to("four/")),
        () => ask("MOVE", "two/", to("none/two/")),
        () => ask("MOVE", "two/", { Destination: `http://elsewhere.example${folder}four/` }),
        () => ask("MOVE", "two/", { Destination: "/elsewhere/" }),
        () => ask("MOVE", "two/"),
      ),
    ).toEqual([201, 412, 204, 403, 201, 404, 409, 502, 403, 400]);
    expect(await names()).toEqual(["three", "two"]);
    for (const name of ["two", "three"]) expect((await call("GET", `${folder}${name}/a.txt`)).text).toBe("content");
    expect(await events([49001], 2)).toHaveLength(2);
    expect(await events([40055], 1)).toHaveLength(1);
  }),
  wireCase("of ten that lock one name at once one has it", async (environment) => {
    const { callAtOnce, folder, events, call } = environment;
    const options = {
      headers: { Depth: "0", "Content-Type": "application/xml" },
      body: bodyOf(LOCKS, "LibreOffice"),
      undescribed: UNDESCRIBED,
    };
    const { answers } = await callAtOnce(
      Array.from({ length: 10 }, () => ["LOCK", `${folder}a.txt`, options] as const),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 9 }, () => 423)]);
    expect(await events([49003], 1)).toHaveLength(1);
    expect((await call("DELETE", `${folder}a.txt`)).status).toBe(423);
  }),
  ...(
    [
      ["no XML", 400, "PROPFIND", "<propfind"],
      [
        "a document type",
        400,
        "PROPFIND",
        '<!DOCTYPE x [<!ENTITY e "e">]><propfind xmlns="DAV:"><allprop/></propfind>',
      ],
      [
        "an unknown scope",
        422,
        "LOCK",
        '<lockinfo xmlns="DAV:"><lockscope><shy/></lockscope><locktype><write/></locktype></lockinfo>',
      ],
    ] as const
  ).map(([what, status, method, body]) =>
    wireCase(`the body of a ${method} with ${what} is ${status}`, async (environment) => {
      expect((await clientOf(environment, {})(method, "", { Depth: "0" }, body)).status).toBe(status);
    }),
  ),
  wireCase("the body of a PROPFIND with more than 64 KiB is 413", async ({ callAtOnce, folder }) => {
    const body = `<propfind xmlns="DAV:">${" ".repeat(65_536)}<allprop/></propfind>`;
    const headers = { Depth: "0", "Content-Type": "application/xml" };
    // On a connection of its own: the server may close a connection with an unread body after the answer.
    const { answers } = await callAtOnce([["PROPFIND", folder, { headers, body, undescribed: UNDESCRIBED }]]);
    expect(answers.map(({ status }) => status)).toEqual([413]);
  }),
  wireCase("PROPFIND of infinite depth is 403, and says why", async (environment) => {
    const answer = await clientOf(environment, {})("PROPFIND", "", { Depth: "infinity" });
    expect([answer.status, answer.header("content-type")]).toEqual([403, "application/xml; charset=utf-8"]);
    expect(answer.text).toContain("<D:propfind-finite-depth/>");
  }),
  wireCase("a method of WebDAV without credentials is 401 with Basic alone", async (environment) => {
    const answer = await clientOf(environment, {})("PROPFIND", "", { Depth: "0" }, undefined, { as: null });
    expect([answer.status, answer.header("www-authenticate")]).toEqual([401, 'basic realm="Web files access"']);
  }),
];
