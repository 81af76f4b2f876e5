import { describe, expect, it } from "vitest";
import type { FileEvent } from "../../src/contracts/events/file-event.ts";
import { StorageError } from "../../src/contracts/storage-adapter.ts";
import { createMetrics } from "../../src/metrics/metrics.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { sendForm, uploadsOf } from "../support/forms.ts";
import { bySession, createTestService, type TestServiceOptions } from "../support/service.ts";
import { overrideStorage } from "../support/storage.ts";

const IDLE_SECONDS = 1800;

/** A service and the events of it. */
async function createTold(options: TestServiceOptions = {}) {
  const events: FileEvent[] = [];
  const onEvent = [(event: FileEvent) => void events.push(event), options.onEvent ?? []].flat();
  const test = await createTestService({ ...options, onEvent });
  const told = <Id extends FileEvent["id"]>(...ids: Id[]) =>
    events.filter((event): event is Extract<FileEvent, { id: Id }> => (ids as number[]).includes(event.id));
  return { ...test, events, told };
}

const inCommand = (command: string, target: string) => ({
  variant: "json" as const,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ commands: [{ command, target }] }),
});

describe("a failure of the service's own", () => {
  it("has one identifier for its events, its answer and the log, where it is told once", async () => {
    const storage = overrideStorage(createMemoryStorage(), {
      write: () => Promise.reject(new Error("the cable is broken")),
    });
    const { call, told, log } = await createTold({ storage });
    const answer = await call("PUT", "/home/a.txt", { body: "12345", variant: "json" });
    const id = /[\da-f-]{36}/.exec(answer.text)?.[0];
    expect(told(40022, 40023).map(({ data }) => data.details)).toEqual([
      `Internal error ${id}.`,
      `Internal error ${id}.`,
    ]);
    const errors = log.entries.filter(({ level }) => level === "error");
    expect(errors.map(({ details }) => details)).toEqual([{ id, error: expect.any(Error) }]);
  });

  it.each([true, false])("within what is sent is told to the log as well (with listeners: %s)", async (isHeard) => {
    const base = createMemoryStorage();
    const storage = overrideStorage(base, {
      async read(path) {
        const readInto = () => Promise.reject(new StorageError("unavailable", "the cable is broken"));
        return { ...(await base.read(path)), source: { readInto, close: async () => undefined } };
      },
    });
    const events: FileEvent[] = [];
    const onEvent = isHeard ? [(event: FileEvent) => events.push(event)] : [];
    const test = await createTestService({ storage, onEvent, isWatched: false, files: { "/alice/a": "1" } });
    const { body } = await test.open("GET", "/home/a");
    await expect(new Response(body).text()).rejects.toThrow();
    expect(test.log.text()).toContain("the cable is broken");
    expect(events.filter(({ id }) => id === 40040).length).toBe(isHeard ? 1 : 0);
  });
});

describe("an upload that its client breaks off", () => {
  it("has failed for that reason, and for no defect", async () => {
    const { call, told, log } = await createTold();
    const client = new AbortController();
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          client.abort();
          controller.error(client.signal.reason);
        },
      },
      { highWaterMark: 0 },
    );
    await call("PUT", "/home/a.txt", { body, signal: client.signal });
    expect(told(40022).map(({ data }) => data.details)).toEqual(["The client disconnected."]);
    expect(told(40019, 40023)).toEqual([]);
    expect(log.entries.filter(({ level }) => level === "error")).toEqual([]);
  });
});

describe("a session", () => {
  it("whose time is over is told of once, also where it is first used to log out (40015)", async () => {
    const { call, login, told, advance } = await createTold();
    const id = await login();
    advance(IDLE_SECONDS + 1);
    const out = { as: null, variant: "json", headers: bySession(id) } as const;
    expect((await call("POST", "/__svc__/logout", out)).status).toBe(401);
    expect((await call("GET", "/home/", out)).status).toBe(401);
    expect(told(40015, 40037).map((event) => event.id)).toEqual([40015]);
  });

  it("that two clients end at once is ended once (40037)", async () => {
    const { call, login, told } = await createTold();
    const headers = bySession(await login());
    const out = () => call("POST", "/__svc__/logout", { as: null, variant: "json", headers });
    const answers = await Promise.all([out(), out()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 401]);
    expect(told(40037).length).toBe(1);
  });
});

describe("a login of an account that has as many sessions as it may", () => {
  it("is told of with the session that ends for it, which metrics count no longer (40037)", async () => {
    const metrics = createMetrics();
    const { call, login, told, advance } = await createTold({
      session: { maxPerAccount: 2 },
      onEvent: metrics.onEvent,
    });
    const [used, unused] = [await login(), await login()];
    advance(300);
    const toStatus = async (id: string) =>
      (await call("GET", "/home/", { as: null, variant: "json", headers: bySession(id) })).status;
    expect(await toStatus(used)).toBe(200);
    const last = await login();
    expect(told(40037)).toMatchObject([{ account: { name: "alice" } }]);
    expect(told(40037)[0]?.data.duration).toBeGreaterThanOrEqual(300);
    expect([await toStatus(used), await toStatus(unused), await toStatus(last)]).toEqual([200, 401, 200]);
    expect(metrics.render()).toContain("\nfileferry_sessions_active 2\n");
    expect(told(40015, 40037)).toHaveLength(1);
  });
});

describe("folders", () => {
  it("that were to be made where they are missing, and are there, are no event (4.3)", async () => {
    const { call, told } = await createTold({ files: { "/alice/there/": "" } });
    expect((await call("POST", "/home/", inCommand("create-folder-if-missing", "there"))).status).toBe(200);
    expect(told(40010, 40011, 40030)).toEqual([]);
    expect((await call("POST", "/home/", inCommand("create-folder-if-missing", "new"))).status).toBe(200);
    expect(told(40010).map(({ data }) => data.path)).toEqual(["/new"]);
    expect((await call("POST", "/home/", inCommand("create-folder", "there"))).status).toBe(422);
    expect(told(40030).map(({ data }) => data.path)).toEqual(["/there"]);
  });
});

describe("a file that is asked for", () => {
  it.each([
    ["a condition that does not hold", { "if-match": '"other"' }, 412],
    ["a range behind its end", { range: "bytes=100-" }, 416],
    ["a version that the client has", { "if-none-match": "*" }, 304],
  ])("was not failed to be opened with %s", async (_name, headers, status) => {
    const { call, told } = await createTold({ files: { "/alice/a": "12345" } });
    expect((await call("GET", "/home/a", { headers })).status).toBe(status);
    expect(told(40004, 40035)).toEqual([]);
  });

  it("was not failed to be opened if the client disconnects meanwhile", async () => {
    const client = new AbortController();
    const storage = overrideStorage(createMemoryStorage(), {
      async read() {
        client.abort();
        throw client.signal.reason;
      },
    });
    const { call, told } = await createTold({ storage, files: { "/alice/a": "12345" }, requestClass: Request });
    await call("GET", "/home/a", { signal: client.signal });
    expect([client.signal.aborted, told(40004, 40035)]).toEqual([true, []]);
  });
});

describe("a form that is answered by a page", () => {
  it.each<[string, readonly (readonly [string, string])[], number]>([
    ["a name that is there", [["new-folder", "there"]], 40019],
    ["a defect", [["new-folder", "defect"]], 40023],
  ])("with what is wrong is told of as other requests are: %s", async (_name, fields, id) => {
    const base = createMemoryStorage();
    const storage = overrideStorage(base, {
      async createFolder(path) {
        if (path.endsWith("defect")) throw new Error("the cable is broken");
        return base.createFolder(path);
      },
    });
    const test = await createTold({ storage, files: { "/alice/there/": "" } });
    const { status } = await sendForm(test, "/home/", [...fields, ["action", "create-folder"]]);
    expect(status).toBe(id === 40019 ? 400 : 500);
    expect(test.told(40019, 40023).map((event) => event.id)).toEqual([id]);
  });

  it("has one begin and one end for each of its files", async () => {
    const test = await createTold();
    await sendForm(test, "/home/", [...uploadsOf({ a: "1", b: "22" }), ["action", "upload-file"]]);
    expect(test.told(40021).map(({ data }) => data.path)).toEqual(["/a", "/b"]);
    expect(test.told(40017).map(({ data }) => [data.path, data.total_write])).toEqual([
      ["/a", 1],
      ["/b", 2],
    ]);
  });
});

describe("the trace of a request", () => {
  const ids = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  it.each([
    ["of version 00", `00-${ids}`, true],
    ["of a later version, with more behind it", `01-${ids}-more`, true],
    ["of version 00 with more behind it", `00-${ids}-more`, false],
    ["of no version", `ff-${ids}`, false],
    ["that is none", "nonsense", false],
  ])("is taken where it is well-formed (W3C Trace Context 3.2): %s", async (_name, traceparent, isTaken) => {
    const { call, told } = await createTold();
    await call("GET", "/home/none", { headers: { traceparent } });
    expect(told(40035).map(({ trace }) => trace)).toEqual([isTaken ? { traceparent } : undefined]);
  });
});

describe("a host whose waitUntil throws", () => {
  it("fails no request, and loses no event", async () => {
    const onEvent = () => new Promise<void>((resolve) => setTimeout(resolve, 5));
    const { call, told, log, stored } = await createTold({ onEvent });
    const connection = {
      waitUntil() {
        throw new Error("too late");
      },
    };
    expect((await call("PUT", "/home/a.txt", { body: "12345", connection })).status).toBe(201);
    expect(await stored("/alice/a.txt")).toBe("12345");
    expect([told(40021).length, told(40022).length, told(40017).length]).toEqual([1, 0, 1]);
    expect(log.text()).toContain("too late");
  });
});

describe("a service that is closed", () => {
  it("waits for the ends of transfers, so that they are told", async () => {
    const { service, open, events } = await createTold({ files: { "/alice/a": new Uint8Array(500_000) } });
    const { body } = await open("GET", "/home/a");
    setTimeout(() => body?.cancel(), 50);
    await service.close();
    expect(events.at(-1)?.id).toBe(40018);
  });

  it("waits for a request that completes a resumable upload, and for no upload without a request", async () => {
    let decide: () => void = () => undefined;
    const decided = new Promise<undefined>((resolve) => (decide = () => resolve(undefined)));
    const { service, call, told } = await createTold({ beforeCommit: () => decided });
    const tus = { "tus-resumable": "1.0.0", "upload-length": "3" };
    const create = () => call("POST", "/home/a.txt", { headers: tus });
    const url = (await create()).header("location") ?? "";
    await create();
    const headers = { ...tus, "upload-offset": "0", "content-type": "application/offset+octet-stream" };
    const patched = call("PATCH", url, { headers, body: "abc" });
    setTimeout(decide, 100);
    const before = performance.now();
    await service.close();
    expect(told(40021, 40017, 40022).map(({ id }) => id)).toEqual([40021, 40021, 40017]);
    expect(performance.now() - before).toBeLessThan(3000);
    expect((await patched).status).toBe(204);
    await service.close();
  });

  it("has ended its streams of events and tells nobody any more", async () => {
    const { service, call } = await createTold();
    const stream = service.events();
    await call("GET", "/home/none");
    await service.close();
    const seen: number[] = [];
    for await (const { id } of stream) seen.push(id);
    expect(seen).toEqual([40007, 40035]);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    expect(await service.events().next()).toEqual({ done: true, value: undefined });
  });
});

describe("a path that is longer than 1,024 characters", () => {
  const segment = "s".repeat(250);
  const long = Array<string>(30).fill(segment).join("/");

  it("is cut in events of starts and failures, whatever a client asks for", async () => {
    const { call, events } = await createTold({ webdav: {} });
    const destination = `http://files.example/home/${long}/new`;
    await call("GET", `/home/${long}`);
    await call("PUT", `/home/${long}`, { body: "12345" });
    await call("GET", `/home/${long}/`, { variant: "json" });
    await call("GET", `/home/${long}/?zip=true`);
    await call("DELETE", `/home/${long}`);
    await call("DELETE", `/home/${long}/`);
    await call("MKCOL", `/home/${long}/`);
    await call("MOVE", `/home/${long}`, { headers: { destination } });
    await call("COPY", `/home/${long}`, { headers: { destination } });
    const ids = new Set(events.map(({ id }) => id));
    for (const id of [40011, 40013, 40021, 40022, 40027, 40035, 40056, 49002] as const) expect(ids).toContain(id);
    for (const { data } of events.filter(({ id }) => id !== 40007)) {
      for (const key of ["path", "real_path", "destination", "destination_real_path"] as const)
        if (key in data) expect((data as Record<string, unknown>)[key]).toHaveLength(1024);
    }
    expect(events.every((event) => JSON.stringify(event).length < 6000)).toBe(true);
  });

  it("is complete in events of what is done", async () => {
    const deep = `${Array<string>(6).fill(segment).join("/")}/a.txt`;
    const { call, told } = await createTold({ files: { [`/alice/${deep}`]: "a" } });
    expect((await call("GET", `/home/${deep}`)).status).toBe(200);
    expect(told(40004).map(({ data }) => data.path.length)).toEqual([1024]);
    expect(told(40039).map(({ data }) => data.path)).toEqual([`/${deep}`]);
  });
});
