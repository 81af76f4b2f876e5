import { expect } from "vitest";
import { playSequence } from "../../support/webdav-sequence.ts";
import { LOCKS, PROPFINDS } from "../../unit/webdav/recorded.ts";
import { bodyOf, SEQUENCES } from "../../unit/webdav/recorded-sequences.ts";
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
    const target = name.startsWith("/") ? name : folder + name;
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

/** Its headers are as published; what is sent here, and its order, are from knowledge. */
const OFFICE = { "User-Agent": "Microsoft Office Word 2014", "X-Office-Major-Version": "16" };

/** What clients of WebDAV send, in their order and with their headers (RFC 4918). */
export const webdavCases: readonly WireCase[] = [
  ...SEQUENCES.map((sequence) =>
    wireCase(sequence.name, ({ port, folder, call, names }) =>
      playSequence(sequence, { origin: `http://127.0.0.1:${port}`, folder, call, names }),
    ),
  ),
  wireCase(
    "Office edits a document: its lock is refreshed, and survives what is moved over it",
    async (environment) => {
      const { put, folder, call } = environment;
      await put("a.docx", "one");
      const ask = clientOf(environment, OFFICE);
      expect((await ask("HEAD", "a.docx")).status).toBe(200);
      const token = tokenOf(
        await ask("LOCK", "a.docx", { Timeout: "Second-180" }, bodyOf(LOCKS, "Office, with another prefix")),
      );
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
  wireCase("an empty body in chunks is none, as proxies send it", async (environment) => {
    const { put, names, folder } = environment;
    await put("a", "content");
    const ask = clientOf(environment, {});
    const to = (name: string) => ({ Destination: folder + name });
    const lock = await ask("LOCK", "a", { Depth: "0" }, bodyOf(LOCKS, "LibreOffice"));
    const token = { "Lock-Token": `<${tokenOf(lock)}>` };
    const statuses = (body: string) =>
      statusesOf(
        () => ask("UNLOCK", "a", token, body, { chunked: true }),
        () => ask("MKCOL", "new/", {}, body, { chunked: true }),
        () => ask("COPY", "a", to("b"), body, { chunked: true }),
        () => ask("MOVE", "b", to("c"), body, { chunked: true }),
        () => ask("DELETE", "c", {}, body, { chunked: true }),
      );
    expect(await statuses("x")).toEqual([415, 415, 415, 415, 415]);
    expect(await names()).toEqual(["a"]);
    expect(await statuses("")).toEqual([204, 201, 201, 201, 204]);
    expect(await names()).toEqual(["a", "new"]);
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
