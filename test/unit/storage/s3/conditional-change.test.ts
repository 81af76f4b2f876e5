import { describe, expect, it } from "vitest";
import { put, readFileText } from "../../../../src/testing/storage/content.ts";
import { createFake, refusal, type S3Conditions } from "../../../support/s3/fake.ts";

const STORES: readonly S3Conditions[] = ["kept", "refused", "ignored", "bare"];

describe.each(STORES)("conditional writes to a store by which conditions are %s", (conditions) => {
  it("are met and not met as elsewhere", async () => {
    const { storage } = createFake(undefined, {}, conditions);
    const { etag = "" } = await put(storage, "/file", "first", { ifNoneMatch: "*" });
    await expect(put(storage, "/file", "x", { ifNoneMatch: "*" })).rejects.toMatchObject({
      code: "precondition-failed",
    });
    await put(storage, "/file", "second", { ifMatch: ['"other"', etag] });
    await expect(put(storage, "/file", "x", { ifMatch: [etag] })).rejects.toMatchObject({
      code: "precondition-failed",
    });
    expect(await readFileText(storage, "/file")).toBe("second");
  });

  it("make one folder", async () => {
    const { storage } = createFake(undefined, {}, conditions);
    await storage.createFolder("/folder");
    await expect(storage.createFolder("/folder")).rejects.toMatchObject({ code: "already-exists" });
  });
});

describe("conditions of S3", () => {
  it("are sent no more once a store has answered 501", async () => {
    const { storage, calls } = createFake(undefined, {}, "refused");
    await put(storage, "/a", "a", { ifNoneMatch: "*" });
    await put(storage, "/b", "b", { ifNoneMatch: "*" });
    const sent = calls.filter(({ method }) => method === "PUT").map(({ headers }) => headers.get("if-none-match"));
    expect(sent).toEqual(["*", null, null]);
  });

  it("are still sent with writes where a store knows none of removals", async () => {
    const { storage, calls } = createFake(({ method, headers }) =>
      method === "DELETE" && headers.has("if-match") ? refusal(501, "NotImplemented") : undefined,
    );
    const { etag = "" } = await put(storage, "/a", "a");
    await storage.remove("/a", { ifMatch: [etag] });
    await put(storage, "/b", "b", { ifNoneMatch: "*" });
    const sent = calls.map(({ method, headers }) => [method, headers.get("if-match") ?? headers.get("if-none-match")]);
    expect(sent.filter(([method]) => method === "PUT" || method === "DELETE")).toEqual([
      ["PUT", null],
      ["DELETE", etag],
      ["DELETE", null],
      ["PUT", "*"],
    ]);
  });

  it("are not given up for a 501 that says nothing of them", async () => {
    let isRefusing = true;
    const { storage, calls } = createFake(({ method }) =>
      method === "PUT" && isRefusing ? new Response("a proxy's", { status: 501 }) : undefined,
    );
    await expect(put(storage, "/a", "a", { ifNoneMatch: "*" })).rejects.toMatchObject({ code: "unavailable" });
    isRefusing = false;
    await put(storage, "/a", "a", { ifNoneMatch: "*" });
    expect(calls.filter(({ method }) => method === "PUT").every(({ headers }) => headers.has("if-none-match"))).toBe(
      true,
    );
  });

  it("find the other form of tags once for all who are refused together", async () => {
    const { storage, calls } = createFake(undefined, {}, "bare");
    const entries = await Promise.all(["/a", "/b", "/c", "/d"].map((path) => put(storage, path, path)));
    await Promise.all(entries.map(({ name, etag = "" }) => put(storage, `/${name}`, "next", { ifMatch: [etag] })));
    const tags = calls.flatMap(({ headers }) => headers.get("if-match") ?? []);
    expect(tags.filter((tag) => tag.startsWith('"'))).toHaveLength(4);
    expect(tags).toHaveLength(8);
  });

  it.each([
    [404, "NoSuchKey"],
    [412, "PreconditionFailed"],
  ])("of a removal are met when its answer got lost and the repetition is answered %i", async (status, code) => {
    let sent = 0;
    const fake = createFake(({ method, key }) => {
      if (method !== "DELETE") return undefined;
      sent += 1;
      fake.objects.delete(key);
      return sent === 1 ? Promise.reject(new TypeError("lost")) : refusal(status, code);
    });
    const { etag = "" } = await put(fake.storage, "/file", "text");
    await fake.storage.remove("/file", { ifMatch: [etag] });
    expect(sent).toBe(2);
  });

  it("of a removal are not met where another remover was quicker", async () => {
    const fake = createFake(({ method, key }) => {
      if (method !== "DELETE") return undefined;
      fake.objects.delete(key);
      return refusal(404, "NoSuchKey");
    });
    const { etag = "" } = await put(fake.storage, "/file", "text");
    await expect(fake.storage.remove("/file", { ifMatch: [etag] })).rejects.toMatchObject({
      code: "precondition-failed",
    });
  });

  it("are never sent where the option says so", async () => {
    const { storage, calls } = createFake(undefined, { conditionalWrites: false });
    await put(storage, "/a", "a", { ifNoneMatch: "*" });
    expect(calls.some(({ headers }) => headers.has("if-none-match"))).toBe(false);
  });

  it("are judged anew after 409, and after a file that was changed is still what they want", async () => {
    let refusals = 2;
    const { storage } = createFake(({ method }) => {
      if (method !== "PUT" || refusals === 0) return undefined;
      refusals -= 1;
      return refusal(refusals === 0 ? 412 : 409, refusals === 0 ? "PreconditionFailed" : "ConditionalRequestConflict");
    });
    await put(storage, "/file", "text", { ifNoneMatch: "*" });
    expect(await readFileText(storage, "/file")).toBe("text");
  });

  it("are met by the write itself, when its first answer got lost", async () => {
    let isLost = false;
    const fake = createFake(({ method, key, body, headers }) => {
      if (method !== "PUT" || isLost) return undefined;
      isLost = true;
      fake.objects.set(key, { body, headers: withTag(headers) });
      return Promise.reject(new TypeError("lost"));
    });
    await put(fake.storage, "/file", "text", { ifNoneMatch: "*" });
    expect(fake.calls.filter(({ method }) => method === "PUT")).toHaveLength(2);
  });

  it("are found met when no attempt is left and the last one did it", async () => {
    const fake = createFake(
      ({ method, key, body, headers }) => {
        if (method !== "PUT") return undefined;
        fake.objects.set(key, { body, headers: withTag(headers) });
        return refusal(500, "InternalError");
      },
      { retries: 0 },
    );
    expect((await put(fake.storage, "/file", "text")).size).toBe(4);
  });
});

describe("a write whose signal aborts while the store makes the file", () => {
  it.each([
    ["by one request", "new"],
    ["by the end of its parts", "x".repeat(6 * 1_048_576)],
  ])("resolves, as the file is there: %s", async (_way, text) => {
    const client = new AbortController();
    const fake = createFake(({ method, query, signal }, _number, serve) => {
      if (method === "PUT" ? query.has("partNumber") : !query.has("uploadId")) return undefined;
      const made = serve();
      client.abort(new Error("gone"));
      return signal?.aborted ? Promise.reject(signal.reason) : made;
    });
    const { size } = await put(fake.storage, "/file", text, { signal: client.signal });
    expect([client.signal.aborted, size]).toEqual([true, text.length]);
    expect(fake.uploads.size).toBe(0);
  });

  it("resolves, as the file is there: by a request whose response was lost", async () => {
    const client = new AbortController();
    const fake = createFake(({ method }, _number, serve) => {
      if (method !== "PUT" || client.signal.aborted) return undefined;
      serve();
      client.abort(new Error("gone"));
      return Promise.reject(new TypeError("lost"));
    });
    const { size } = await put(fake.storage, "/file", "new", { ifNoneMatch: "*", signal: client.signal });
    expect(size).toBe(3);
    expect(fake.calls.filter(({ method }) => method === "PUT")).toHaveLength(2);
  });

  it("sends nothing if it aborts before that", async () => {
    const client = new AbortController();
    const fake = createFake(({ method }) => {
      if (method === "HEAD") client.abort(new Error("gone"));
      return undefined;
    });
    const written = put(fake.storage, "/file", "new", { ifNoneMatch: "*", signal: client.signal });
    await expect(written).rejects.toThrow("gone");
    expect(fake.objects.size).toBe(0);
  });
});

function withTag(headers: Headers): Headers {
  return new Headers([...headers].filter(([name]) => name.startsWith("x-amz-meta-")).concat([["etag", '"t"']]));
}
