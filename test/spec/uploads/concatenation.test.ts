import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createUploadService, named, TUS_CONTENT, UNKNOWN_UPLOAD, type UploadTestService } from "./calls.ts";

/** Creates partial uploads with these contents; returns their URLs. */
async function createParts({ tus }: UploadTestService, ...texts: readonly string[]): Promise<readonly string[]> {
  const urls: string[] = [];
  for (const text of texts) {
    const headers = { "upload-length": String(text.length), "upload-concat": "partial", "content-type": TUS_CONTENT };
    const answer = await tus("POST", "/home/", headers, { body: text });
    expect([answer.status, answer.header("upload-offset"), answer.header("etag")]).toEqual([
      201,
      String(text.length),
      null,
    ]);
    urls.push(answer.header("location") ?? "");
  }
  return urls;
}

const final = (urls: readonly string[]) => ({
  "upload-concat": `final;${urls.join(" ")}`,
  "upload-metadata": named("a.txt"),
});

describe("partial uploads", () => {
  it("need no name, rest at their length, and tell nothing (R 3.13, 9.3)", async () => {
    const service = await createUploadService();
    const [url = ""] = await createParts(service, "abc");
    const { tus, patch, call, events } = service;
    const shown = await tus("HEAD", url);
    expect([
      shown.status,
      shown.header("upload-offset"),
      shown.header("upload-concat"),
      shown.header("upload-complete"),
    ]).toEqual([200, "3", "partial", "?0"]);
    expect((await patch(url, 3, "")).status).toBe(204);
    expect((await call("GET", "/home/", { variant: "json" })).json()).toEqual({ content: [] });
    expect((await tus("DELETE", url)).status).toBe(204);
    expect(events).toEqual([]);
  });

  it("go on as other uploads do", async () => {
    const { tus, patch } = await createUploadService();
    const answer = await tus("POST", "/home/", { "upload-length": "6", "upload-concat": "partial" });
    const url = answer.header("location") ?? "";
    expect((await patch(url, 0, "abc")).header("upload-offset")).toBe("3");
    expect((await patch(url, 0, "abc")).status).toBe(409);
    expect((await patch(url, 3, "def")).header("upload-offset")).toBe("6");
  });

  it("need `write` somewhere, and a folder (R 3.13)", async () => {
    const groups = { DEFAULT_GROUP: { permissions: [["allow-read", "allow-list"]] } };
    const { tus } = await createUploadService({ groups });
    const headers = { "upload-length": "6", "upload-concat": "partial" };
    expect((await tus("POST", "/home/", headers)).status).toBe(403);
    const some = await createUploadService({
      groups: { DEFAULT_GROUP: { permissions: [["allow-list"], ["*.txt", "allow-write"]] } },
    });
    expect((await some.tus("POST", "/home/", headers)).status).toBe(201);
    expect((await some.tus("POST", "/home/missing/", headers)).status).toBe(409);
    expect((await some.tus("POST", "/home/__svc__/", headers)).status).toBe(403);
  });

  it("are held to the largest file, each (R 3.13)", async () => {
    const { tus } = await createUploadService({ limits: { maxFileBytes: 5 } });
    const answer = await tus("POST", "/home/", { "upload-length": "6", "upload-concat": "partial" });
    expect([answer.status, answer.header("tus-max-size")]).toEqual([413, "5"]);
  });
});

describe("the final upload", () => {
  it("makes the file of its parts in their order, and frees them (R 3.13)", async () => {
    const service = await createUploadService();
    const { tus, stored, events, patch, call } = service;
    const parts = await createParts(service, "abc", "de", "f");
    const urls = [parts[1] ?? "", `https://files.example${parts[0]}`, parts[2] ?? "", parts[1] ?? ""];
    const answer = await tus("POST", "/home/", final(urls));
    expect([answer.status, answer.header("server-path")]).toEqual([201, "/a.txt"]);
    expect(await stored("/alice/a.txt")).toBe("deabcfde");
    expect(answer.header("etag")).toBe((await call("HEAD", "/home/a.txt")).header("etag"));
    const url = answer.header("location") ?? "";
    const shown = await tus("HEAD", url);
    expect([
      shown.status,
      shown.header("upload-offset"),
      shown.header("upload-length"),
      shown.header("upload-complete"),
    ]).toEqual([200, "8", "8", "?1"]);
    expect(shown.header("upload-concat")).toBe(`final;${urls.join(" ")}`);
    const refused = await patch(url, 8, "x");
    expect([refused.status, refused.header("error-code")]).toEqual([403, "upload-joined"]);
    for (const part of parts) expect((await tus("HEAD", part)).status).toBe(404);
    expect((await call("GET", "/home/__svc__/uploads/")).json()).toEqual({ uploads: [] });
    expect(events.map(({ id }) => id)).toEqual([40021, 40017]);
    expect(events[1]?.data).toMatchObject({ path: "/a.txt", total_write: 8 });
    expect((await tus("DELETE", url)).status).toBe(204);
    expect(await stored("/alice/a.txt")).toBe("deabcfde");
  });

  it("needs whole partial uploads of the account: all else is 400, with one message (R 3.13)", async () => {
    const service = await createUploadService();
    const { tus, createByTus, stored } = service;
    const [part = ""] = await createParts(service, "abc");
    const headers = { "upload-length": "6", "upload-concat": "partial" };
    const unfinished = (await tus("POST", "/home/", headers)).header("location") ?? "";
    const deferred =
      (await tus("POST", "/home/", { "upload-defer-length": "1", "upload-concat": "partial" })).header("location") ??
      "";
    const plain = await createByTus("b", { "upload-length": "1" });
    const foreign =
      (await tus("POST", "/home/", { ...headers, "upload-length": "0" }, { as: "bob" })).header("location") ?? "";
    const texts = new Set<string>();
    for (const url of [
      unfinished,
      deferred,
      plain,
      foreign,
      UNKNOWN_UPLOAD,
      "/home/x",
      "/",
      "https://evil.example/",
      `${part}x`,
    ]) {
      const answer = await tus("POST", "/home/", final([part, url]));
      expect([answer.status, answer.header("error-code")], url).toEqual([400, "upload-parts-invalid"]);
      texts.add(answer.text);
    }
    expect(texts.size).toBe(1);
    expect(await stored("/alice/a.txt")).toBeUndefined();
    expect((await tus("HEAD", part)).status).toBe(200);
  });

  it("refuses URLs of more than 15 KiB before it makes anything (R 6.2)", async () => {
    const service = await createUploadService();
    const { tus, stored, events } = service;
    const [part = ""] = await createParts(service, "abc");
    const refused = await tus("POST", "/home/", final(Array(1000).fill(part)));
    expect([refused.status, refused.header("error-code")]).toEqual([400, "upload-fields-too-large"]);
    expect([await stored("/alice/a.txt"), events]).toEqual([undefined, []]);
    expect((await tus("HEAD", part)).status).toBe(200);
    expect((await tus("POST", "/home/", final(Array(200).fill(part)))).status).toBe(201);
  });

  it("refuses a length, content, no parts, too many, and other words (R 3.13)", async () => {
    const service = await createUploadService();
    const { tus } = service;
    const [part = ""] = await createParts(service, "abc");
    const status = async (headers: Readonly<Record<string, string>>, body?: string) =>
      (await tus("POST", "/home/", { "upload-metadata": named("a"), ...headers }, { body })).status;
    expect(await status({ ...final([part]), "upload-length": "3" })).toBe(400);
    expect(await status({ ...final([part]), "upload-defer-length": "1" })).toBe(400);
    expect(await status({ ...final([part]), "content-type": TUS_CONTENT }, "abc")).toBe(403);
    expect(await status({ "upload-concat": "final;" })).toBe(400);
    expect(await status({ "upload-concat": "final" })).toBe(400);
    expect(await status({ "upload-concat": "other", "upload-length": "3" })).toBe(400);
    expect(await status({ "upload-concat": `final;http://\u00e9.example${part}` })).toBe(400);
    expect(await status({ "upload-concat": `final;${Array(1001).fill("/a").join(" ")}` })).toBe(400);
    expect(await status({ "upload-concat": `final;${part}`, "upload-metadata": "x" })).toBe(400);
  });

  it("is held to permission, conditions and the largest file, before it makes anything (R 3.13)", async () => {
    const groups = { DEFAULT_GROUP: { permissions: [["allow-full-control"], ["/a.txt", "allow-read"]] } };
    const denied = await createUploadService({ groups });
    expect((await denied.tus("POST", "/home/", final(await createParts(denied, "abc")))).status).toBe(403);
    const service = await createUploadService({ files: { "/alice/a.txt": "old" }, limits: { maxFileBytes: 5 } });
    const parts = await createParts(service, "abc", "def");
    const { tus, stored, events } = service;
    const large = await tus("POST", "/home/", final(parts));
    expect([large.status, large.header("tus-max-size")]).toEqual([413, "5"]);
    expect((await tus("POST", "/home/", { ...final(parts.slice(1)), "if-none-match": "*" })).status).toBe(412);
    expect(await stored("/alice/a.txt")).toBe("old");
    expect(events).toEqual([]);
    expect((await tus("POST", "/home/", final(parts.slice(1)))).status).toBe(201);
  });

  it("is decided on by beforeCommit with all of its content (R 5.6)", async () => {
    let text = "";
    const service = await createUploadService({
      beforeCommit: {
        receive(_, chunk) {
          text += new TextDecoder().decode(chunk);
        },
        decide: ({ size }) => (size === 6 ? "No." : undefined),
      },
    });
    const parts = await createParts(service, "abc", "def");
    const refused = await service.tus("POST", "/home/", final(parts));
    expect([refused.status, text]).toEqual([422, "abcdef"]);
    expect(service.events.map(({ id }) => id)).toEqual([40021, 40022]);
    expect((await service.tus("POST", "/home/", final(parts.slice(1)))).status).toBe(201);
  });

  it("is 400 if a part is ended before it is copied (R 3.13)", async () => {
    let part = "";
    const service: UploadTestService = await createUploadService({
      beforeCommit: async () => {
        await service.tus("DELETE", part);
        return undefined;
      },
    });
    const parts = await createParts(service, "abc", "def");
    [, part = ""] = parts;
    const refused = await service.tus("POST", "/home/", final(parts));
    expect([refused.status, refused.header("error-code")]).toEqual([400, "upload-parts-invalid"]);
    expect(service.events.map(({ id }) => id)).toEqual([40021, 40022]);
    expect(await service.stored("/alice/a.txt")).toBeUndefined();
  });

  it("is a transfer, as every copy is (R 8.1)", async () => {
    let hasBegun: () => void = () => undefined;
    let go: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (hasBegun = resolve));
    const mayEnd = new Promise<void>((resolve) => (go = resolve));
    const service = await createUploadService({
      limits: { transfersPerAccount: 1 },
      beforeCommit: async () => {
        hasBegun();
        await mayEnd;
        return undefined;
      },
    });
    const parts = await createParts(service, "abc", "def");
    const running = service.tus("POST", "/home/", final(parts));
    await begun;
    const refused = await service.tus("POST", "/home/", final(parts));
    expect([refused.status, refused.header("retry-after")]).toEqual([503, "5"]);
    go();
    expect((await running).status).toBe(201);
  });

  it("frees its parts and is known although the client disconnects once the file is there (R 3.13, 7.3)", async () => {
    const client = new AbortController();
    const storage = createMemoryStorage();
    const uploads = storage.uploads ?? ({} as NonNullable<typeof storage.uploads>);
    const join: NonNullable<typeof uploads.join> = async (...input) => {
      const entry = await uploads.join?.(...input);
      client.abort();
      return entry ?? { kind: "file", name: "", size: 0, modified: new Date() };
    };
    const joining = { ...storage, uploads: { ...uploads, join } };
    const service = await createUploadService({ storage: joining, requestClass: Request });
    const { tus, call, stored, events } = service;
    const parts = await createParts(service, "abc", "def");
    const { status } = await tus("POST", "/home/", final(parts), { signal: client.signal });
    expect([status, await stored("/alice/a.txt")]).toEqual([201, "abcdef"]);
    for (const part of parts) expect((await tus("HEAD", part)).status).toBe(404);
    expect((await call("GET", "/home/__svc__/uploads/")).json()).toEqual({ uploads: [] });
    expect(events.map(({ id }) => id)).toEqual([40021, 40017]);
  });

  it("is not announced, and 501, where the storage cannot join (R 3.1, 6.7)", async () => {
    const memory = createMemoryStorage();
    const { join: _, ...uploads } = memory.uploads ?? ({} as NonNullable<typeof memory.uploads>);
    const { call, tus } = await createUploadService({ storage: { ...memory, uploads } });
    const options = await call("OPTIONS", "/home/", { as: null });
    expect(options.header("tus-extension")).not.toContain("concatenation");
    expect((await tus("POST", "/home/", { "upload-length": "6", "upload-concat": "partial" })).status).toBe(501);
  });
});
