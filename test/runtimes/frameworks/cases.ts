import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { askRaw, BASIC, expectContinue, type FrameworkClient } from "./client.ts";
import { leftDownloads, shortenedFiles } from "./downloads.ts";
import { awaitedBodies, cutUploads, largeFiles, parsableContent, unread, withheldBodies } from "./uploads.ts";

/** One sentence about a mounted service, for every framework. */
export interface FrameworkCase {
  readonly title: string;
  /** The only platform on which it can be seen. */
  readonly platform?: NodeJS.Platform;
  run(client: FrameworkClient): Promise<void>;
}

const JSON_TYPE = { "content-type": "application/json" };
const HTML = { accept: "text/html" };

async function otherRoutes({ call, host }: FrameworkClient): Promise<void> {
  const hello = await call("GET", "/api/hello", { anonymous: true });
  expect([hello.status, hello.text]).toEqual([200, '{"hello":"world"}']);
  const body = '{"a":[1,2]}';
  const echo = await call("POST", "/api/echo", { anonymous: true, headers: JSON_TYPE, body });
  expect([echo.status, echo.text]).toEqual([200, body]);
  // A server that is prepared for uploads goes on to ask for the bodies of others.
  const awaited = await expectContinue(host, "POST", "/api/echo", JSON_TYPE, body);
  expect(awaited).toEqual({ isContinued: true, status: 200 });
}

async function foreignUrls({ call }: FrameworkClient): Promise<void> {
  for (const path of ["/nothing", "/filesystem", "/files/nothing", "/home/a"]) {
    const answer = await call("GET", path);
    expect([path, answer.status, answer.headers.get("server"), answer.text]).toEqual([
      path,
      404,
      null,
      expect.stringMatching(/not found|cannot (?:get|find)/i),
    ]);
  }
}

async function logins({ call }: FrameworkClient): Promise<void> {
  const form = await call("POST", "/files/__svc__/login", {
    anonymous: true,
    headers: { ...HTML, "content-type": "application/x-www-form-urlencoded" },
    body: "username=alice&password=secret",
  });
  expect([form.status, form.headers.get("location")]).toEqual([302, "/files/home/"]);
  const [cookie = ""] = form.headers.get("set-cookie")?.split(";") ?? [];
  const [listed, out, basic, wrong] = [
    await call("GET", "/files/home/", { headers: { cookie } }),
    await call("POST", "/files/__svc__/logout", { headers: { cookie } }),
    await call("GET", "/files/home/", { headers: { authorization: BASIC } }),
    await call("GET", "/files/home/", {
      headers: { authorization: `Basic ${btoa("alice:wrong")}`, accept: "application/json" },
    }),
  ];
  expect([listed.status, out.status, basic.status, wrong.status]).toEqual([200, 204, 200, 401]);
  expect(wrong.headers.get("www-authenticate")).toMatch(/basic realm=/i);
  expect((await call("GET", "/files/home/", { headers: { cookie, accept: "application/json" } })).status).toBe(401);
}

async function commands({ call, host }: FrameworkClient): Promise<void> {
  const body = JSON.stringify({ commands: [{ command: "create-folder", target: "made" }] });
  const headers = { ...JSON_TYPE, accept: "application/json" };
  const answer = await call("POST", "/files/home/", { headers, body });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
  expect(await readdir(host.root)).toContain("made");
}

async function forms({ call, host }: FrameworkClient): Promise<void> {
  const body = new FormData();
  body.set("action", "upload-file");
  body.append("upload-file", new Blob([`form ${"x".repeat(100_000)}`]), "from a form.txt");
  const answer = await call("POST", "/files/home/", { headers: { ...HTML, origin: host.origin }, body });
  expect([answer.status, answer.headers.get("location")]).toEqual([303, "/files/home/?done=uploaded"]);
  expect(await readFile(join(host.root, "from a form.txt"), "utf8")).toHaveLength(100_005);
}

async function folders({ call }: FrameworkClient): Promise<void> {
  expect((await call("PUT", "/files/home/folder/")).status).toBe(201);
  expect((await call("PUT", "/files/home/folder/a", { body: "x" })).status).toBe(201);
  const listing = await call("GET", "/files/home/folder/", { headers: { accept: "application/json" } });
  expect(JSON.parse(listing.text)).toMatchObject({ content: [{ name: "a", size: 1 }] });
  const options = await call("OPTIONS", "/files/home/folder/", { anonymous: true });
  expect([options.status, options.headers.get("allow")]).toEqual([204, expect.stringContaining("MKCOL")]);
  expect((await call("DELETE", "/files/home/folder/")).status).toBe(204);
  expect((await call("GET", "/files/home/folder/")).status).toBe(404);
}

async function webdavMethods({ call }: FrameworkClient): Promise<void> {
  expect((await call("MKCOL", "/files/home/collection/")).status).toBe(201);
  expect((await call("MKCOL", "/files/home/collection/")).status).toBe(405);
  expect((await call("PROPFIND", "/files/home/")).status).toBe(501);
}

async function archives({ call }: FrameworkClient): Promise<void> {
  await call("PUT", "/files/home/zipped/");
  await call("PUT", "/files/home/zipped/a.txt", { body: "zipped content" });
  const answer = await call("GET", "/files/home/zipped/", { headers: { accept: "application/zip" } });
  expect([answer.status, answer.headers.get("content-disposition")]).toEqual([
    200,
    expect.stringContaining('filename="zipped.zip"'),
  ]);
  expect(answer.headers.get("content-length")).toBe(`${answer.bytes.byteLength}`);
  expect(Buffer.from(answer.bytes).toString("latin1", 0, 4)).toBe("PK\u0003\u0004");
  expect(answer.text).toContain("zipped content");
}

async function partsAndConditions({ call }: FrameworkClient): Promise<void> {
  const path = "/files/home/text";
  const etag = (await call("PUT", path, { body: "0123456789" })).headers.get("etag") ?? "";
  const part = await call("GET", path, { headers: { range: "bytes=2-4" } });
  expect([part.status, part.text, part.headers.get("content-range")]).toEqual([206, "234", "bytes 2-4/10"]);
  expect((await call("GET", path, { headers: { range: "bytes=20-" } })).status).toBe(416);
  const head = await call("HEAD", path);
  expect([head.status, head.headers.get("content-length"), head.headers.get("etag"), head.text]).toEqual([
    200,
    "10",
    etag,
    "",
  ]);
  const unchanged = await call("GET", path, { headers: { "if-none-match": etag } });
  expect([unchanged.status, unchanged.headers.get("etag"), unchanged.text]).toEqual([304, etag, ""]);
  const refused = await call("PUT", path, { headers: { "if-none-match": "*" }, body: "new" });
  expect(refused.status).toBe(412);
}

async function errorPages({ call }: FrameworkClient): Promise<void> {
  const plain = await call("GET", "/files/home/absent", { headers: { accept: "*/*" } });
  expect([plain.status, plain.headers.get("content-type"), JSON.parse(plain.text)]).toEqual([
    404,
    "application/json; charset=utf-8",
    { errors: [{ message: "Not found." }] },
  ]);
  expect(plain.headers.get("server")).toMatch(/^fileferry\//);
  const page = await call("GET", "/files/home/absent", { headers: HTML });
  expect([page.status, page.text]).toEqual([404, expect.stringContaining("/files/__svc__/assets/")]);
}

async function redirects({ call }: FrameworkClient): Promise<void> {
  await call("PUT", "/files/home/deep/");
  const locations = [];
  for (const path of ["/files", "/files/", "/files/home", "/files/home/deep?x=1"]) {
    const { status, headers } = await call("GET", path);
    locations.push([path, status, headers.get("location")]);
  }
  expect(locations).toEqual([
    ["/files", 302, "/files/home/"],
    ["/files/", 302, "/files/home/"],
    ["/files/home", 302, "/files/home/"],
    ["/files/home/deep?x=1", 302, "/files/home/deep/?x=1"],
  ]);
  const login = await call("GET", "/files/home/deep/", { anonymous: true, headers: HTML });
  expect(login.headers.get("location")).toMatch(/^\/files\/__svc__\/login\?/);
}

async function names({ call, host }: FrameworkClient): Promise<void> {
  expect((await call("PUT", "/files/home/100%25%20%C3%A4%2B+%2541", { body: "x" })).status).toBe(201);
  expect(await readdir(host.root)).toContain("100% ä++%41");
}

async function reservedNames({ call }: FrameworkClient): Promise<void> {
  for (const name of ["index.html", "_payload.json", "__data.json"]) {
    const path = `/files/home/${name}`;
    expect([name, (await call("PUT", path, { body: "content" })).status]).toEqual([name, 201]);
    expect([name, (await call("GET", path)).text]).toEqual([name, "content"]);
  }
}

async function traversal(client: FrameworkClient): Promise<void> {
  for (const target of ["/files/home/../../etc/passwd", "/files/home/%2e%2e/%2e%2e/etc/passwd", "/files/home/a%2fb"]) {
    expect([target, await askRaw(client, target)]).toEqual([target, expect.stringMatching(/^HTTP\/1\.1 40[04] /)]);
  }
}

/** What a service does wherever it is mounted. */
export const frameworkCases: readonly FrameworkCase[] = [
  { title: "leaves the other routes what is theirs", run: otherRoutes },
  { title: "leaves unknown URLs above and below its prefix to the framework", run: foreignUrls },
  { title: "logs in by form and cookie, by JSON and by Basic, and out", run: logins },
  { title: "takes large files byte for byte and gives them back", run: largeFiles },
  { title: "stores what a parser could take, byte for byte", run: parsableContent },
  { title: "runs commands in JSON", run: commands },
  { title: "takes forms of browsers", run: forms },
  { title: "makes, lists and removes folders", run: folders },
  { title: "answers the methods of WebDAV", run: webdavMethods },
  { title: "sends ZIP archives", run: archives },
  { title: "answers ranges, HEAD and conditions", run: partsAndConditions },
  { title: "asks for no body that it refuses", run: withheldBodies },
  { title: "asks for a body that it takes", run: awaitedBodies },
  { title: "keeps the former file, and nothing else, of an upload that is cut", run: cutUploads },
  { title: "breaks the connection under a file that gets shorter", run: shortenedFiles },
  { title: "closes a file whose reader has left", platform: "linux", run: leftDownloads },
  { title: "answers with errors of its own", run: errorPages },
  { title: "keeps its prefix in redirects", run: redirects },
  { title: "decodes names once", run: names },
  { title: "serves files with names that frameworks give a meaning", run: reservedNames },
  { title: "lets nobody out of the account", run: traversal },
  { title: "goes on after an upload that it refused in the middle", run: unread },
];
