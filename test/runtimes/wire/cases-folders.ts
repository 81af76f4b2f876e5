import { expect } from "vitest";
import { type WireCase, wireCase } from "./case.ts";
import type { WireAnswer, WireEnvironment } from "./client.ts";

const JSON_API = { Accept: "application/json" };
const JSON_BODY = { ...JSON_API, "Content-Type": "application/json; charset=utf-8" };

type Command = readonly [command: string, target: unknown];

function post({ call, folder }: WireEnvironment, ...commands: readonly Command[]): Promise<WireAnswer> {
  const body = JSON.stringify({ commands: commands.map(([command, target]) => ({ command, target })) });
  return call("POST", folder, { headers: JSON_BODY, body });
}

/** Folders, their commands and archives (4.2, 4.3, 4.5; CONTRACT 3.3, 3.4, 4.4, 4.5). */
export const folderCases: readonly WireCase[] = [
  wireCase("PUT creates a folder; once more is 422", async ({ call, folder, names }) => {
    expect((await call("PUT", `${folder}sub/`, { headers: JSON_API })).status).toBe(201);
    expect((await call("PUT", `${folder}sub/`, { headers: JSON_API })).status).toBe(422);
    expect(await names()).toEqual(["sub"]);
  }),
  wireCase("MKCOL creates a folder; once more is 405 with Allow", async ({ call, folder, names }) => {
    expect((await call("MKCOL", `${folder}sub/`)).status).toBe(201);
    const again = await call("MKCOL", `${folder}sub/`);
    expect([again.status, again.header("allow")?.includes("MKCOL")]).toEqual([405, false]);
    expect(await names()).toEqual(["sub"]);
  }),
  wireCase("MKCOL below a missing folder is 409", async ({ call, folder }) => {
    expect((await call("MKCOL", `${folder}none/sub/`)).status).toBe(409);
  }),
  wireCase("MKCOL with content is 415", async ({ call, folder, names }) => {
    expect((await call("MKCOL", `${folder}sub/`, { body: "<x/>" })).status).toBe(415);
    expect(await names()).toEqual([]);
  }),
  wireCase("MKCOL on a file's URL is 405", async ({ call, folder, put }) => {
    await put("file", "x");
    expect((await call("MKCOL", `${folder}file`)).status).toBe(405);
  }),
  wireCase("a listing has the members with their attributes", async ({ call, folder, put }) => {
    await put("a.txt", "12345");
    await call("PUT", `${folder}sub/`);
    const answer = await call("GET", folder, { headers: JSON_API });
    expect([answer.status, answer.header("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
    expect(answer.header("server-path")).toBe(folder.slice(5, -1));
    const { content } = answer.json<{ content: { name: string }[] }>();
    expect(content.sort((one, other) => (one.name < other.name ? -1 : 1))).toEqual([
      { name: "a.txt", is_directory: false, modified: expect.any(Number), size: 5 },
      { name: "sub", is_directory: true, modified: expect.any(Number), size: 0 },
    ]);
  }),
  wireCase("a listing in pages has every member once, by name", async ({ call, folder, put }) => {
    for (const name of ["b.txt", "a.txt", "c.txt"]) await put(name, "x");
    const found: string[] = [];
    for (let next: string | undefined = `${folder}?limit=2`; next !== undefined; ) {
      const page: WireAnswer = await call("GET", next, { headers: { ...JSON_API, Prefer: "order=name" } });
      expect([page.status, page.header("preference-applied")]).toEqual([200, "order=name"]);
      found.push(...page.json<{ content: { name: string }[] }>().content.map(({ name }) => name));
      next = /^<([^>]+)>; rel="next"$/.exec(page.header("link") ?? "")?.[1];
    }
    expect(found).toEqual(["a.txt", "b.txt", "c.txt"]);
  }),
  wireCase("HEAD of a listing has no content", async ({ call, folder }) => {
    const answer = await call("HEAD", folder, { headers: JSON_API });
    expect([answer.status, answer.bytes.length]).toEqual([200, 0]);
  }),
  wireCase("a folder without its slash is 302 for GET and HEAD, the query kept", async ({ call, folder }) => {
    for (const method of ["GET", "HEAD"]) {
      const answer = await call(method, `${folder.slice(0, -1)}?a=b`, { headers: JSON_API });
      expect([answer.status, answer.header("location")]).toEqual([302, `${folder}?a=b`]);
    }
  }),
  wireCase("a folder without its slash is 307 for DELETE and POST", async ({ call, folder }) => {
    for (const method of ["DELETE", "POST"]) {
      const answer = await call(method, folder.slice(0, -1), { headers: JSON_BODY, body: "{}" });
      expect([answer.status, answer.header("location")]).toEqual([307, folder]);
    }
  }),
  wireCase("DELETE of a folder takes everything under it", async ({ call, folder, put, names }) => {
    await call("PUT", `${folder}sub/`);
    await call("PUT", `${folder}sub/deep/`);
    await put("sub/deep/a", "x");
    expect((await call("DELETE", `${folder}sub/`)).status).toBe(204);
    expect(await names()).toEqual([]);
  }),
  wireCase("the root of the account cannot be removed", async ({ call }) => {
    expect((await call("DELETE", "/home/")).status).toBe(403);
  }),
  wireCase("the root of a virtual folder cannot be removed, and is listed", async ({ call }) => {
    expect((await call("DELETE", "/home/public/")).status).toBe(403);
    expect((await call("GET", "/home/", { headers: JSON_API })).text).toContain('"public"');
  }),
  wireCase("commands run in order, each with its result", async (environment) => {
    await environment.put("a", "x");
    const answer = await post(
      environment,
      ["create-folder", "new"],
      ["delete", "a"],
      ["create-folder-if-missing", "new"],
    );
    expect([answer.status, answer.json()]).toEqual([
      200,
      { results: ["new", "a", "new"].map((target) => ({ target, message: null })) },
    ]);
    expect(await environment.names()).toEqual(["new"]);
  }),
  wireCase("a command that fails leaves the others running: 422", async (environment) => {
    const answer = await post(environment, ["delete", "none"], ["create-folder", "new"]);
    expect([answer.status, answer.json()]).toEqual([
      422,
      {
        errors: [
          { target: "none", message: expect.any(String) },
          { target: "new", message: null },
        ],
      },
    ]);
    expect(await environment.names()).toEqual(["new"]);
  }),
  ...(
    [
      ["an unknown command", [["explode", "a"]]],
      ["a list where one name belongs", [["delete", ["a"]]]],
      ["a command in capitals", [["DELETE", "a"]]],
    ] as const
  ).map(([what, commands]) =>
    wireCase(`commands with ${what} are 400, and nothing is done`, async (environment) => {
      await environment.put("a", "x");
      expect((await post(environment, ["create-folder", "new"], ...commands)).status).toBe(400);
      expect(await environment.names()).toEqual(["a"]);
    }),
  ),
  wireCase("no commands are 400", async (environment) => {
    expect((await post(environment)).status).toBe(400);
  }),
  wireCase("commands that are no JSON are 400", async ({ call, folder }) => {
    expect((await call("POST", folder, { headers: JSON_BODY, body: "{" })).status).toBe(400);
  }),
  wireCase("commands of more than 1 MiB are 413", async ({ callAtOnce, folder }) => {
    const body = `{"commands":[]${" ".repeat(1024 * 1024)}}`;
    // On a connection of its own: the server may close a connection with an unread body after the answer.
    const { answers } = await callAtOnce([["POST", folder, { headers: JSON_BODY, body }]]);
    expect(answers.map(({ status }) => status)).toEqual([413]);
  }),
  wireCase("a name that leads elsewhere is its target's failure", async (environment) => {
    const answer = await post(
      environment,
      ["create-folder", "../up"],
      ["create-folder", ".."],
      ["create-folder", "a/b"],
    );
    expect(answer.status).toBe(422);
    expect(await environment.names()).toEqual([]);
  }),
  wireCase("a trigger runs on each member, and is reported", async (environment) => {
    await environment.put("a", "x");
    await environment.call("PUT", `${environment.folder}sub/`);
    const answer = await post(environment, ["publish", ["a", "sub"]]);
    expect([answer.status, answer.json()]).toEqual([
      422,
      {
        errors: [
          { target: "a", message: null },
          { target: "sub", message: "Only files can be published." },
        ],
      },
    ]);
    expect(await environment.events([40043], 2)).toHaveLength(2);
  }),
  wireCase("Accept: application/zip is the whole folder, with full paths", async ({ call, folder, put }) => {
    await call("PUT", `${folder}sub/`);
    await put("sub/gr%C3%BC%C3%9Fe.txt", "hello");
    await call("PUT", `${folder}empty/`);
    const answer = await call("GET", folder, { headers: { Accept: "application/zip" } });
    expect([answer.status, answer.header("content-type")]).toEqual([200, "application/zip"]);
    expect(answer.header("content-length")).toBe(String(answer.bytes.byteLength));
    const { default: JSZip } = await import("jszip");
    const zip = await JSZip.loadAsync(new Uint8Array(answer.bytes), { checkCRC32: true });
    const path = folder.slice(6);
    expect(Object.keys(zip.files)).toEqual(expect.arrayContaining([`${path}sub/grüße.txt`, `${path}empty/`]));
    expect(await zip.file(`${path}sub/grüße.txt`)?.async("string")).toBe("hello");
  }),
  wireCase("HEAD of an archive has the fields of its GET, and no content", async ({ call, folder, put }) => {
    await put("a", "hello");
    const headers = { Accept: "application/zip" };
    const [head, get] = [await call("HEAD", folder, { headers }), await call("GET", folder, { headers })];
    expect([head.status, head.bytes.length]).toEqual([200, 0]);
    for (const name of ["content-type", "content-disposition", "server-path"])
      expect(head.header(name)).toBe(get.header(name));
  }),
  wireCase("an archive of some megabytes has every byte", async ({ call, folder, put }) => {
    const content = "0123456789abcdef".repeat(1024 * 256);
    await put("a", content);
    const answer = await call("GET", folder, { headers: { Accept: "application/zip" } });
    const { default: JSZip } = await import("jszip");
    const zip = await JSZip.loadAsync(new Uint8Array(answer.bytes), { checkCRC32: true });
    expect(await zip.file(`${folder.slice(6)}a`)?.async("string")).toBe(content);
  }),
  wireCase("a listing of 100 members is whole", async ({ call, folder, put }) => {
    const names = Array.from({ length: 100 }, (_, index) => `member ${index}`);
    await Promise.all(names.map((name) => put(encodeURIComponent(name), "")));
    const listing = await call("GET", folder, { headers: JSON_API });
    expect(listing.json<{ content: unknown[] }>().content).toHaveLength(100);
  }),
];
