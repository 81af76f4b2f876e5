import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Authenticator } from "../../src/contracts/authenticator.ts";
import type { FileEvent } from "../../src/contracts/events/file-event.ts";
import { type StorageAdapter, StorageError } from "../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { brokenBody, recordedBody, streamOf } from "../support/bodies.ts";
import { BROWSER_HEADERS, FORM_TYPE, formOf, uploadsOf } from "../support/forms.ts";
import {
  byCookie,
  type CallOptions,
  createTestService,
  type TestService,
  type TestServiceOptions,
  variants,
} from "../support/service.ts";
import { overrideStorage } from "../support/storage.ts";
import { amount } from "../support/trust.ts";

const FILES = { "/alice/a": "0123456789", "/alice/bytes": "at once", "/alice/broken": "0123456789", "/alice/f/b": "b" };
const ZIP = { accept: "application/zip" };
const FORM = { "content-type": FORM_TYPE };
const JSON_TYPE = { "content-type": "application/json" };
/** Commands of more than 16 KiB, which are held whole. */
const LARGE_COMMANDS = `{"commands":[{"command":"create-folder-if-missing","target":"g"}]${" ".repeat(20_000)}}`;

/** A storage that hands out streams, as remote ones do; one of its files breaks off, one is handed out as bytes. */
function createStreamingStorage(touched: string[] = []): StorageAdapter {
  const base = createMemoryStorage();
  return overrideStorage(base, {
    stat: (path) => {
      touched.push(path);
      return base.stat(path);
    },
    list: (path) => {
      touched.push(path);
      return base.list(path);
    },
    async read(path, range) {
      touched.push(path);
      const file = await base.read(path, range);
      if (path.endsWith("/bytes")) return file;
      const bytes = new Uint8Array(await new Response(file.body).arrayBuffer());
      const parts = [bytes.slice(0, 3), bytes.slice(3)].map((part) => new TextDecoder().decode(part));
      return { entry: file.entry, body: path.endsWith("/broken") ? brokenBody(parts[0] ?? "") : streamOf(...parts) };
    },
    write: (path, content, options) => {
      touched.push(path);
      return base.write(path, content, options);
    },
  });
}

/** A body that the test sends step by step. */
function heldBody() {
  let held: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isWanted = false;
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        held = controller;
      },
      pull() {
        isWanted = true;
      },
    },
    { highWaterMark: 0 },
  );
  return {
    stream,
    isWanted: () => isWanted,
    send: (bytes: Uint8Array) => held?.enqueue(bytes),
    end: () => held?.close(),
  };
}

/** What the log has of transfers that were refused. */
function refusalsIn({ log }: TestService): readonly unknown[] {
  return log.entries.filter(({ level }) => level === "warn");
}

/** A service whose transfers are counted. */
function createCounted(options: TestServiceOptions = {}): Promise<TestService> {
  const limits = { transfersPerAccount: 1, ...options.limits };
  return createTestService({ storage: createStreamingStorage(), files: FILES, ...options, limits });
}

/** Begins a download of which nothing is read. */
async function begin({ open }: TestService, options: CallOptions = {}): Promise<Response> {
  const response = await open("GET", "/home/a", { variant: "json", ...options });
  expect(response.status).toBe(200);
  return response;
}

const TRANSFERS: readonly (readonly [what: string, method: string, target: string, options: CallOptions])[] = [
  ["download", "GET", "/home/a", {}],
  ["download of a part", "GET", "/home/a", { headers: { range: "bytes=0-1" } }],
  ["archive", "GET", "/home/f/", { headers: ZIP }],
];

describe("a transfer beyond those that an account may have (limits.transfersPerAccount)", () => {
  it.each(TRANSFERS)(
    "is 503 with Retry-After, as a %s, before the storage is asked",
    async (_what, method, target, options) => {
      const touched: string[] = [];
      const test = await createCounted({ storage: createStreamingStorage(touched) });
      const first = await begin(test);
      touched.length = 0;
      for (const variant of variants) {
        const headers = { ...options.headers };
        const refused = await test.call(method, target, {
          variant: headers.accept === undefined ? variant : undefined,
          headers,
        });
        expect(refused.status).toBe(503);
        expect(refused.header("retry-after")).toMatch(/^\d+$/);
      }
      expect(touched).toEqual([]);
      await first.body?.cancel();
      expect((await test.call(method, target, options)).status).toBeLessThan(300);
    },
  );

  it.each([
    ["PUT", "/home/new", {}],
    ["POST", "/home/", FORM],
  ] as const)("is 503 as a %s, before anything of its body is read (CONTRACT 4.3)", async (method, target, headers) => {
    const touched: string[] = [];
    const test = await createCounted({ storage: createStreamingStorage(touched) });
    const first = await begin(test);
    touched.length = 0;
    for (const variant of method === "PUT" ? variants : (["json", "html"] as const)) {
      const body = recordedBody("never read");
      const refused = await test.call(method, target, { variant, headers, body: body.stream });
      expect(refused.status).toBe(503);
      expect(refused.header("retry-after")).toMatch(/^\d+$/);
      expect(body.pulls()).toBe(0);
    }
    expect(touched).toEqual([]);
    await first.body?.cancel();
    expect((await test.call("PUT", "/home/new", { body: "new" })).status).toBe(201);
  });

  it.each<[what: string, method: string, target: string, options: CallOptions, isHeard: boolean]>(
    [true, false]
      .flatMap((isHeard) => [
        ["an archive", "GET", "/home/f/", { headers: ZIP }, isHeard] as const,
        ["a download of several parts", "GET", "/home/a", { headers: { range: "bytes=0-1,8-9" } }, isHeard] as const,
        [
          "the download of a form",
          "POST",
          "/home/f/",
          { headers: BROWSER_HEADERS, body: formOf(["action", "download-members"], ["selected-members", "b"]) },
          isHeard,
        ] as const,
      ])
      .map((row) => [...row]),
  )("is what %s under way makes of others, until it ends", async (_what, method, target, options, isHeard) => {
    const test = await createCounted({ isWatched: isHeard });
    const first = await test.open(method, target, options);
    expect(first.status).toBeLessThan(300);
    expect((await test.call("GET", "/home/a")).status).toBe(503);
    await first.body?.cancel();
    expect((await test.call("GET", "/home/a")).status).toBe(200);
  });

  it("says so, in the client's language", async () => {
    const test = await createCounted();
    await begin(test);
    const json = await test.call("GET", "/home/a", { variant: "json" });
    expect(json.json()).toEqual({ errors: [{ message: "Too many concurrent transfers." }] });
    const headers = { "accept-language": "de" };
    const german = await test.call("GET", "/home/a", { variant: "html", headers });
    expect(german.text).toContain("Zu viele gleichzeitige Übertragungen.");
  });

  it("is what an upload under way makes of others, from its first byte to its answer", async () => {
    const test = await createCounted();
    let end: () => void = () => undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode("some"));
        end = () => controller.close();
      },
    });
    const upload = test.call("PUT", "/home/slow", { body });
    await expect.poll(async () => (await test.call("GET", "/home/a")).status).toBe(503);
    end();
    expect((await upload).status).toBe(201);
    expect((await test.call("GET", "/home/a")).status).toBe(200);
  });

  it("does not keep the account from listings, commands, HEAD, DELETE and other accounts", async () => {
    const test = await createCounted();
    await begin(test);
    const { call } = test;
    expect((await call("GET", "/home/", { variant: "json" })).status).toBe(200);
    expect((await call("GET", "/home/", { variant: "html" })).status).toBe(200);
    expect((await call("HEAD", "/home/a")).status).toBe(200);
    expect((await call("HEAD", "/home/", { headers: ZIP })).status).toBe(200);
    expect((await call("DELETE", "/home/bytes")).status).toBe(204);
    expect((await call("PUT", "/home/new/", { variant: "json" })).status).toBe(201);
    const body = '{"commands":[{"command":"create-folder","target":"g"}]}';
    const headers = { "content-type": "application/json" };
    expect((await call("POST", "/home/", { variant: "json", headers, body })).status).toBe(200);
    expect((await call("GET", "/home/alice/a", { as: "root" })).status).toBe(200);
  });

  it("is no page for changing the password, which has no event of a file either", async () => {
    const events: FileEvent[] = [];
    const authentication: Authenticator = {
      name: "keeper",
      authenticate: async () => ({ outcome: "accepted", account: {} }),
      updatePassword: async () => ({ outcome: "updated" }),
    };
    const test = await createCounted({ authentication, onEvent: (event) => void events.push(event) });
    const headers = byCookie(await test.login());
    const getPage = (): Promise<Response> =>
      test.open("GET", "/home/__svc__/password-update", { as: null, variant: "html", headers });
    const page = await getPage();
    expect(page.status).toBe(200);
    const first = await begin(test);
    events.length = 0;
    expect((await getPage()).status).toBe(200);
    expect(events).toEqual([]);
    expect(refusalsIn(test)).toEqual([]);
    await page.body?.cancel();
    await first.body?.cancel();
  });

  it.each([
    ["not modified", { "if-none-match": "*" }, 304],
    ["not modified since", "if-modified-since", 304],
    ["changed", { "if-match": '"other"' }, 412],
    ["changed since", { "if-unmodified-since": "Thu, 01 Jan 1970 00:00:01 GMT" }, 412],
    ["too short", { "if-match": "*", range: "bytes=99-" }, 416],
  ])("is no GET whose conditions come to no content: %s", async (_what, headers, status) => {
    const base = createStreamingStorage();
    const reads: string[] = [];
    const read: StorageAdapter["read"] = (path, range) => {
      reads.push(path);
      return base.read(path, range);
    };
    const test = await createCounted({ storage: overrideStorage(base, { read }) });
    const first = await begin(test);
    reads.length = 0;
    const modified = first.headers.get("last-modified") ?? "";
    const conditions = typeof headers === "string" ? { [headers]: modified } : headers;
    expect((await test.call("GET", "/home/a", { headers: conditions })).status).toBe(status);
    expect(reads).toEqual([]);
    expect(refusalsIn(test), "of what was not refused").toEqual([]);
    await first.body?.cancel();
  });

  it("is a GET whose conditions hold, before the file is opened, and its event says so", async () => {
    const base = createStreamingStorage();
    const reads: string[] = [];
    const read: StorageAdapter["read"] = (path, range) => {
      reads.push(path);
      return base.read(path, range);
    };
    const events: FileEvent[] = [];
    const onEvent = (event: FileEvent): void => void events.push(event);
    const test = await createCounted({ storage: overrideStorage(base, { read }), onEvent });
    const first = await begin(test);
    reads.length = 0;
    events.length = 0;
    for (const headers of [
      { "if-none-match": '"other"' },
      { "if-match": "*" },
      { "if-match": "*", range: "bytes=0-1" },
    ]) {
      const refused = await test.call("GET", "/home/a", { headers });
      expect(refused.status).toBe(503);
      expect(refused.header("retry-after")).toMatch(/^\d+$/);
    }
    expect(reads).toEqual([]);
    expect(refusalsIn(test)).toHaveLength(1);
    expect(events.filter(({ id }) => id === 40035)).toHaveLength(3);
    await first.body?.cancel();
    const second = await test.open("GET", "/home/a", { headers: { "if-match": "*" } });
    expect((await test.call("GET", "/home/a")).status).toBe(503);
    await second.body?.cancel();
  });

  it.each([
    ["announced", { "content-length": "20000" }, 0],
    ["unannounced", {}, 20],
  ])("is 503 as commands of more than 16 KiB, which would be held: %s", async (_what, announced, mostPulls) => {
    const test = await createCounted();
    const first = await begin(test);
    const headers = { ...JSON_TYPE, ...announced };
    const body = recordedBody(...Array.from({ length: 100 }, () => " ".repeat(1024)));
    const refused = await test.call("POST", "/home/", { variant: "json", headers, body: body.stream });
    expect(refused.status).toBe(503);
    expect(refused.header("retry-after")).toMatch(/^\d+$/);
    expect(body.pulls()).toBeLessThanOrEqual(mostPulls);
    expect(refusalsIn(test)).toHaveLength(1);
    await first.body?.cancel();
    const accepted = await test.call("POST", "/home/", { variant: "json", headers: JSON_TYPE, body: LARGE_COMMANDS });
    expect(accepted.status).toBe(200);
  });

  it("is one for each 64 KiB of commands that are held", async () => {
    const test = await createCounted({ limits: { transfersPerAccount: 4 } });
    const first = await begin(test);
    const send = async (kibibytes: number): Promise<number> => {
      const headers = { ...JSON_TYPE, "content-length": String(kibibytes * 1024) };
      const body = LARGE_COMMANDS.padEnd(kibibytes * 1024);
      return (await test.call("POST", "/home/", { variant: "json", headers, body })).status;
    };
    expect(await send(192)).toBe(200);
    expect(await send(193)).toBe(503);
    await first.body?.cancel();
    expect(await send(1024), "of which one alone is always let in").toBe(200);
  });

  it("is one for each file of a form that waits for the form's action", async () => {
    const test = await createCounted({ limits: { transfersPerAccount: 4 } });
    const first = await begin(test);
    const send = async (...names: readonly string[]) => {
      const uploads = uploadsOf(Object.fromEntries(names.map((name) => [name, "content"])));
      const body = formOf(...uploads, ["action", "upload-file"]);
      return test.call("POST", "/home/", { headers: BROWSER_HEADERS, body });
    };
    expect((await send("1", "2", "3")).status).toBe(303);
    expect((await send("4", "5", "6", "7")).status).toBe(503);
    expect((await test.call("GET", "/home/4")).status, "nothing of a refused form is stored").toBe(404);
    await first.body?.cancel();
    expect((await send("1", "2", "3", "4", "5", "6")).status, "of which one alone is always let in").toBe(303);
  });

  it("is one more for each 64 KiB of a form's fields", async () => {
    const test = await createCounted({ limits: { transfersPerAccount: 4 } });
    const first = await begin(test);
    const send = async (kibibytes: number): Promise<number> => {
      const body = formOf(["unknown", "x".repeat(kibibytes * 1024 - 100)], ["action", "create-folder"]);
      return (await test.call("POST", "/home/", { headers: BROWSER_HEADERS, body })).status;
    };
    expect(await send(192), "without the folder's name").toBe(400);
    expect(await send(193)).toBe(503);
    await first.body?.cancel();
    expect(await send(1023), "of which one alone is always let in").toBe(400);
  });

  it("is one more for each 64 KiB of names and failures of a form's files", async () => {
    const test = await createCounted({ limits: { transfersPerAccount: 2 } });
    const first = await begin(test);
    const send = async (files: number): Promise<number> => {
      const entries = Array.from({ length: files }, (_, index) => ["file", `a\u0007${index}`, "x"] as const);
      return (await test.call("POST", "/home/", { headers: BROWSER_HEADERS, body: formOf(...entries) })).status;
    };
    expect(await send(20)).toBe(400);
    expect(await send(100)).toBe(503);
    await first.body?.cancel();
  });

  it("is what a form counts as until the page that shows it again is read", async () => {
    const test = await createCounted({ limits: { transfersPerAccount: 4 } });
    const members = Array.from({ length: 200 }, (_, index) => ["selected-members", `${index}`.padEnd(900)] as const);
    const body = formOf(...members, ["destination", "/nowhere/"], ["action", "move-members"]);
    const page = await test.open("POST", "/home/", { headers: BROWSER_HEADERS, body });
    expect(page.status).toBe(404);
    const others = [await begin(test)];
    expect((await test.call("GET", "/home/a")).status).toBe(503);
    await page.body?.cancel();
    others.push(await begin(test), await begin(test), await begin(test));
    for (const response of others) await response.body?.cancel();
  });

  it("is what a large list of results counts as until it is read", async () => {
    const test = await createCounted({ limits: { transfersPerAccount: 4 } });
    const commands = Array.from({ length: 999 }, (_, index) => ({ command: "delete", target: `${index}`.padEnd(100) }));
    const body = JSON.stringify({ commands });
    const results = await test.open("POST", "/home/", { variant: "json", headers: JSON_TYPE, body });
    expect(results.status).toBe(422);
    const others = [await begin(test)];
    expect((await test.call("GET", "/home/a")).status).toBe(503);
    expect((await results.json()) as object).toHaveProperty("errors.998");
    others.push(await begin(test), await begin(test), await begin(test));
    for (const response of others) await response.body?.cancel();
  });

  it("is one for what has come of commands, not for what they announce: idle clients keep nobody out", async () => {
    const test = await createCounted({ limits: { transfersPerAccount: 4 } });
    const bytes = new TextEncoder().encode(LARGE_COMMANDS.padEnd(192 * 1024));
    const headers = { ...JSON_TYPE, "content-length": String(bytes.byteLength) };
    const sent = Array.from({ length: 8 }, () => {
      const body = heldBody();
      return { ...body, answer: test.call("POST", "/home/", { variant: "json", headers, body: body.stream }) };
    });
    await expect.poll(() => sent.every(({ isWanted }) => isWanted())).toBe(true);
    const others = [await begin(test), await begin(test), await begin(test), await begin(test)];
    for (const response of others) await response.body?.cancel();

    const [large, small, late, ...idle] = sent;
    large?.send(bytes.subarray(0, 130 * 1024));
    small?.send(bytes.subarray(0, 20 * 1024));
    await expect.poll(async () => (await test.call("GET", "/home/a")).status).toBe(503);
    late?.send(bytes.subarray(0, 20 * 1024));
    expect((await late?.answer)?.status).toBe(503);
    large?.send(bytes.subarray(130 * 1024));
    large?.end();
    expect((await large?.answer)?.status).toBe(200);
    small?.send(bytes.subarray(20 * 1024));
    small?.end();
    expect((await small?.answer)?.status).toBe(200);
    for (const { send, end, answer } of idle) {
      send(bytes);
      end();
      expect((await answer).status).toBe(200);
    }
  });

  it("is read as commands of unannounced length as far as there are places left, 64 KiB each", async () => {
    const test = await createCounted({ limits: { transfersPerAccount: 3 } });
    const first = await begin(test);
    const body = recordedBody(...Array.from({ length: 1000 }, () => " ".repeat(1024)));
    const refused = await test.call("POST", "/home/", { variant: "json", headers: JSON_TYPE, body: body.stream });
    expect(refused.status).toBe(503);
    expect(body.pulls()).toBeGreaterThan(128);
    expect(body.pulls()).toBeLessThanOrEqual(132);
    await first.body?.cancel();
  });

  it("is what held commands make of others, until they are answered", async () => {
    const test = await createCounted();
    let end: () => void = () => undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const bytes = new TextEncoder().encode(LARGE_COMMANDS);
        controller.enqueue(bytes.subarray(0, -1));
        end = () => {
          controller.enqueue(bytes.subarray(-1));
          controller.close();
        };
      },
    });
    const commands = test.call("POST", "/home/", { variant: "json", headers: JSON_TYPE, body });
    await expect.poll(async () => (await test.call("GET", "/home/a")).status).toBe(503);
    end();
    expect((await commands).status).toBe(200);
    expect((await test.call("GET", "/home/a")).status).toBe(200);
  });

  it("is nobody's where there is no limit", async () => {
    const test = await createCounted({ limits: { transfersPerAccount: 0, transfersPerAddress: 0 } });
    for (let count = 0; count < 300; count++) await begin(test);
  });

  it("comes with the 257th by default", async () => {
    const test = await createTestService({ storage: createStreamingStorage(), files: FILES });
    for (let count = 0; count < 256; count++) await test.service.fetch(test.request("GET", "/home/a"));
    expect((await test.call("GET", "/home/a")).status).toBe(503);
  });

  it("is in the log, which says of what there was too much", async () => {
    const test = await createCounted();
    await begin(test);
    await test.call("GET", "/home/a");
    await test.call("GET", "/home/a");
    const details = { account: "alice", transfersPerAccount: 1 };
    expect(test.log.entries.filter(({ level }) => level === "warn")).toMatchObject([{ details }]);
  });

  it("is told of as any transfer that comes to nothing (CONTRACT 8)", async () => {
    const events: FileEvent[] = [];
    const test = await createCounted({ onEvent: (event) => void events.push(event) });
    const session = await test.login();
    const as = { as: null, headers: { authorization: `session ${session}` } } as const;
    await begin(test, as);
    events.length = 0;
    await test.call("GET", "/home/bytes", as);
    await test.call("PUT", "/home/new", { ...as, body: "new" });
    await test.call("GET", "/home/f/", { as: null, headers: { ...as.headers, ...ZIP } });
    await test.call("POST", "/home/", { as: null, headers: { ...as.headers, ...FORM }, body: "x" });
    const told = events.map(({ id, data }) => [id, (data as { path: string }).path]);
    expect(told).toEqual([
      [40035, "/bytes"],
      [40021, "/new"],
      [40022, "/new"],
      [40016, "/f"],
      [40041, "/f"],
    ]);
    const failed = events.filter(({ id }) => [40035, 40022, 40041].includes(id));
    for (const { data, account } of failed) {
      expect(data).toMatchObject({ details: "Too many concurrent transfers." });
      expect(account).toMatchObject({ name: "alice" });
    }
  });
});

describe("a transfer beyond those that an address may have (limits.transfersPerAddress)", () => {
  const from = (address: string): CallOptions => ({
    connection: { peer: { address, port: 1, family: address.includes(":") ? "IPv6" : "IPv4", protocol: "TCP" } },
  });

  it("is 503, whatever the account; other addresses go on, and those that are not known", async () => {
    const test = await createCounted({ limits: { transfersPerAccount: 0, transfersPerAddress: 1 } });
    await begin(test, from("2001:db8::1"));
    const status = async (options: CallOptions): Promise<number> => (await test.call("GET", "/home/a", options)).status;
    expect(await status(from("2001:db8::2"))).toBe(503);
    expect(await status({ ...from("2001:db8::2"), as: "bob" })).toBe(503);
    expect(await status(from("2001:db8:0:1::1"))).toBe(200);
    expect(await status({})).toBe(200);
  });

  it("is one of the address for each 64 KiB of a login, of which anybody may send one", async () => {
    const limits = { transfersPerAccount: 1, transfersPerAddress: 3, maxLoginBytes: 1024 * 1024 };
    const test = await createCounted({ limits });
    const first = await begin(test, from("192.0.2.1"));
    const send = async (type: string, body: string, address = "192.0.2.1"): Promise<number> => {
      const headers = { ...BROWSER_HEADERS, "content-type": type };
      return (await test.call("POST", "/__svc__/login", { as: null, headers, body, ...from(address) })).status;
    };
    const form = `username=alice&password=wrong&x=${"x".repeat(140 * 1024)}`;
    const json = JSON.stringify({ username: "alice", password: "wrong" }).padEnd(140 * 1024);
    const type = "application/x-www-form-urlencoded";
    expect([await send(type, form), await send("application/json", json)]).toEqual([503, 503]);
    expect(await send(type, form, "192.0.2.2"), "of another address").toBe(401);
    await first.body?.cancel();
    expect(await send(type, form)).toBe(401);
  });

  it("is judged by the client's address where a proxy tells it (CONTRACT 6.7)", async () => {
    const limits = { transfersPerAccount: 0, transfersPerAddress: 1 };
    const test = await createCounted({ limits, clientForwardedHeader: "X-Forwarded-For" });
    const behind = (client: string): CallOptions => ({ ...from("192.0.2.1"), headers: { "x-forwarded-for": client } });
    await begin(test, behind("198.51.100.1"));
    expect((await test.call("GET", "/home/a", behind("198.51.100.1"))).status).toBe(503);
    expect((await test.call("GET", "/home/a", behind("198.51.100.2"))).status).toBe(200);
  });
});

/** One request with any outcome. It is over when this resolves, except for a body that the caller has to cancel. */
type Act = (test: TestService) => Promise<Response | undefined>;

const get =
  (target: string, headers: Record<string, string> = {}, method = "GET"): Act =>
  ({ open }) =>
    open(method, target, { headers });
const send =
  (method: string, target: string, toBody: () => ReadableStream<Uint8Array> | Uint8Array, headers = {}): Act =>
  ({ open }) =>
    open(method, target, { headers, body: toBody(), undescribed: "its body may break off" });
const aborted =
  (method: string, target: string, toBody?: () => ReadableStream<Uint8Array>): Act =>
  ({ service, request }) => {
    const client = new AbortController();
    const body = toBody?.();
    const answer = service.fetch(request(method, target, { signal: client.signal, ...(body && { body }) }));
    client.abort();
    return answer;
  };
const upload = () => formOf(["action", "upload-file"], ...uploadsOf({ form: "content" }));

const ACTS: Readonly<Record<string, Act>> = {
  file: get("/home/a"),
  "file at once": get("/home/bytes"),
  "broken file": get("/home/broken"),
  "no file": get("/home/none"),
  "folder as a file": get("/home/f"),
  head: get("/home/a", {}, "HEAD"),
  "not modified": get("/home/a", { "if-none-match": "*" }),
  "failed condition": get("/home/a", { "if-match": '"other"' }),
  part: get("/home/a", { range: "bytes=1-2" }),
  "several parts": get("/home/a", { range: "bytes=0-0,5-6" }),
  "no such part": get("/home/a", { range: "bytes=99-" }),
  archive: get("/home/f/", ZIP),
  "archive that breaks": get("/home/", ZIP),
  "head of an archive": get("/home/f/", ZIP, "HEAD"),
  "no archive": get("/home/none/", ZIP),
  "aborted file": aborted("GET", "/home/a"),
  put: send("PUT", "/home/new", () => streamOf("some", "content")),
  "cut put": send("PUT", "/home/new", () => brokenBody("some")),
  "refused put": send("PUT", "/home/none/new", () => streamOf("some")),
  "short put": send("PUT", "/home/new", () => streamOf("some"), { "content-length": "10" }),
  "aborted put": aborted("PUT", "/home/new", () => streamOf("some")),
  form: send("POST", "/home/", upload, BROWSER_HEADERS),
  "cut form": send(
    "POST",
    "/home/",
    () => brokenBody(new TextDecoder().decode(upload().slice(0, 150))),
    BROWSER_HEADERS,
  ),
  "large commands": send("POST", "/home/", () => streamOf(LARGE_COMMANDS), JSON_TYPE),
  "cut commands": send("POST", "/home/", () => brokenBody(LARGE_COMMANDS), JSON_TYPE),
  "no commands": send("POST", "/home/", () => streamOf(" ".repeat(20_000)), JSON_TYPE),
  "no form": send("POST", "/home/", () => streamOf("none"), FORM),
  "form for an archive": send(
    "POST",
    "/home/",
    () => formOf(["action", "download-members"], ["selected-members", "a"], ["selected-members", "f"]),
    BROWSER_HEADERS,
  ),
};

/** What a client does with the body of an answer. */
const ENDS: Readonly<Record<string, (response: Response) => Promise<unknown>>> = {
  read: (response) => response.arrayBuffer(),
  cancelled: async (response) => response.body?.cancel(),
  "cancelled behind a chunk": async (response) => {
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
  },
};

describe("the slots of transfers", () => {
  const SLOTS = 3;

  async function expectAllFree(test: TestService): Promise<void> {
    const held: Response[] = [];
    for (let count = 0; count < SLOTS; count++) held.push(await begin(test));
    expect((await test.call("GET", "/home/a")).status).toBe(503);
    for (const response of held) await response.body?.cancel();
  }

  it.each(Object.keys(ACTS))("are all free again behind each end of: %s", async (name) => {
    const test = await createCounted({ limits: { transfersPerAccount: SLOTS } });
    for (const end of Object.values(ENDS)) {
      for (let count = 0; count < SLOTS + 1; count++) {
        const response = await ACTS[name]?.(test);
        expect(response?.status).not.toBe(503);
        if (response !== undefined) await end(response).catch(() => undefined);
      }
      await expectAllFree(test);
    }
  });

  it("are all free again behind any mixture of them, events told or not", async () => {
    const act = fc.tuple(fc.constantFrom(...Object.keys(ACTS)), fc.constantFrom(...Object.keys(ENDS)));
    const mixtures = fc.tuple(fc.array(act, { minLength: 1, maxLength: 12 }), fc.boolean());
    await fc.assert(
      fc.asyncProperty(mixtures, async ([acts, isHeard]) => {
        const limits = { transfersPerAccount: SLOTS };
        const test = await createCounted({ limits, isWatched: isHeard });
        await Promise.all(
          acts.map(async ([name, end]) => {
            const response = await ACTS[name]?.(test);
            if (response !== undefined) await ENDS[end]?.(response).catch(() => undefined);
          }),
        );
        await expectAllFree(test);
      }),
      { numRuns: amount({ short: 25, long: 1000 }) },
    );
  });

  it("are free again where the storage fails, before the answer and behind its begin", async () => {
    let isBroken = false;
    const base = createStreamingStorage();
    const storage = overrideStorage(base, {
      async read(path, range) {
        if (isBroken) throw new StorageError("unavailable", "gone");
        return base.read(path, range);
      },
      async write(path, content, options) {
        if (isBroken) throw new StorageError("no-space", "full");
        return base.write(path, content, options);
      },
    });
    const test = await createCounted({ storage, limits: { transfersPerAccount: SLOTS } });
    isBroken = true;
    for (let count = 0; count < SLOTS + 1; count++) {
      expect((await test.call("PUT", "/home/new", { body: "x" })).status).toBe(507);
      const refused = await test.call("GET", "/home/a", { variant: "json" });
      expect(refused.json()).toEqual({ errors: [{ message: "The storage is not available." }] });
    }
    isBroken = false;
    await expectAllFree(test);
  });
});
