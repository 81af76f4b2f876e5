import { describe, expect, it } from "vitest";
import { createQuotaStorage } from "../../../src/storage/quota.ts";
import { createFaultyStorage } from "../../../src/testing/faulty-storage.ts";
import { textChunks } from "../../../src/testing/storage/content.ts";
import { createTestService } from "../../support/service.ts";
import { createVersionsService, media, messagesOf, versionsOf } from "./setup.ts";

const rest = { api: "rest" } as const;

describe.each(media)("the versions of a file, %s", (medium) => {
  it("are its earlier contents, the newest first, without the present one", async () => {
    const { call, put, versions, contents } = await createVersionsService({ "/a b+ü.txt": "first" }, { medium });
    expect(await versions("/a b+ü.txt")).toEqual([]);
    await put("/a%20b+%C3%BC.txt", "second!", "third", "third");
    const answer = await call("GET", versionsOf("/a b+ü.txt"), rest);
    expect([answer.status, answer.header("content-type"), answer.header("cache-control")]).toEqual([
      200,
      "application/json; charset=utf-8",
      "no-store",
    ]);
    const shape = { id: expect.any(String), modified: expect.any(Number) };
    expect(JSON.parse(answer.text)).toEqual({
      content: [
        { ...shape, size: 7 },
        { ...shape, size: 5 },
      ],
    });
    expect(await contents("/a b+ü.txt")).toEqual(["second!", "first"]);
    const head = await call("HEAD", versionsOf("/a b+ü.txt"), rest);
    expect([head.status, head.header("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
  });

  it("are logged if they are too many and cannot be removed, and a sweep removes them", async () => {
    let isFailing = true;
    const { put, contents, log, service, storage } = await createVersionsService(
      { "/a": "1" },
      {
        medium,
        keeping: { keep: 1 },
        around: (inner) =>
          createFaultyStorage(inner, ({ verb, step }) =>
            isFailing && verb === "remove" && step === "call" ? { fault: "error" } : undefined,
          ),
      },
    );
    await put("/a", "2");
    expect(log.entries).toEqual([]);
    await put("/a", "3");
    const details = { path: "/alice/a", error: expect.objectContaining({ code: "unavailable" }) };
    const message = "Old versions were not removed.";
    expect(log.entries).toEqual([{ level: "error", message, details }]);
    expect(await contents("/a")).toEqual(["2"]);
    await expect(service.sweep()).rejects.toMatchObject({ code: "unavailable" });
    isFailing = false;
    expect(await service.sweep()).toBe(1);
    isFailing = true;
    await service.close();
    await storage.write("/alice/a", textChunks("4"));
    expect(log.entries).toHaveLength(1);
  });

  it("are downloads as the file is: with a type, a name, ranges and conditions", async () => {
    const { call, put, versions, events } = await createVersionsService({ "/a.css": "0123456789" }, { medium });
    await put("/a.css", "new");
    const [version] = await versions("/a.css");
    const url = versionsOf("/a.css", version?.id);
    const whole = await call("GET", url, rest);
    expect([whole.status, whole.text, whole.header("content-length")]).toEqual([200, "0123456789", "10"]);
    expect([whole.header("content-type"), whole.header("content-disposition"), whole.header("cache-control")]).toEqual([
      "text/css",
      expect.stringContaining('attachment; filename="a.css"'),
      "private, no-cache",
    ]);
    expect(whole.header("content-security-policy")).toBe("sandbox; default-src 'none'");
    const ask = (headers: Readonly<Record<string, string>>, method = "GET") => call(method, url, { ...rest, headers });
    const part = await ask({ range: "bytes=2-4" });
    expect([part.status, part.text, part.header("content-range")]).toEqual([206, "234", "bytes 2-4/10"]);
    expect((await ask({ range: "bytes=-2" })).text).toBe("89");
    const parts = await ask({ range: "bytes=0-1,5-6" });
    expect([parts.status, parts.text.includes("01"), parts.text.includes("56")]).toEqual([206, true, true]);
    const beyond = await ask({ range: "bytes=10-" });
    expect([beyond.status, beyond.header("content-range")]).toEqual([416, "bytes */10"]);
    const etag = whole.header("etag") ?? "";
    expect((await ask({ "if-none-match": etag })).status).toBe(304);
    expect((await ask({ "if-match": '"other"' })).status).toBe(412);
    expect((await ask({ "if-range": etag, range: "bytes=0-0" })).text).toBe("0");
    expect((await ask({ "if-range": '"other"', range: "bytes=0-0" })).text).toBe("0123456789");
    expect((await ask({ "if-modified-since": whole.header("last-modified") ?? "" })).status).toBe(304);
    const head = await ask({}, "HEAD");
    expect([head.status, head.text, head.header("content-length"), head.header("etag")]).toEqual([200, "", "10", etag]);
    // The tag is of this content alone: it never validates another one.
    const present = await call("GET", "/home/a.css", { ...rest, headers: { "if-none-match": etag } });
    expect([present.status, present.text]).toEqual([200, "new"]);
    const told = events.filter(({ id }) => id === 40004 || id === 40039).filter(({ data }) => "version" in data);
    expect(told[0]?.data).toEqual({ path: "/a.css", real_path: "/alice/a.css", version: version?.id });
    expect(told[1]).toMatchObject({ id: 40039, data: { total_read: 10, version: version?.id } });
  });

  it("are restored by commands: the present content becomes a version", async () => {
    const { put, versions, contents, run, stored, events } = await createVersionsService({ "/a": "one" }, { medium });
    await put("/a", "two", "three");
    const [two, one] = await versions("/a");
    const answer = await run("/a", [{ command: "restore", target: one?.id }]);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { results: [{ target: one?.id, message: null }] }]);
    expect(await stored("/alice/a")).toBe("one");
    expect(await contents("/a")).toEqual(expect.arrayContaining(["three", "two"]));
    const uploads = events.filter((event) => (event.id === 40021 || event.id === 40017) && "version" in event.data);
    const data = { path: "/a", real_path: "/alice/a", version: one?.id };
    expect(uploads.map(({ id }) => id)).toEqual([40021, 40017]);
    expect(uploads[0]?.data).toEqual(data);
    expect(uploads[1]?.data).toMatchObject({ ...data, total_write: 3 });
    expect((await run("/a", [{ command: "restore", target: [two?.id] }])).status).toBe(200);
    expect(await stored("/alice/a")).toBe("two");
  });

  it("are removed for good by commands", async () => {
    const { put, versions, contents, run, events } = await createVersionsService({ "/a": "one" }, { medium });
    await put("/a", "two", "three", "four");
    const [three, two] = await versions("/a");
    expect((await run("/a", [{ command: "purge", target: [three?.id, two?.id] }])).status).toBe(200);
    expect(await contents("/a")).toEqual(["one"]);
    const again = await run("/a", [{ command: "purge", target: two?.id }]);
    expect([again.status, messagesOf(again)]).toEqual([422, ["Not found."]]);
    expect(events.filter(({ id }) => id === 49113).map(({ data }) => data)).toEqual([
      { path: "/a", real_path: "/alice/a", version: three?.id },
      { path: "/a", real_path: "/alice/a", version: two?.id },
    ]);
  });

  it("are only checked with Prefer: dry-run", async () => {
    const { put, versions, run, stored, events } = await createVersionsService({ "/a": "one" }, { medium });
    await put("/a", "two", "three");
    const before = await versions("/a");
    const count = events.length;
    const [two, one] = before;
    const commands = [
      { command: "restore", target: one?.id },
      { command: "purge", target: [one?.id, one?.id, "unknown", two?.id] },
      { command: "restore", target: two?.id },
    ];
    const answer = await run("/a", commands, { headers: { prefer: "dry-run" } });
    expect([answer.status, answer.header("preference-applied")]).toEqual([422, "dry-run"]);
    expect(messagesOf(answer)).toEqual([null, null, "Not found.", "Not found.", null, "Not found."]);
    expect(await versions("/a")).toEqual(before);
    expect(await stored("/alice/a")).toBe("three");
    expect(events.filter(({ id }) => id === 40021).slice(count)).toEqual([]);
  });

  it("go along with a move, and not with a name: what is created anew has none", async () => {
    const { call, put, versions, contents, run } = await createVersionsService({ "/f/a": "one" }, { medium });
    await put("/f/a", "two");
    const [one] = await versions("/f/a");
    const commands = { commands: [{ command: "move", target: "f", destination: "g" }] };
    const moved = { ...rest, headers: { "content-type": "application/json" }, body: JSON.stringify(commands) };
    expect((await call("POST", "/home/", moved)).status).toBe(200);
    expect((await call("GET", versionsOf("/f/a"), rest)).status).toBe(404);
    expect(await contents("/g/a")).toEqual(["one"]);
    await call("PUT", "/home/f/", rest);
    await put("/f/a", "another");
    expect(await versions("/f/a")).toEqual([]);
    expect(messagesOf(await run("/f/a", [{ command: "restore", target: one?.id }]))).toEqual(["Not found."]);
    const [same] = await versions("/g/a");
    expect((await call("DELETE", "/home/g/a", rest)).status).toBe(204);
    for (const url of [versionsOf("/g/a"), versionsOf("/g/a", same?.id)]) {
      expect((await call("GET", url, rest)).status).toBe(404);
    }
    await put("/g/a", "created anew");
    expect(await versions("/g/a")).toEqual([]);
    for (const id of [one?.id, same?.id]) {
      expect((await call("GET", versionsOf("/g/a", id), rest)).status).toBe(404);
      expect(messagesOf(await run("/g/a", [{ command: "restore", target: id }]))).toEqual(["Not found."]);
    }
  });

  it("obey the quota, the size limit and the locks of uploads", async () => {
    const { call, put, versions, run, stored, events } = await createVersionsService(
      { "/a": "0123456789" },
      {
        medium,
        webdav: {},
        group: { quota_bytes: 24, max_file_bytes: 10 },
        around: (storage) => createQuotaStorage(storage),
      },
    );
    await put("/a", "1");
    const [version] = await versions("/a");
    // The file, its versions, and what comes with the restoration: 1 + 10 + 10 bytes, and 4 that are free.
    await put("/b", "1234");
    const full = await run("/a", [{ command: "restore", target: version?.id }]);
    expect([full.status, messagesOf(full)]).toEqual([422, ["The quota is used up."]]);
    expect(await stored("/alice/a")).toBe("1");
    expect(events.at(-1)).toMatchObject({ id: 40022, data: { version: version?.id, total_write: 0 } });
    await call("DELETE", "/home/b", rest);

    const lock = '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>';
    const headers = { "content-type": "application/xml", timeout: "Second-600" };
    const locked = await call("LOCK", "/home/a", { api: "webdav", headers, body: lock, undescribed: "WebDAV" });
    const refused = await run("/a", [{ command: "restore", target: version?.id }]);
    expect([refused.status, messagesOf(refused)]).toEqual([422, ["Somebody is working on this."]]);
    expect(await stored("/alice/a")).toBe("1");
    const token = { "lock-token": locked.header("lock-token") ?? "" };
    await call("UNLOCK", "/home/a", { api: "webdav", headers: token, undescribed: "WebDAV" });
    expect((await run("/a", [{ command: "restore", target: version?.id }])).status).toBe(200);
    expect(await stored("/alice/a")).toBe("0123456789");
  });

  it("that are larger than the account may upload now are not restored", async () => {
    const { put, versions, run, stored, call } = await createVersionsService(
      { "/a": "0123456789" },
      { medium, group: { max_file_bytes: 9 } },
    );
    await put("/a", "1");
    const [version] = await versions("/a");
    const answer = await run("/a", [{ command: "restore", target: version?.id }]);
    expect([answer.status, messagesOf(answer)]).toEqual([422, [expect.stringContaining("9 bytes")]]);
    expect(await stored("/alice/a")).toBe("1");
    expect((await call("GET", versionsOf("/a", version?.id), rest)).text).toBe("0123456789");
  });
});

describe("the URLs of versions", () => {
  it("refuse what is no command", async () => {
    const { call, run } = await createVersionsService({ "/a": "a" });
    for (const commands of [[], [{ command: "delete", target: "a" }], [{ command: "restore" }]]) {
      expect((await run("/a", commands)).status).toBe(400);
    }
    expect((await run("/a", [{ command: "restore", target: "a", to: "/b" }])).status).toBe(400);
    expect((await run("/a", [{ command: "purge", target: Array.from({ length: 1001 }, () => "a") }])).status).toBe(400);
    const plain = { ...rest, headers: { "content-type": "text/plain" }, body: "x", undescribed: "no JSON" } as const;
    const refused = await call("POST", versionsOf("/a"), plain);
    expect([refused.status, refused.header("error-code")]).toEqual([415, "versions-media-type"]);
    for (const [method, url] of [
      ["PUT", versionsOf("/a")],
      ["DELETE", versionsOf("/a")],
      ["DELETE", versionsOf("/a", "x")],
      ["POST", versionsOf("/a", "x")],
    ] as const) {
      expect((await call(method, url, { ...rest, undescribed: "no method" })).status).toBe(405);
    }
  });

  it("do not exist without the option", async () => {
    const { call } = await createTestService({ files: { "/alice/a": "a" } });
    for (const url of [versionsOf("/a"), versionsOf("/a", "x")]) {
      for (const method of ["GET", "HEAD"]) {
        expect((await call(method, url, { ...rest, undescribed: "no versions" })).status).toBe(404);
      }
    }
  });

  it("are swept with the service", async () => {
    let now = Date.now();
    const { put, service, versions } = await createVersionsService(
      { "/a": "one" },
      { keeping: { keepSeconds: 3600, clock: () => now } },
    );
    await put("/a", "two");
    expect(await versions("/a")).toHaveLength(1);
    now += 2 * 3_600_000;
    expect(await versions("/a")).toEqual([]);
    expect(await service.sweep()).toBe(1);
    expect(await service.sweep()).toBe(0);
  });
});
