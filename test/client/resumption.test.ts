import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { failureOf, stubClient } from "./setup.ts";

const ID = "0123456789abcdef0123456789abcdef";
const UPLOAD = `http://files.example/home/__svc__/uploads/${ID}`;
const CREATED = { Location: `/home/__svc__/uploads/${ID}`, "Upload-Offset": "0", "Upload-Complete": "?0" };
const COMPLETE = { "Upload-Offset": "5", "Upload-Complete": "?1", ETag: '"1"' };
const RESUMABLE = { resumable: true };

type Reaction = (request: Request, count: number) => Response | Promise<Response>;

const DEFAULT_REACTIONS: Readonly<Record<string, Reaction>> = {
  POST: () => reply(201, CREATED),
  DELETE: () => reply(204),
};

/** A client of a service that reacts to each method in its own way, and the requests so far. */
function stub(reactions: Readonly<Record<string, Reaction>>) {
  const requests: { readonly method: string; readonly url: string; readonly at: number }[] = [];
  const begin = Date.now();
  const client = stubClient(async (request) => {
    const { method, url } = request;
    await request.clone().arrayBuffer();
    requests.push({ method, url, at: Date.now() - begin });
    const count = requests.filter((one) => one.method === method).length;
    const reaction = { ...DEFAULT_REACTIONS, ...reactions }[method];
    if (reaction === undefined) throw new Error(`${method} is not expected.`);
    return reaction(request, count);
  });
  return { client, requests, methods: () => requests.map(({ method }) => method) };
}

function reply(status: number, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, { status, headers });
}

function breakOff(): never {
  throw new TypeError("fetch failed");
}

/** Breaks off after six minutes. */
const breakLate = () => new Promise<never>((_, reject) => setTimeout(reject, 360_000, new TypeError("fetch failed")));
const shown = (offset: number) => reply(204, { "Upload-Offset": `${offset}`, "Upload-Complete": "?0" });

describe("an upload by the client in several requests", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("says what it sends", async () => {
    const sent: unknown[] = [];
    const { client } = stub({
      POST: ({ headers, url }) => {
        sent.push([url, headers.get("upload-complete"), headers.get("upload-length"), headers.get("if-match")]);
        return reply(201, CREATED);
      },
      PATCH: async (request) => {
        const fields = ["content-type", "upload-offset", "upload-complete"].map((name) => request.headers.get(name));
        sent.push([request.url, ...fields, await request.text()]);
        return reply(201, COMPLETE);
      },
    });
    expect(await client.put("/a", "hello", { ...RESUMABLE, ifMatch: '"0"' })).toEqual({ etag: '"1"', modified: null });
    expect(sent).toEqual([
      ["http://files.example/home/a", "?0", "5", '"0"'],
      [UPLOAD, "application/partial-upload", "0", "?1", "hello"],
    ]);
  });

  it.each([
    [501, { "Error-Code": "method-not-implemented" }],
    [405, {}],
    [404, {}],
    [200, {}],
  ])("is a PUT if the service knows no such uploads and answers %i", async (status, headers) => {
    const { client, methods } = stub({ POST: () => reply(status, headers), PUT: () => reply(201, { ETag: '"2"' }) });
    expect((await client.put("/a", "hello", RESUMABLE)).etag).toBe('"2"');
    expect((await client.put("/a", async () => new Blob(["hello"]).stream())).etag).toBe('"2"');
    expect(methods()).toEqual(["POST", "PUT", "POST", "PUT"]);
  });

  it.each([
    [404, { "Error-Code": "not-found" }],
    [401, {}],
    [412, {}],
    [503, {}],
  ])("fails at once if its creation is refused with %i", async (status, headers) => {
    const { client, methods } = stub({ POST: () => reply(status, headers) });
    expect(await failureOf(client.put("/a", "hello", RESUMABLE))).toMatchObject({ status });
    expect(methods()).toEqual(["POST"]);
  });

  it("asks its own service alone, whatever the URL of the upload says", async () => {
    const Location = `https://evil.example/x/uploads/${ID}`;
    const { client, requests } = stub({
      POST: () => reply(201, { ...CREATED, Location }),
      PATCH: () => reply(201, COMPLETE),
    });
    await client.put("/a", "hello", RESUMABLE);
    expect(requests.map(({ url }) => url)).toEqual(["http://files.example/home/a", UPLOAD]);
  });

  it("waits longer each time, begins with short waits after a byte more, and gives up after five minutes", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    const { client, requests } = stub({
      PATCH: breakOff,
      HEAD: (_request, count) => (count < 4 ? breakOff() : shown(2)),
    });
    const failed = failureOf(client.put("/a", "hello", RESUMABLE));
    await vi.advanceTimersByTimeAsync(600_000);
    expect(await failed).toMatchObject({ status: undefined, cause: expect.any(TypeError) });
    const heads = requests.filter(({ method }) => method === "HEAD").map(({ at }) => Math.round(at / 1000));
    expect(heads.slice(0, 9)).toEqual([0, 1, 3, 7, 7, 8, 10, 14, 22]);
    const last = requests.at(-1);
    expect(last?.method).toBe("DELETE");
    expect(last?.at).toBeGreaterThan(280_000);
    expect(last?.at).toBeLessThanOrEqual(307_000);
  });

  it("goes on after a request that ran for longer than its patience", async () => {
    const { client, methods } = stub({
      PATCH: (_request, count) =>
        [breakLate, () => reply(503), breakLate, () => reply(201, COMPLETE)][count - 1]?.() ?? reply(500),
      // What the first request has sent; nothing with the second one; what the third one has sent.
      HEAD: (_request, count) => shown([2, 2, 3, 3][count - 1] ?? 3),
    });
    const done = client.put("/a", "hello", RESUMABLE);
    await vi.advanceTimersByTimeAsync(800_000);
    expect(await done).toMatchObject({ etag: '"1"' });
    expect(methods()).not.toContain("DELETE");
  });

  it("gives up if such a request has added nothing since a failure before it", async () => {
    const { client, methods } = stub({
      PATCH: (_request, count) => (count === 1 ? reply(503) : breakLate()),
      HEAD: () => shown(0),
    });
    const failed = failureOf(client.put("/a", "hello", RESUMABLE));
    await vi.advanceTimersByTimeAsync(400_000);
    expect(await failed).toMatchObject({ cause: expect.any(TypeError) });
    expect(methods()).toEqual(["POST", "PATCH", "HEAD", "PATCH", "HEAD", "DELETE"]);
  });

  it("waits for an answer to what such a request has added, also if it comes after its patience", async () => {
    const { client, methods } = stub({
      PATCH: (_request, count) =>
        [() => reply(503), breakLate, () => reply(201, COMPLETE)][count - 1]?.() ?? reply(500),
      // The service is away for some minutes after the long request has broken off.
      HEAD: (_request, count) => (count === 1 ? shown(0) : count < 20 ? breakOff() : shown(3)),
    });
    const done = client.put("/a", "hello", RESUMABLE);
    await vi.advanceTimersByTimeAsync(800_000);
    expect(await done).toMatchObject({ etag: '"1"' });
    expect(methods()).not.toContain("DELETE");
  });

  it("gives up five minutes after such a request if the service never answers", async () => {
    const { client, requests } = stub({
      PATCH: (_request, count) => (count === 1 ? reply(503) : breakLate()),
      HEAD: (_request, count) => (count === 1 ? shown(0) : breakOff()),
    });
    const failed = failureOf(client.put("/a", "hello", RESUMABLE));
    await vi.advanceTimersByTimeAsync(900_000);
    expect(await failed).toMatchObject({ cause: expect.any(TypeError) });
    const last = requests.at(-1);
    expect(last?.method).toBe("DELETE");
    expect(last?.at).toBeGreaterThan(620_000);
    expect(last?.at).toBeLessThanOrEqual(670_000);
  });

  it("can be aborted while it asks for the last time", async () => {
    const aborting = new AbortController();
    const { client } = stub({
      PATCH: (_request, count) => (count === 1 ? reply(503) : breakLate()),
      HEAD: (_request, count) => {
        if (count === 1) return shown(0);
        aborting.abort();
        throw aborting.signal.reason;
      },
    });
    const failed = expect(client.put("/a", "hello", { ...RESUMABLE, signal: aborting.signal })).rejects.toMatchObject({
      name: "AbortError",
    });
    await vi.advanceTimersByTimeAsync(400_000);
    await failed;
  });

  it("takes a completion for success that it learns of after its patience", async () => {
    const { client } = stub({
      PATCH: (_request, count) => (count === 1 ? reply(503) : breakLate()),
      HEAD: (_request, count) => (count === 1 ? shown(0) : reply(204, COMPLETE)),
    });
    const done = client.put("/a", "hello", RESUMABLE);
    await vi.advanceTimersByTimeAsync(400_000);
    expect(await done).toMatchObject({ etag: '"1"' });
  });

  it.each([423, 429, 500, 502, 503, 504, 520])("waits as long as the service says with a %i", async (status) => {
    const { client, requests } = stub({
      PATCH: (_request, count) => (count === 1 ? reply(status, { "Retry-After": "60" }) : reply(201, COMPLETE)),
      HEAD: () => shown(0),
    });
    const done = client.put("/a", "hello", RESUMABLE);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await done).toMatchObject({ etag: '"1"' });
    expect(requests.map(({ method, at }) => [method, at])).toEqual([
      ["POST", 0],
      ["PATCH", 0],
      ["HEAD", 60_000],
      ["PATCH", 60_000],
    ]);
  });

  it("goes on at once from where the service is after a 409", async () => {
    const bodies: string[] = [];
    const { client, methods } = stub({
      PATCH: async (request, count) => {
        bodies.push(await request.text());
        return count === 1 ? reply(409, { "Upload-Offset": "3" }) : reply(201, COMPLETE);
      },
      HEAD: () => shown(3),
    });
    const done = client.put("/a", "hello", RESUMABLE);
    await vi.advanceTimersByTimeAsync(0);
    await done;
    expect(bodies).toEqual(["hello", "lo"]);
    expect(methods()).toEqual(["POST", "PATCH", "HEAD", "PATCH"]);
  });

  it("learns of its success if the last response is lost", async () => {
    const { client, methods } = stub({ PATCH: breakOff, HEAD: () => reply(204, COMPLETE) });
    const progress: unknown[] = [];
    const done = client.put("/a", "hello", { ...RESUMABLE, onProgress: (...call) => progress.push(call) });
    await vi.advanceTimersByTimeAsync(0);
    expect(await done).toEqual({ etag: '"1"', modified: null });
    expect(methods()).toEqual(["POST", "PATCH", "HEAD"]);
    expect(progress.at(-1)).toEqual([5, 5]);
  });

  it.each([404, 410])("begins anew once after a %i", async (status) => {
    const { client, methods } = stub({ PATCH: () => reply(status) });
    expect(await failureOf(client.put("/a", "hello", RESUMABLE))).toMatchObject({ status });
    expect(methods()).toEqual(["POST", "PATCH", "POST", "PATCH", "DELETE"]);
  });

  it.each([400, 401, 403, 412, 413, 415, 422, 501, 507])("fails with a %i, and is discarded", async (status) => {
    const { client, methods } = stub({ PATCH: () => reply(status) });
    expect(await failureOf(client.put("/a", "hello", RESUMABLE))).toMatchObject({ status });
    expect(methods()).toEqual(["POST", "PATCH", "DELETE"]);
  });

  it("is kept if the caller wants that", async () => {
    const { client, methods } = stub({ PATCH: () => reply(507) });
    expect(await failureOf(client.put("/a", "hello", { ...RESUMABLE, keep: true }))).toMatchObject({ status: 507 });
    expect(methods()).toEqual(["POST", "PATCH"]);
  });

  it("is discarded if it is aborted while it is created", async () => {
    const created = new Promise<Response>((resolve) => setTimeout(() => resolve(reply(201, CREATED)), 1000));
    const { client, methods } = stub({ POST: () => created });
    const aborting = new AbortController();
    const failed = expect(client.put("/a", "hello", { ...RESUMABLE, signal: aborting.signal })).rejects.toMatchObject({
      name: "AbortError",
    });
    await vi.advanceTimersByTimeAsync(500);
    aborting.abort();
    await failed;
    expect(methods()).toEqual(["POST"]);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(methods()).toEqual(["POST", "DELETE"]);
  });

  it("can be aborted while it waits", async () => {
    const { client, methods } = stub({ PATCH: breakOff, HEAD: breakOff });
    const aborting = new AbortController();
    const failed = expect(client.put("/a", "hello", { ...RESUMABLE, signal: aborting.signal })).rejects.toMatchObject({
      name: "AbortError",
    });
    await vi.advanceTimersByTimeAsync(2000);
    aborting.abort();
    await failed;
    await vi.advanceTimersByTimeAsync(600_000);
    expect(methods().at(-1)).toBe("DELETE");
    expect(methods().filter((method) => method === "DELETE")).toHaveLength(1);
  });
});
