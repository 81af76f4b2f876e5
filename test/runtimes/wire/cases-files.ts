import { expect } from "vitest";
import { type WireCase, wireCase } from "./case.ts";

/** Of a length that divides no size of a buffer. */
const PATTERN = Uint8Array.from({ length: 65_521 }, (_, index) => (index * 7 + (index >> 8)) % 256);

/** Bytes of which no stretch is that of an offset mistaken by one, or by a buffer. */
export function patternOf(length: number): Uint8Array {
  return Buffer.alloc(length, PATTERN);
}

const JSON_API = { Accept: "application/json" };

/** Files: reading and writing (4.2, 4.5; CONTRACT 3, 4). */
export const fileCases: readonly WireCase[] = [
  wireCase("PUT creates a file and answers 201 without content", async ({ call, folder }) => {
    const answer = await call("PUT", `${folder}a.txt`, { body: "hello" });
    expect([answer.status, answer.text]).toEqual([201, ""]);
    expect(answer.header("etag")).toMatch(/^"/);
    expect(answer.header("server-path")).toBe(`${folder.slice(5)}a.txt`);
    expect(answer.header("server")).toContain("fileferry");
  }),
  wireCase("PUT overwrites a file and answers 201", async ({ call, folder, put }) => {
    await put("a.txt", "old");
    await put("a.txt", "new!");
    expect((await call("GET", `${folder}a.txt`)).text).toBe("new!");
  }),
  wireCase("PUT of an empty file", async ({ call, folder, put }) => {
    await put("empty", "");
    const answer = await call("GET", `${folder}empty`);
    expect([answer.status, answer.bytes.length, answer.header("content-length")]).toEqual([200, 0, "0"]);
  }),
  wireCase("PUT without a length, in chunks", async ({ call, folder }) => {
    expect((await call("PUT", `${folder}a`, { body: "in chunks", chunked: true })).status).toBe(201);
    expect((await call("GET", `${folder}a`)).text).toBe("in chunks");
  }),
  wireCase("a file of 20 MiB comes back byte for byte, with its exact length", async ({ call, folder, put }) => {
    const content = patternOf(20 * 1024 * 1024);
    await put("big", content);
    const answer = await call("GET", `${folder}big`);
    expect(answer.header("content-length")).toBe(String(content.byteLength));
    expect(Buffer.compare(answer.bytes, content)).toBe(0);
  }),
  wireCase("a file of 20 MiB comes back byte for byte", async ({ call, folder }) => {
    const content = patternOf(20 * 1024 * 1024 + 1);
    expect((await call("PUT", `${folder}big`, { body: content, chunked: true })).status).toBe(201);
    expect(Buffer.compare((await call("GET", `${folder}big`)).bytes, content)).toBe(0);
  }),
  wireCase("files around the sizes of buffers come back byte for byte", async ({ call, folder, put }) => {
    for (const size of [1, 65_535, 65_536, 131_071, 131_072, 131_073, 262_144]) {
      const content = patternOf(size);
      await put("sized", content);
      const answer = await call("GET", `${folder}sized`);
      expect(answer.header("content-length")).toBe(String(size));
      expect(Buffer.compare(answer.bytes, content)).toBe(0);
    }
  }),
  wireCase("GET has the fields of a download", async ({ call, folder, put }) => {
    await put("a.html", "<script>");
    const answer = await call("GET", `${folder}a.html`);
    expect(answer.status).toBe(200);
    expect(answer.header("content-length")).toBe("8");
    expect(answer.header("content-type")).toMatch(/^text\/html/);
    expect(answer.header("content-disposition")).toContain("attachment;");
    expect(answer.header("x-content-type-options")).toBe("nosniff");
    expect(answer.header("content-security-policy")).toContain("sandbox");
    expect(answer.header("cache-control")).toBe("private, no-cache");
    expect(answer.header("vary")).toContain("Authorization");
    expect(answer.header("accept-ranges")).toBe("bytes");
    expect(Date.parse(answer.header("last-modified") ?? "")).toBeGreaterThan(0);
  }),
  wireCase("HEAD of a file is its GET without content", async ({ call, folder, put }) => {
    await put("a.bin", patternOf(300_000));
    const get = await call("GET", `${folder}a.bin`, { headers: { Range: "bytes=0-0" } });
    const head = await call("HEAD", `${folder}a.bin`);
    expect([head.status, head.bytes.length, head.header("content-length")]).toEqual([200, 0, "300000"]);
    for (const name of ["etag", "last-modified", "content-type"]) expect(head.header(name)).toBe(get.header(name));
  }),
  wireCase("GET of what is not there is 404, as JSON", async ({ call, folder }) => {
    const answer = await call("GET", `${folder}missing`, { headers: JSON_API });
    expect([answer.status, answer.json()]).toEqual([404, { errors: [{ message: expect.any(String) }] }]);
  }),
  wireCase("HEAD of what is not there is 404 without content", async ({ call, folder }) => {
    const answer = await call("HEAD", `${folder}missing`);
    expect([answer.status, answer.bytes.length]).toEqual([404, 0]);
  }),
  wireCase("GET of a file's name with a slash is 404", async ({ call, folder, put }) => {
    await put("a", "x");
    expect((await call("GET", `${folder}a/`, { headers: JSON_API })).status).toBe(404);
  }),
  wireCase("DELETE of a file is 204, then 404", async ({ call, folder, put, names }) => {
    await put("a", "x");
    const answer = await call("DELETE", `${folder}a`);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect((await call("DELETE", `${folder}a`)).status).toBe(404);
    expect(await names()).toEqual([]);
  }),
  wireCase("POST on a file is 405 with Allow", async ({ call, folder, put }) => {
    await put("a", "x");
    const answer = await call("POST", `${folder}a`, { headers: JSON_API, body: "{}" });
    expect([answer.status, answer.header("allow")?.includes("GET")]).toEqual([405, true]);
  }),
  wireCase("PUT below a missing folder is 422, for WebDAV 409", async ({ call, folder }) => {
    expect((await call("PUT", `${folder}none/a`, { headers: JSON_API, body: "x" })).status).toBe(422);
    expect((await call("PUT", `${folder}none/a`, { body: "x" })).status).toBe(409);
  }),
  wireCase("PUT onto a folder is refused and changes nothing", async ({ call, folder, names }) => {
    await call("PUT", `${folder}sub/`);
    expect((await call("PUT", `${folder}sub`, { headers: JSON_API, body: "x" })).status).toBe(422);
    expect(await names()).toEqual(["sub"]);
  }),
  wireCase("PUT with Content-Range is 400", async ({ call, folder, names }) => {
    const headers = { "Content-Range": "bytes 0-0/2" };
    expect((await call("PUT", `${folder}a`, { headers, body: "x" })).status).toBe(400);
    expect(await names()).toEqual([]);
  }),
  wireCase("PUT of coded content is 415", async ({ call, folder, names }) => {
    expect((await call("PUT", `${folder}a`, { headers: { "Content-Encoding": "gzip" }, body: "x" })).status).toBe(415);
    expect(await names()).toEqual([]);
  }),
  wireCase("PUT of too large a file is 413 before its content is read", async ({ open, folder, names }) => {
    const connection = await open();
    const head = `PUT ${folder}huge HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000000\r\nAuthorization: Basic YWxpY2U6c2VjcmV0\r\n\r\n`;
    connection.send(head);
    expect(await connection.until(/^HTTP\/1\.1 \d+ [\s\S]*\r\n\r\n/)).toMatch(/^HTTP\/1\.1 413 /);
    connection.socket.destroy();
    expect(await names()).toEqual([]);
  }),
  wireCase("If-None-Match: * does not overwrite", async ({ call, folder, put }) => {
    const headers = { "If-None-Match": "*" };
    expect((await call("PUT", `${folder}a`, { headers, body: "first" })).status).toBe(201);
    expect((await call("PUT", `${folder}a`, { headers, body: "second" })).status).toBe(412);
    expect((await call("GET", `${folder}a`)).text).toBe("first");
    await put("a", "third");
  }),
  wireCase("If-Match overwrites the version that it names alone", async ({ call, folder, put }) => {
    await put("a", "1");
    const tag = (await call("HEAD", `${folder}a`)).header("etag") ?? "";
    expect((await call("PUT", `${folder}a`, { headers: { "If-Match": tag }, body: "2" })).status).toBe(201);
    expect((await call("PUT", `${folder}a`, { headers: { "If-Match": tag }, body: "3" })).status).toBe(412);
    expect((await call("DELETE", `${folder}a`, { headers: { "If-Match": tag } })).status).toBe(412);
    expect((await call("GET", `${folder}a`)).text).toBe("2");
  }),
  wireCase("If-None-Match with the tag is 304 without content", async ({ call, folder, put }) => {
    await put("a", "1");
    const tag = (await call("HEAD", `${folder}a`)).header("etag") ?? "";
    const answer = await call("GET", `${folder}a`, { headers: { "If-None-Match": tag } });
    expect([answer.status, answer.bytes.length, answer.header("etag")]).toEqual([304, 0, tag]);
  }),
  wireCase("ten uploads of one file at once: one of them wins whole", async (environment) => {
    const { call, callAtOnce, folder, names } = environment;
    const contents = Array.from({ length: 10 }, (_, index) => String(index).repeat(50_000));
    const { answers, connections } = await callAtOnce(contents.map((body) => ["PUT", `${folder}a`, { body }]));
    expect(connections).toBe(10);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(contents).toContain((await call("GET", `${folder}a`)).text);
    expect(await names()).toEqual(["a"]);
  }),
];
