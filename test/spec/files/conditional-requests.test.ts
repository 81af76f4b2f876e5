import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { type CallOptions, createTestService, type TestService } from "../../support/service.ts";

const MODIFIED = Date.UTC(2024, 4, 6, 7, 8, 9, 500);
const SAME = "Mon, 06 May 2024 07:08:09 GMT";
const EARLIER = "Mon, 06 May 2024 07:08:08 GMT";
const LATER = "Mon, 06 May 2024 07:08:10 GMT";
const FUTURE = "Mon, 06 May 2099 07:08:10 GMT";

type Fields = Readonly<Record<string, string>>;
type Row = readonly [conditions: Fields, status: number];

async function createTest(): Promise<TestService & { etag: string }> {
  const storage = createMemoryStorage({ clock: () => MODIFIED });
  const test = await createTestService({ storage, files: { "/alice/a": "content" } });
  const etag = (await test.call("HEAD", "/home/a")).header("etag") ?? "";
  return { ...test, etag };
}

/** `TAG` stands for the file's entity-tag. */
function fill(conditions: Fields, etag: string): Fields {
  return Object.fromEntries(Object.entries(conditions).map(([name, value]) => [name, value.replace("TAG", etag)]));
}

const readRows: readonly Row[] = [
  [{}, 200],
  [{ "if-modified-since": SAME }, 304],
  [{ "if-modified-since": LATER }, 304],
  [{ "if-modified-since": FUTURE }, 304],
  [{ "if-modified-since": EARLIER }, 200],
  [{ "if-modified-since": "Monday, 06-May-24 07:08:09 GMT" }, 304],
  [{ "if-modified-since": "Mon May  6 07:08:09 2024" }, 304],
  [{ "if-modified-since": "Mon May  6 07:08:08 2024" }, 200],
  [{ "if-modified-since": "2024-05-06T07:08:09Z" }, 200],
  [{ "if-modified-since": "1714979289" }, 200],
  [{ "if-modified-since": "yesterday" }, 200],
  [{ "if-modified-since": "" }, 200],
  [{ "if-unmodified-since": SAME }, 200],
  [{ "if-unmodified-since": LATER }, 200],
  [{ "if-unmodified-since": EARLIER }, 412],
  [{ "if-unmodified-since": "yesterday" }, 200],
  [{ "if-match": "TAG" }, 200],
  [{ "if-match": "*" }, 200],
  [{ "if-match": '"x", TAG' }, 200],
  [{ "if-match": '"x" , , TAG , "y"' }, 200],
  [{ "if-match": '"x"' }, 412],
  [{ "if-match": "W/TAG" }, 412],
  [{ "if-none-match": "TAG" }, 304],
  [{ "if-none-match": "W/TAG" }, 304],
  [{ "if-none-match": "*" }, 304],
  [{ "if-none-match": '"x", W/"y",TAG' }, 304],
  [{ "if-none-match": '"x"' }, 200],
  [{ "if-none-match": '"x, TAG"' }, 400],
  [{ "if-none-match": 'TAG"' }, 400],
  [{ "if-match": "TAG", "if-unmodified-since": EARLIER }, 200],
  [{ "if-match": '"x"', "if-unmodified-since": LATER }, 412],
  [{ "if-none-match": '"x"', "if-modified-since": SAME }, 200],
  [{ "if-none-match": "TAG", "if-modified-since": EARLIER }, 304],
  [{ "if-match": '"x"', "if-none-match": "TAG" }, 412],
  [{ "if-match": "TAG", "if-none-match": "TAG" }, 304],
  [{ "if-unmodified-since": EARLIER, "if-none-match": "TAG" }, 412],
  [{ "if-unmodified-since": LATER, "if-modified-since": SAME }, 304],
  [{ "if-match": "TAG", "if-modified-since": SAME }, 304],
];

describe("GET and HEAD of a file", () => {
  it.each(readRows)("with %j answer %i (4.2, CONTRACT 3.1, RFC 9110 13)", async (conditions, status) => {
    const { call, etag } = await createTest();
    for (const method of ["GET", "HEAD"]) {
      const answer = await call(method, "/home/a", { headers: fill(conditions, etag) });
      expect(answer.status).toBe(status);
      if (status === 200 && method === "GET") expect(answer.text).toBe("content");
    }
  });

  it("answer 304 without content, with the validators and Server-Path (4.2, RFC 9110 15.4.5)", async () => {
    const { call, etag } = await createTest();
    const answer = await call("GET", "/home/a", { headers: { "if-modified-since": SAME } });
    expect(answer.status).toBe(304);
    expect(answer.bytes).toHaveLength(0);
    expect(answer.header("etag")).toBe(etag);
    expect(answer.header("last-modified")).toBe(SAME);
    expect(answer.header("server-path")).toBe("/a");
    expect(answer.header("vary")).toBe("Accept, Authorization, Cookie");
    expect(answer.header("cache-control")).toBe("private, no-cache");
    expect(answer.header("content-type")).toBeNull();
  });

  it("answer 304 to the date and the tag that they gave, in every variant (4.2)", async () => {
    const { call } = await createTest();
    for (const variant of ["json", "webdav", "html"] as const) {
      const { headers } = await call("GET", "/home/a", { variant });
      const since = { "if-modified-since": headers.get("last-modified") ?? "" };
      expect((await call("GET", "/home/a", { variant, headers: since })).status).toBe(304);
      const tag = { "if-none-match": headers.get("etag") ?? "" };
      expect((await call("GET", "/home/a", { variant, headers: tag })).status).toBe(304);
    }
  });

  it("answer 404 about nothing, whatever the conditions (RFC 9110 13.2.1)", async () => {
    const { call } = await createTest();
    for (const headers of [{ "if-match": "*" }, { "if-none-match": "*" }, { "if-modified-since": SAME }]) {
      expect((await call("GET", "/home/missing", { headers })).status).toBe(404);
    }
  });

  it("redirect a folder, whatever the conditions (RFC 9110 13.2.1)", async () => {
    const { call } = await createTestService({ files: { "/alice/f/": "" } });
    for (const headers of [{ "if-match": '"x"' }, { "if-modified-since": FUTURE }, { "if-none-match": "*" }]) {
      expect((await call("GET", "/home/f", { headers })).status).toBe(302);
    }
  });

  it("evaluate conditions before the range (RFC 9110 13.2.2)", async () => {
    const { call, etag } = await createTest();
    const range = "bytes=0-1";
    expect((await call("GET", "/home/a", { headers: { range, "if-none-match": etag } })).status).toBe(304);
    expect((await call("GET", "/home/a", { headers: { range, "if-match": '"x"' } })).status).toBe(412);
    expect((await call("GET", "/home/a", { headers: { range, "if-match": etag } })).status).toBe(206);
    expect((await call("GET", "/home/a", { headers: { range: "bytes=99-", "if-match": '"x"' } })).status).toBe(412);
  });
});

const writeRows: readonly (readonly [path: string, conditions: Fields, status: number])[] = [
  ["/home/a", { "if-match": "TAG" }, 201],
  ["/home/a", { "if-match": "*" }, 201],
  ["/home/a", { "if-match": '"x", TAG' }, 201],
  ["/home/a", { "if-match": '"x"' }, 412],
  ["/home/a", { "if-match": "W/TAG" }, 412],
  ["/home/a", { "if-none-match": "*" }, 412],
  ["/home/a", { "if-none-match": "TAG" }, 412],
  ["/home/a", { "if-none-match": "W/TAG" }, 412],
  ["/home/a", { "if-none-match": '"x"' }, 201],
  ["/home/a", { "if-unmodified-since": SAME }, 201],
  ["/home/a", { "if-unmodified-since": EARLIER }, 412],
  ["/home/a", { "if-unmodified-since": "yesterday" }, 201],
  ["/home/a", { "if-modified-since": SAME }, 201],
  ["/home/a", { "if-match": "TAG", "if-unmodified-since": EARLIER }, 201],
  ["/home/a", { "if-match": "TAG", "if-none-match": "TAG" }, 412],
  ["/home/a", { "if-match": "TAG TAG" }, 400],
  ["/home/new", { "if-none-match": "*" }, 201],
  ["/home/new", { "if-none-match": '"x"' }, 201],
  ["/home/new", { "if-match": "*" }, 412],
  ["/home/new", { "if-match": '"x"' }, 412],
  ["/home/new", { "if-unmodified-since": EARLIER }, 201],
];

describe("PUT of a file", () => {
  it.each(writeRows)("onto %s with %j answers %i (CONTRACT 1, 4.2)", async (path, conditions, status) => {
    const { call, etag, stored } = await createTest();
    const answer = await call("PUT", path, { headers: fill(conditions, etag), body: "new" });
    expect(answer.status).toBe(status);
    const former = path === "/home/a" ? "content" : undefined;
    expect(await stored(path.replace("/home", "/alice"))).toBe(status === 201 ? "new" : former);
  });

  it("with If-Match loses no update of another client (CONTRACT 4.2)", async () => {
    const { call, etag, stored } = await createTest();
    const put = (body: string): Promise<{ status: number }> => {
      const options: CallOptions = { headers: { "if-match": etag }, body };
      return call("PUT", "/home/a", options);
    };
    const statuses = (await Promise.all(["one", "two", "three"].map(put))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 412, 412]);
    expect(["one", "two", "three"]).toContain(await stored("/alice/a"));
  });

  it("with If-None-Match: * creates a file once, however many try (CONTRACT 4.2)", async () => {
    const { call } = await createTest();
    const put = () => call("PUT", "/home/new", { headers: { "if-none-match": "*" }, body: "x" });
    const statuses = (await Promise.all([put(), put(), put(), put()])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 412, 412, 412]);
  });
});

describe("DELETE of a file", () => {
  it.each<Row>([
    [{ "if-match": "TAG" }, 204],
    [{ "if-match": "*" }, 204],
    [{ "if-match": '"x"' }, 412],
    [{ "if-none-match": "*" }, 412],
    [{ "if-none-match": '"x"' }, 204],
    [{ "if-unmodified-since": SAME }, 204],
    [{ "if-unmodified-since": EARLIER }, 412],
    [{ "if-modified-since": SAME }, 204],
  ])("with %j answers %i (CONTRACT 1, RFC 9110 13)", async (conditions, status) => {
    const { call, etag, stored } = await createTest();
    expect((await call("DELETE", "/home/a", { headers: fill(conditions, etag) })).status).toBe(status);
    expect(await stored("/alice/a")).toBe(status === 204 ? undefined : "content");
  });

  it("answers 404 about nothing, whatever the conditions (RFC 9110 13.2.1)", async () => {
    const { call } = await createTest();
    expect((await call("DELETE", "/home/missing", { headers: { "if-match": "*" } })).status).toBe(404);
  });
});
