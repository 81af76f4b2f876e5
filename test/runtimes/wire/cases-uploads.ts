import { createHash } from "node:crypto";
import { expect } from "vitest";
import { type WireCase, wireCase } from "./case.ts";
import { patternOf } from "./cases-files.ts";
import { basic, type WireAnswer, type WireEnvironment } from "./client.ts";

const PARTIAL = { "Content-Type": "application/partial-upload" };
const TUS = { "Tus-Resumable": "1.0.0" };
const TUS_CONTENT = { ...TUS, "Content-Type": "application/offset+octet-stream" };
const UPLOAD_URL = /^\/home\/__svc__\/uploads\/[0-9a-f]{32}$/;

/** A case of uploads in several requests. Where the storage has none, their creation is 501. */
function uploadCase(name: string, run: WireCase["run"]): WireCase {
  return wireCase(name, async (environment) => {
    const { call, folder } = environment;
    const options = await call("OPTIONS", `${folder}a`);
    if (options.header("accept-patch") !== null) return run(environment);
    const created = await call("PUT", `${folder}a`, {
      headers: { "Upload-Complete": "?0" },
      body: "x",
      undescribed: "The description is that of a service without uploads.",
    });
    expect(created.status).toBe(501);
  });
}

/** Creates an upload, empty. Returns its URL. */
async function create({ call, folder }: WireEnvironment, length: number): Promise<string> {
  const headers = { "Upload-Complete": "?0", "Upload-Length": `${length}` };
  const created = await call("PUT", `${folder}a`, { headers, body: "" });
  expect(stateOf(created)).toEqual([201, "0", "?0"]);
  expect(created.header("location")).toMatch(UPLOAD_URL);
  return created.header("location") ?? "";
}

function stateOf({ status, header }: WireAnswer): readonly [number, string | null, string | null] {
  return [status, header("upload-offset"), header("upload-complete")];
}

function fields(offset: number, isComplete: boolean): Readonly<Record<string, string>> {
  return { ...PARTIAL, "Upload-Offset": `${offset}`, "Upload-Complete": isComplete ? "?1" : "?0" };
}

/** Files that come in several requests (RESUMABLE 3, 4, 11.1). */
export const uploadCases: readonly WireCase[] = [
  uploadCase("an upload in several requests becomes a file with its last byte, once", async (environment) => {
    const { call, folder, names, events } = environment;
    const content = patternOf(3_000_000);
    const url = await create(environment, content.byteLength);
    const parts = [content.subarray(0, 1_000_000), content.subarray(1_000_000)] as const;
    const first = await call("PATCH", url, { headers: fields(0, false), body: parts[0] });
    expect(stateOf(first)).toEqual([204, "1000000", "?0"]);
    expect(stateOf(await call("HEAD", url))).toEqual([204, "1000000", "?0"]);
    expect((await call("GET", `${folder}a`)).status).toBe(404);
    const last = await call("PATCH", url, { headers: fields(1_000_000, true), body: parts[1], chunked: true });
    expect(stateOf(last)).toEqual([201, "3000000", "?1"]);
    expect(stateOf(await call("HEAD", url))).toEqual([204, "3000000", "?1"]);
    const file = await call("GET", `${folder}a`);
    expect([file.header("etag"), file.bytes.equals(content)]).toEqual([last.header("etag"), true]);
    expect((await events([40021, 40017, 40022], 2)).map(({ id }) => id)).toEqual([40021, 40017]);
    expect(await names()).toEqual(["a"]);
  }),
  uploadCase("an upload whose request is cut continues from what is kept", async (environment) => {
    const { call, open, folder } = environment;
    const content = patternOf(2_000_000);
    const url = await create(environment, content.byteLength);
    await call("PATCH", url, { headers: fields(0, false), body: content.subarray(0, 1000) });
    const connection = await open();
    const head = Object.entries({ ...fields(1000, true), Host: "x", Authorization: basic("alice") });
    const lines = [`PATCH ${url} HTTP/1.1`, ...head.map(([name, value]) => `${name}: ${value}`)];
    connection.send([...lines, `Content-Length: ${content.byteLength - 1000}`, "", ""].join("\r\n"));
    connection.send(content.subarray(1000, 1_000_000));
    connection.socket.destroy();
    const shown = await call("HEAD", url);
    const offset = Number(shown.header("upload-offset"));
    expect(shown.status).toBe(204);
    expect(offset).toBeGreaterThanOrEqual(1000);
    expect(offset).toBeLessThanOrEqual(1_000_000);
    const rest = await call("PATCH", url, { headers: fields(offset, true), body: content.subarray(offset) });
    expect(stateOf(rest)).toEqual([201, "2000000", "?1"]);
    expect((await call("GET", `${folder}a`)).bytes.equals(content)).toBe(true);
  }),
  uploadCase("content at another offset is 409, and says which one it is", async (environment) => {
    const { call } = environment;
    const url = await create(environment, 10);
    await call("PATCH", url, { headers: fields(0, false), body: "hello" });
    const refused = await call("PATCH", url, { headers: fields(3, false), body: "lo" });
    expect([refused.status, refused.header("upload-offset")]).toEqual([409, "5"]);
    expect(refused.json()).toMatchObject({ "expected-offset": 5, "provided-offset": 3 });
  }),
  uploadCase("an upload that is ended is gone, and the former file stays", async (environment) => {
    const { call, put, folder, names, events } = environment;
    await put("a", "former");
    const url = await create(environment, 10);
    await call("PATCH", url, { headers: fields(0, false), body: "hello" });
    expect((await call("DELETE", url)).status).toBe(204);
    expect((await call("HEAD", url)).status).toBe(404);
    expect((await call("GET", `${folder}a`)).text).toBe("former");
    expect(await names()).toEqual(["a"]);
    expect(await events([40022], 1)).toHaveLength(1);
  }),
  uploadCase("an upload by tus takes content with its checksum alone", async ({ call, folder }) => {
    const options = await call("OPTIONS", folder);
    expect(options.header("tus-extension")).toMatch(/\bchecksum\b/);
    const metadata = { "Upload-Metadata": `filename ${btoa("b")}`, "Upload-Length": "10" };
    const created = await call("POST", folder, { headers: { ...TUS_CONTENT, ...metadata }, body: "hello" });
    expect([created.status, created.header("upload-offset")]).toEqual([201, "5"]);
    const url = created.header("location") ?? "";
    for (const [algorithm, text, status, offset] of [
      ["sha256", "other", 460, "5"],
      ["md5", "other", 460, "5"],
      ["sha1", "world", 204, "10"],
    ] as const) {
      const checksum = `${algorithm} ${createHash(algorithm).update(text).digest("base64")}`;
      const headers = { ...TUS_CONTENT, "Upload-Offset": "5", "Upload-Checksum": checksum };
      const answer = await call("PATCH", url, { headers, body: "world" });
      expect([algorithm, answer.status]).toEqual([algorithm, status]);
      const shown = await call("HEAD", url, { headers: TUS });
      expect([algorithm, shown.header("upload-offset")]).toEqual([algorithm, offset]);
    }
    expect((await call("GET", `${folder}b`)).text).toBe("helloworld");
  }),
  wireCase("an upload by PUT is announced by 104 before its content is read", async ({ folder, open }) => {
    const connection = await open();
    const size = 2_000_000;
    connection.send(
      `PUT ${folder}a HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic("alice")}\r\nUpload-Complete: ?1\r\nUpload-Draft-Interop-Version: 8\r\nContent-Length: ${size}\r\n\r\n`,
    );
    expect(await connection.until(/^HTTP\/1\.1 104 [\s\S]*\r\n\r\n$/)).toMatch(
      /\r\nLocation: \/home\/__svc__\/uploads\//i,
    );
    connection.send("x".repeat(size));
    expect(await connection.until(/\r\n\r\nHTTP\/1\.1 \d+ [\s\S]*\r\n\r\n/)).toMatch(/\r\n\r\nHTTP\/1\.1 201 /);
  }),
];
