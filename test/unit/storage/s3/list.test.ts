import { describe, expect, it, vi } from "vitest";
import { childText, parseResponse } from "../../../../src/storage/object-store/http/xml.ts";
import { rejectionOf } from "../../../../src/testing/expectations.ts";
import { namesIn, put } from "../../../../src/testing/storage/content.ts";
import { startProcessorTime } from "../../../support/processor-time.ts";
import { createFake, listing, refusal } from "../../../support/s3/fake.ts";

describe("listings of S3", () => {
  it("keep names as they are: digits, blanks, plus and percent signs", async () => {
    const names = ["007", " a ", "a+b", "100%", "1e3", "true", "\uffff", "é"];
    const { storage } = createFake(({ query }) => (query.has("list-type") ? listing(names) : undefined));
    expect(await namesIn(storage, "/")).toEqual([...names].sort());
  });

  it("take a plus sign for a blank, as AWS writes it, and times without their milliseconds", async () => {
    const text = await listing(["x"]).text();
    const { storage } = createFake(() => new Response(text.replace(">x<", ">a+b%2Bc<")));
    for await (const { name, size, modified, etag } of storage.list("/")) {
      expect([name, size, modified.toISOString(), etag]).toEqual(["a b+c", 7, "2026-11-22T00:00:00.000Z", '"tag"']);
    }
  });

  it("leave out what has no path: empty names, dots, and what no text can hold", async () => {
    const text = await listing(["f", ".", "..", "bad"], ["/", "../", "d/"]).text();
    const { storage } = createFake(() => new Response(text.replace(">bad<", ">%ff<")));
    expect(await namesIn(storage, "/")).toEqual(["d", "f"]);
  });

  it("name a file and a folder of one name once, as the file, on one page and over several", async () => {
    const pages = [listing(["a", "b"], ["a/"], "1"), listing(["b "], [], "2"), listing(["c"], ["b/", "c/", "d/"])];
    const { storage } = createFake(() => pages.shift());
    const kinds: string[] = [];
    for await (const { name, kind } of storage.list("/")) kinds.push(`${name}:${kind}`);
    expect(kinds).toEqual(["a:file", "b:file", "b :file", "c:file", "d:folder"]);
  });

  it("ask for the next page while one is looked at, and end that when they are left", async () => {
    const { storage, calls } = createFake(({ signal }, number) =>
      number === 1 ? listing(["a"], [], "more") : new Promise((_, reject) => signal?.addEventListener("abort", reject)),
    );
    for await (const _ of storage.list("/")) {
      await vi.waitFor(() => expect(calls).toHaveLength(2), 10_000);
      break;
    }
    expect(calls.map(({ query }) => query.get("continuation-token"))).toEqual([null, "more"]);
    expect(calls[1]?.signal?.aborted).toBe(true);
  });

  it("parse a response of 256 KiB of carriage returns quickly, and read each as a line end", () => {
    const elapsed = startProcessorTime();
    const root = parseResponse(`<a>${"\r".repeat(262_144)}<b>x\r\ny\rz</b></a>`);
    expect(childText(root, "b")).toBe("x\ny\nz");
    expect(elapsed()).toBeLessThan(2000);
  });

  it.each([
    ["no XML", "<html>"],
    ["another document", "<Other/>"],
    ["a page that is cut off without a way on", "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"],
    [
      "a page that leads to itself",
      "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>1</NextContinuationToken></ListBucketResult>",
    ],
    [
      "a file whose size is no number",
      "<ListBucketResult><Contents><Key>a</Key><Size>-</Size></Contents></ListBucketResult>",
    ],
  ])("fail on %s", async (_, text) => {
    const { storage } = createFake(() => new Response(text));
    await expect(namesIn(storage, "/")).rejects.toMatchObject({ code: "unavailable" });
  });

  it("expand no entities and read no document type", () => {
    const bomb = '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c SYSTEM "file:///etc/passwd">]><a>&b;&c;</a>';
    expect(parseResponse(bomb)).toBeUndefined();
    expect(childText(parseResponse("<a><b> &lt;&#x41;\uffff </b></a>"), "b")).toBe(" <A\ufffd ");
  });
});

describe("removals from S3", () => {
  it("try again what failed for now, and nothing else", async () => {
    let lists = 0;
    const failing = "<DeleteResult><Error><Key>d/2</Key><Code>InternalError</Code></Error></DeleteResult>";
    const { storage, calls, objects } = createFake(({ query }) => {
      if (!query.has("delete")) return undefined;
      lists += 1;
      return lists === 1 ? new Response(failing) : undefined;
    });
    await storage.createFolder("/d");
    for (const name of ["1", "2", "3"]) await put(storage, `/d/${name}`, name);
    await storage.remove("/d");
    const second = calls.filter(({ query }) => query.has("delete"))[1];
    expect([...(second?.body.matchAll(/<Key>(.*?)<\/Key>/g) ?? [])].map(([, key]) => key)).toEqual(["d/2"]);
    expect(objects.has("d/2")).toBe(false);
  });

  it("tell how many failed for good, and why", async () => {
    const failing = "<DeleteResult><Error><Key>d/1</Key><Code>AccessDenied</Code></Error></DeleteResult>";
    const { storage } = createFake(({ query }) => (query.has("delete") ? new Response(failing) : undefined));
    await storage.createFolder("/d");
    await put(storage, "/d/1", "1");
    await expect(storage.remove("/d")).rejects.toMatchObject({
      code: "denied",
      message: "1 of 2 objects were not removed (AccessDenied)",
    });
  });

  it("go one by one where the store has no lists of them, and where XML has no form for a name", async () => {
    for (const script of [
      ({ query }: { query: URLSearchParams }) => (query.has("delete") ? refusal(501, "") : undefined),
      undefined,
    ]) {
      const { storage, calls, objects } = createFake(script);
      await storage.createFolder("/d");
      await put(storage, "/d/\uffff", "1");
      await storage.remove("/d");
      expect([...objects.keys()]).toEqual([]);
      expect(calls.some(({ method, key }) => method === "DELETE" && key === "d/\uffff")).toBe(true);
    }
  });

  it.each([
    ["without lists of keys", "d/../other/secret"],
    ["of a key that XML has no form for", "d/\u0001/../../other/secret"],
    ["of a key with a single dot", "d/\u0001/./secret"],
  ])("leave a key whose dots lead a URL elsewhere, and fail: %s", async (_, dotted) => {
    const { storage, calls, objects } = createFake(({ query }) => (query.has("delete") ? refusal(501, "") : undefined));
    const object = { body: "x", headers: new Headers({ etag: '"t"' }) };
    for (const key of [dotted, "other/secret", "d/\u0001/secret"]) objects.set(key, object);
    await expect(storage.remove("/d")).rejects.toMatchObject({
      code: "denied",
      message: expect.stringContaining(`${dotted}: no URL leads to a key with . or .. in it`),
    });
    await expect(storage.copy("/d", "/copy")).rejects.toMatchObject({ code: "denied" });
    expect([...objects.keys()]).toEqual(expect.arrayContaining([dotted, "other/secret"]));
    expect([...objects.keys()].filter((key) => key.startsWith("copy"))).toEqual([]);
    expect(calls.filter(({ method, key }) => method !== "HEAD" && key === "other/secret")).toEqual([]);
  });

  it("take a key with dots by its name where the store has lists of keys", async () => {
    const { storage, objects } = createFake();
    const object = { body: "x", headers: new Headers({ etag: '"t"' }) };
    for (const key of ["d/../other/secret", "other/secret"]) objects.set(key, object);
    await storage.remove("/d");
    expect([...objects.keys()]).toEqual(["other/secret"]);
  });

  it("stop when one of many fails, and tell how many are left when none is under way any more", async () => {
    const { storage, calls, objects } = createFake(({ method, key, query }) => {
      if (query.has("delete")) return refusal(501, "");
      return method === "DELETE" && key === "d/90" ? refusal(403, "AccessDenied") : undefined;
    });
    for (let number = 10; number < 100; number += 1) {
      objects.set(`d/${number}`, { body: "x", headers: new Headers({ etag: '"t"' }) });
    }
    const { message } = (await rejectionOf(storage.remove("/d"))) as Error;
    const sent = calls.length;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(calls).toHaveLength(sent);
    expect(message).toBe(
      `${objects.size} of 90 objects were not removed (DELETE d/90: the store responded 403 AccessDenied)`,
    );
    expect(objects.size).toBeGreaterThan(50);
  });

  it("tell how many of all pages failed, not of the last attempt at one", async () => {
    const failing = "<DeleteResult><Error><Key>d/4</Key><Code>InternalError</Code></Error></DeleteResult>";
    const pages = [listing(["d/1", "d/2"], [], "2"), listing(["d/3", "d/4"], [], "3"), listing(["d/5"])];
    let lists = 0;
    const { storage } = createFake(
      ({ query }) => {
        if (query.has("delete")) lists += 1;
        if (query.has("delete")) return new Response(lists === 1 ? "<DeleteResult/>" : failing);
        return query.get("prefix") === "d/" ? pages.shift() : undefined;
      },
      { retries: 1 },
    );
    await expect(storage.remove("/d")).rejects.toMatchObject({
      code: "unavailable",
      message: "1 of 4 objects were not removed, nor the objects after them (InternalError)",
    });
  });

  it("tell what has gone where the rest cannot be listed", async () => {
    const pages = [listing(["d/1", "d/2"], [], "2"), refusal(403, "AccessDenied")];
    const { storage } = createFake(({ query }) => (query.get("prefix") === "d/" ? pages.shift() : undefined));
    await expect(storage.remove("/d")).rejects.toMatchObject({
      code: "denied",
      message: expect.stringContaining("2 objects were removed, but not the objects after them (GET bucket"),
    });
  });

  it("keep a folder without a marker whose last two members go at once", async () => {
    const { storage, objects } = createFake();
    for (const key of ["foreign/1", "foreign/2"])
      objects.set(key, { body: "x", headers: new Headers({ etag: '"t"' }) });
    await Promise.all([storage.remove("/foreign/1"), storage.remove("/foreign/2")]);
    expect([...objects.keys()]).toEqual(["foreign/"]);
  });

  it("keep a folder that was there by its last member alone", async () => {
    const { storage, objects } = createFake();
    objects.set("foreign/file", { body: "x", headers: new Headers({ etag: '"t"' }) });
    await storage.remove("/foreign/file");
    expect([...objects.keys()]).toEqual(["foreign/"]);
  });
});
