import { describe, expect, it } from "vitest";
import { type ByteSource, toByteSource, toByteStream } from "../../../src/contracts/byte-source.ts";
import type { ByteRange, StorageAdapter, StoredFile } from "../../../src/contracts/storage-adapter.ts";
import { toStoredFile } from "../../../src/contracts/stored-file.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { type Answer, createTestService } from "../../support/service.ts";
import { fillStorage, overrideStorage } from "../../support/storage.ts";

const MODIFIED = Date.UTC(2024, 4, 6, 7, 8, 9, 500);
const SAME = "Mon, 06 May 2024 07:08:09 GMT";

async function getRange(range: string, more: Readonly<Record<string, string>> = {}, now?: number): Promise<Answer> {
  const storage = createMemoryStorage({ clock: () => MODIFIED });
  const clock = now === undefined ? {} : { clock: () => now };
  const { call } = await createTestService({ storage, files: { "/alice/a": "0123456789" }, ...clock });
  const etag = (await call("HEAD", "/home/a")).header("etag") ?? "";
  const ifRange = more["if-range"]?.replace("TAG", etag);
  return call("GET", "/home/a", { headers: { range, ...more, ...(ifRange !== undefined && { "if-range": ifRange }) } });
}

describe("Range", () => {
  it.each([
    ["bytes=0-0", "0", "bytes 0-0/10"],
    ["bytes=0-3", "0123", "bytes 0-3/10"],
    ["bytes=2-4", "234", "bytes 2-4/10"],
    ["bytes=9-9", "9", "bytes 9-9/10"],
    ["bytes=7-", "789", "bytes 7-9/10"],
    ["bytes=0-", "0123456789", "bytes 0-9/10"],
    ["bytes=0-9", "0123456789", "bytes 0-9/10"],
    ["bytes=8-100", "89", "bytes 8-9/10"],
    ["bytes=0-999999999999", "0123456789", "bytes 0-9/10"],
    ["bytes=-1", "9", "bytes 9-9/10"],
    ["bytes=-4", "6789", "bytes 6-9/10"],
    ["bytes=-10", "0123456789", "bytes 0-9/10"],
    ["bytes=-100", "0123456789", "bytes 0-9/10"],
    ["bytes=00-01", "01", "bytes 0-1/10"],
    ["BYTES=1-2", "12", "bytes 1-2/10"],
  ])("%s is answered 206 with that part (CONTRACT 3.1)", async (range, text, contentRange) => {
    const answer = await getRange(range);
    expect(answer.status).toBe(206);
    expect(answer.text).toBe(text);
    expect(answer.header("content-range")).toBe(contentRange);
    expect(answer.header("content-length")).toBe(String(text.length));
    expect(answer.header("etag")).toMatch(/^"/);
    expect(answer.header("last-modified")).toBe(SAME);
    expect(answer.header("server-path")).toBe("/a");
  });

  it.each(["bytes=10-", "bytes=10-20", "bytes=999-", "bytes=-0", "bytes=999999999999-"])(
    "%s is answered 416 with the length (CONTRACT 3.1)",
    async (range) => {
      const answer = await getRange(range, { accept: "application/json" });
      expect(answer.status).toBe(416);
      expect(answer.header("content-range")).toBe("bytes */10");
      expect(answer.json()).toEqual({ errors: [{ message: expect.any(String) }] });
    },
  );

  it.each([
    "bytes=5-2",
    "bytes=abc",
    "bytes=",
    "bytes=-",
    "bytes",
    "bytes 0-1",
    "bytes=0-1x",
    "bytes=1.5-2",
    "bytes=+1-2",
    "bytes=0x0-1",
    "bytes=\u00b2-3",
    "items=0-1",
    "0-1",
    "",
  ])("%j is ignored, as it is none (RFC 9110 14.2)", async (range) => {
    const answer = await getRange(range);
    expect([answer.status, answer.text]).toEqual([200, "0123456789"]);
    expect(answer.header("content-range")).toBeNull();
  });

  it.each(["bytes=0-0,2-2", "bytes=0-1, 3-4, -1", `bytes=${"0-0,".repeat(1000)}1-1`, "bytes=5-2,0-1", "bytes=99-,0-1"])(
    "of several parts is answered whole, or as at most 16 parts: %s (CONTRACT 3.1)",
    async (range) => {
      const answer = await getRange(range);
      if (answer.status === 200) return expect(answer.text).toBe("0123456789");
      expect(answer.status).toBe(206);
      expect(answer.text.length).toBeLessThan(16 * 200);
    },
  );

  it.each([
    `bytes=0-${"9".repeat(400)}`,
    `bytes=${"9".repeat(400)}-`,
    `bytes=-${"9".repeat(400)}`,
    `bytes=${"0".repeat(400)}-1`,
  ])("of endless digits never fails otherwise than by 416 (SECURITY 15)", async (range) => {
    const answer = await getRange(range);
    expect([200, 206, 416]).toContain(answer.status);
    if (answer.status !== 416) expect("0123456789").toContain(answer.text);
  });

  it("of an empty file is answered 416 or ignored, never 206 (CONTRACT 3.1)", async () => {
    const { call } = await createTestService({ files: { "/alice/a": "" } });
    for (const range of ["bytes=0-", "bytes=0-0"]) {
      const answer = await call("GET", "/home/a", { headers: { range } });
      expect(answer.status).toBe(416);
      expect(answer.header("content-range")).toBe("bytes */0");
    }
    expect([200, 416]).toContain((await call("GET", "/home/a", { headers: { range: "bytes=-1" } })).status);
  });

  it("joins to the whole file, part by part (CONTRACT 3.1)", async () => {
    const content = Uint8Array.from({ length: 10_007 }, (_, index) => (index * 7) % 256);
    const { call } = await createTestService({ files: { "/alice/a": content } });
    const parts: Uint8Array[] = [];
    for (let offset = 0; offset < content.length; offset += 1000) {
      const answer = await call("GET", "/home/a", { headers: { range: `bytes=${offset}-${offset + 999}` } });
      expect(answer.status).toBe(206);
      parts.push(answer.bytes);
    }
    expect(Uint8Array.from(Buffer.concat(parts))).toEqual(content);
  });

  it("is ignored for listings and pages (RFC 9110 14.2)", async () => {
    const { call } = await createTestService({ files: { "/alice/a": "x" } });
    for (const path of ["/home/", "/__svc__/login"]) {
      expect((await call("GET", path, { variant: "json", headers: { range: "bytes=0-1" } })).status).toBe(200);
    }
  });
});

/** A storage that reports which opened files were neither read to their end nor closed. */
function withOpenFiles(
  base: StorageAdapter,
  form: "source" | "stream",
): StorageAdapter & { readonly open: Set<number> } {
  const open = new Set<number>();
  let opened = 0;

  async function read(path: string, range?: ByteRange): Promise<StoredFile> {
    const { entry, body } = await base.read(path, range);
    opened += 1;
    const id = opened;
    open.add(id);
    const inner = toByteSource(body);
    const source: ByteSource = {
      async readInto(buffer) {
        const count = await inner.readInto(buffer.subarray(0, 4));
        if (count === 0) open.delete(id);
        return count;
      },
      async close() {
        open.delete(id);
        await inner.close();
      },
    };
    return form === "source" ? toStoredFile(entry, source) : { entry, body: toByteStream(source) };
  }

  return { ...overrideStorage(base, { read }), open };
}

describe.each(["source", "stream"] as const)("what a request opens as a %s", (form) => {
  it.each<readonly [fields: Record<string, string>, status: number]>([
    [{}, 200],
    [{ range: "bytes=2-4" }, 206],
    [{ range: "bytes=-4" }, 206],
    [{ range: "bytes=0-1,500-501" }, 206],
    [{ range: "bytes=2000-" }, 416],
    [{ range: "bytes=2-4", "if-range": '"x"' }, 200],
    [{ range: "bytes=2-4", "if-match": '"x"' }, 412],
    [{ range: "bytes=2-4", "if-match": "x" }, 400],
    [{ "if-match": '"x"' }, 412],
    [{ "if-none-match": "*" }, 304],
  ])("with %j is closed, also where the answer is not read (SECURITY 11)", async (headers, status) => {
    const storage = withOpenFiles(createMemoryStorage(), form);
    const { call, open } = await createTestService({ storage, files: { "/alice/a": "x".repeat(1000) } });
    expect((await call("GET", "/home/a", { headers })).status).toBe(status);
    expect([...storage.open]).toEqual([]);
    const response = await open("GET", "/home/a", { headers });
    await response.body?.cancel();
    expect([...storage.open]).toEqual([]);
    const reader = (await open("GET", "/home/a", { headers })).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect([...storage.open]).toEqual([]);
  });
});

describe("several ranges", () => {
  const range = "bytes=0-9,500-509,900-909";

  it("are of one version, or break off (CONTRACT 3.1, RFC 9110 15.3.7)", async () => {
    const storage = createMemoryStorage();
    const base = overrideStorage(storage, {});
    const { open } = await createTestService({ storage: base, files: { "/alice/a": "1".repeat(1000) } });
    const response = await open("GET", "/home/a", { headers: { range } });
    expect(response.status).toBe(206);
    await fillStorage(storage, { "/alice/a": "2".repeat(1000) });
    await expect(response.text()).rejects.toThrow();
  });

  it("are decided on the version that is sent (CONTRACT 3.1)", async () => {
    const storage = createMemoryStorage();
    const base = overrideStorage(storage, {
      async stat(path) {
        const entry = await storage.stat(path);
        if (path === "/alice/a") await fillStorage(storage, { "/alice/a": "2".repeat(2000) });
        return entry;
      },
    });
    const { call } = await createTestService({ storage: base, files: { "/alice/a": "1".repeat(1000) } });
    const answer = await call("GET", "/home/a", { headers: { range: "bytes=0-0,-1" } });
    expect(answer.status).toBe(206);
    expect(answer.text).toContain("Content-Range: bytes 1999-1999/2000");
    expect(answer.text).not.toContain("1\r\n--");
  });

  it("have another boundary in every answer (RFC 2046 5.1.1)", async () => {
    const { call } = await createTestService({ files: { "/alice/a": "1".repeat(1000) } });
    const types = new Set<string | null>();
    for (let round = 0; round < 10; round += 1) {
      types.add((await call("GET", "/home/a", { headers: { range } })).header("content-type"));
    }
    expect(types.size).toBe(10);
  });
});

describe("If-Range", () => {
  it.each([
    ["the file's tag", "TAG", 206],
    ["another tag", '"x"', 200],
    ["the file's tag made weak", "W/TAG", 200],
    ["the file's date", SAME, 206],
    ["a later date", "Mon, 06 May 2024 07:08:10 GMT", 200],
    ["an earlier date", "Mon, 06 May 2024 07:08:08 GMT", 200],
    ["no date", "yesterday", 200],
    ["nothing", "", 200],
  ])("with %s lets the range count or not (CONTRACT 3.1, RFC 9110 13.1.5)", async (_what, ifRange, status) => {
    const answer = await getRange("bytes=2-3", { "if-range": ifRange }, MODIFIED + 60_000);
    expect([answer.status, answer.text]).toEqual([status, status === 206 ? "23" : "0123456789"]);
  });

  it("does not trust a date of the very second (RFC 9110 8.8.2.2)", async () => {
    const answer = await getRange("bytes=2-3", { "if-range": SAME }, MODIFIED + 100);
    expect(answer.status).toBe(200);
  });

  it("without Range says nothing (RFC 9110 13.1.5)", async () => {
    const { call } = await createTestService({ files: { "/alice/a": "x" } });
    expect((await call("GET", "/home/a", { headers: { "if-range": '"x"' } })).status).toBe(200);
  });

  it("that does not match makes an unsatisfiable range harmless (RFC 9110 14.2)", async () => {
    expect((await getRange("bytes=99-", { "if-range": '"x"' })).status).toBe(200);
    expect((await getRange("bytes=99-", { "if-range": "TAG" })).status).toBe(416);
  });
});
