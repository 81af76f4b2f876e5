import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FileferryError } from "../../../src/client.ts";
import { createUploadStore, type UploadStore } from "../../../src/react/uploads.ts";
import { createPutClient, type PutCall, settle } from "./clients.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const file = (name: string, size = 10): File => new File(["x".repeat(size)], name);
const FULL = new FileferryError("The storage is full.", { code: "storage-full", status: 507 });
const EXISTS = new FileferryError("A precondition of the request failed.", {
  code: "precondition-failed",
  status: 412,
});

/** What a page shows, without what is due later. */
function seen(store: UploadStore): readonly string[] {
  return store.getState().map(({ name, state, sent, total, error }) => {
    return [name, state, `${sent}/${total}`, ...(error === undefined ? [] : [error.code ?? error.message])].join(" ");
  });
}

function createList(concurrency?: number): { store: UploadStore; calls: readonly PutCall[]; renderings(): number } {
  const { client, calls } = createPutClient();
  const store = createUploadStore(client, { concurrency });
  let renderings = 0;
  store.subscribe(() => renderings++);
  return { store, calls, renderings: () => renderings };
}

describe("a list of uploads", () => {
  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("takes no concurrency of %s", (concurrency) => {
    const message = "The option concurrency must be a positive integer.";
    expect(() => createList(concurrency)).toThrow(new TypeError(message));
  });

  it("sends three files at a time, in order, and ends when all have ended", async () => {
    const { store, calls } = createList();
    let ended: readonly string[] | undefined;
    const uploading = store.upload(
      "/in",
      ["a", "b", "c", "d", "e"].map((name) => file(name)),
    );
    void uploading.then((items) => {
      ended = items.map(({ name, state }) => `${name} ${state}`);
    });
    expect(seen(store)).toEqual([
      ...["a uploading 0/10", "b uploading 0/10", "c uploading 0/10"],
      ...["d waiting 0/10", "e waiting 0/10"],
    ]);
    await calls[1]?.succeed();
    expect(calls.map(({ path }) => path)).toEqual(["/in/a", "/in/b", "/in/c", "/in/d"]);
    for (const index of [0, 2, 3]) await calls[index]?.succeed();
    expect(ended).toBeUndefined();
    await calls[4]?.fail(FULL);
    expect(ended).toEqual(["a done", "b done", "c done", "d done", "e failed"]);
    expect(seen(store).at(-1)).toBe("e failed 0/10 storage-full");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("has unique ids, and keeps the objects of uploads that have not changed", async () => {
    const { store, calls } = createList();
    void store.upload("/", [file("a"), file("a")]);
    void store.upload("/", [file("a")]);
    const [first, ...others] = store.getState();
    expect(new Set(store.getState().map(({ id }) => id)).size).toBe(3);
    expect(store.getState().map(({ path }) => path)).toEqual(["/a", "/a", "/a"]);
    calls[0]?.report(4);
    vi.runAllTimers();
    expect(store.getState()[0]).not.toBe(first);
    expect(
      store
        .getState()
        .slice(1)
        .map((item, index) => item === others[index]),
    ).toEqual([true, true]);
  });

  it("shows progress of all uploads by one rendering", async () => {
    const { store, calls, renderings } = createList();
    void store.upload("/", [file("a"), file("b")]);
    const before = renderings();
    for (let sent = 1; sent <= 7; sent++) for (const call of calls) call.report(sent);
    expect([seen(store), renderings() - before]).toEqual([["a uploading 0/10", "b uploading 0/10"], 0]);
    vi.runAllTimers();
    expect([seen(store), renderings() - before]).toEqual([["a uploading 7/10", "b uploading 7/10"], 1]);
  });

  it("never overwrites by default, and says which file exists", async () => {
    const { store, calls } = createList();
    const uploading = store.upload("/", [file("a")], { metadata: { project: "x" } });
    expect(calls[0]?.options).toMatchObject({ ifNoneMatch: "*", metadata: { project: "x" } });
    await calls[0]?.fail(EXISTS);
    const [item] = await uploading;
    expect(item).toMatchObject({ state: "failed", error: { code: "already-exists", status: 412, cause: EXISTS } });
    expect(item?.error?.message).toBe("A file with that name already exists.");
  });

  it("repeats a failed upload, which may then overwrite", async () => {
    const { store, calls } = createList();
    const uploading = store.upload("/", [file("a")], { metadata: { project: "x" } });
    calls[0]?.report(5);
    await calls[0]?.fail(EXISTS);
    await uploading;
    const [{ id } = { id: "" }] = store.getState();
    let isEnded = false;
    const retrying = store.retry(id, { overwrite: true }).then(() => {
      isEnded = true;
    });
    expect(seen(store)).toEqual(["a uploading 0/10"]);
    expect(calls[1]?.options).toMatchObject({ ifNoneMatch: undefined, metadata: { project: "x" } });
    expect(isEnded).toBe(false);
    await calls[1]?.succeed();
    await retrying;
    expect(seen(store)).toEqual(["a done 10/10"]);
    await store.retry(id);
    await store.retry("unknown");
    expect(calls).toHaveLength(2);
  });

  it("leaves a failed precondition of an upload that may overwrite as it is", async () => {
    const { store, calls } = createList();
    const uploading = store.upload("/", [file("a")], { overwrite: true });
    await calls[0]?.fail(EXISTS);
    expect((await uploading)[0]?.error).toBe(EXISTS);
  });

  it("aborts uploads that wait or are sent, and goes on with the others", async () => {
    const { store, calls } = createList(1);
    const uploading = store.upload("/", [file("a"), file("b"), file("c")]);
    const [a = "", b = ""] = store.getState().map(({ id }) => id);
    calls[0]?.report(5);
    store.abort(b);
    store.abort(a);
    await settle();
    vi.runAllTimers();
    expect(seen(store)).toEqual(["a aborted 5/10", "b aborted 0/10", "c uploading 0/10"]);
    await calls[1]?.succeed();
    expect((await uploading).map(({ state }) => state)).toEqual(["aborted", "aborted", "done"]);
    expect(calls.map(({ path }) => path)).toEqual(["/a", "/c"]);
    void store.retry(a);
    expect(seen(store)[0]).toBe("a uploading 0/10");
  });

  it("aborts all at once, and starts nothing more", async () => {
    const { store, calls } = createList(2);
    const uploading = store.upload("/", [file("a"), file("b"), file("c")]);
    store.abort();
    expect((await uploading).map(({ state, error }) => [state, error])).toEqual(Array(3).fill(["aborted", undefined]));
    expect(seen(store)).toEqual(["a aborted 0/10", "b aborted 0/10", "c aborted 0/10"]);
    expect(calls).toHaveLength(2);
  });

  it("removes uploads that have ended from the list, and no others", async () => {
    const { store, calls } = createList(2);
    void store.upload("/", [file("a"), file("b"), file("c"), file("d")]);
    const [a = "", b = "", c = ""] = store.getState().map(({ id }) => id);
    await calls[0]?.succeed();
    store.clear(b);
    expect(seen(store)).toEqual(["a done 10/10", "b uploading 0/10", "c uploading 0/10", "d waiting 0/10"]);
    store.clear(a);
    store.abort(c);
    await settle();
    store.clear();
    expect(seen(store)).toEqual(["b uploading 0/10", "d uploading 0/10"]);
  });

  it("shows a wrong folder as a failure, with the client's TypeError as cause", async () => {
    const { createClient } = await import("../../../src/client.ts");
    const store = createUploadStore(createClient({ baseUrl: "http://files.example", credentials: { token: "abc" } }));
    const [item] = await store.upload("in", [file("a")]);
    expect(item?.error).toMatchObject({ name: "FileferryError", cause: { name: "TypeError" } });
    expect(item?.error?.message).toContain("Not an absolute path");
  });

  it("has nothing to wait for without files", async () => {
    const { store } = createList();
    expect(await store.upload("/", [])).toEqual([]);
    expect(seen(store)).toEqual([]);
  });
});
