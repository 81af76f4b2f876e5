import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FileferryError } from "../../../src/client.ts";
import { createFolderStore, type FolderStore } from "../../../src/react/folder.ts";
import { createListClient, type ListCall, settle } from "./clients.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What a page shows. */
function seen(store: FolderStore): { names: string; isLoading: boolean; error: string | undefined } {
  const { entries, isLoading, error } = store.getState();
  return { names: entries.map(({ name }) => name).join(), isLoading, error: error?.message };
}

/** A store that is open, and counts how often a component would be rendered. */
async function openStore(): Promise<{
  store: FolderStore;
  calls: readonly ListCall[];
  call(index: number): ListCall;
  renderings(): number;
  close(): void;
}> {
  const { client, calls } = createListClient();
  const store = createFolderStore(client, "/reports");
  let renderings = 0;
  store.subscribe(() => renderings++);
  const close = store.open();
  await settle();
  const call = (index: number): ListCall => {
    const found = calls[index];
    if (found === undefined) throw new Error(`There is no request ${index}.`);
    return found;
  };
  return { store, calls, call, renderings: () => renderings, close };
}

describe("the listing of a folder", () => {
  it("is loading before it is open, and asks for nothing", () => {
    const { client, calls } = createListClient();
    expect(seen(createFolderStore(client, "/"))).toEqual({ names: "", isLoading: true, error: undefined });
    expect(calls).toEqual([]);
  });

  it("shows members as they arrive, many by one rendering", async () => {
    const { store, call, renderings } = await openStore();
    const before = renderings();
    await call(0).send("a", "b", "c");
    expect([seen(store).names, renderings() - before]).toEqual(["", 0]);
    vi.runAllTimers();
    expect(seen(store)).toEqual({ names: "a,b,c", isLoading: true, error: undefined });
    const arrived = store.getState().entries;
    await call(0).send("d", "e");
    expect(store.getState().entries).toBe(arrived);
    await call(0).end();
    expect(seen(store)).toEqual({ names: "a,b,c,d,e", isLoading: false, error: undefined });
    expect(renderings() - before).toBe(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("keeps the members during a reload, until the new listing is complete", async () => {
    const { store, call } = await openStore();
    await call(0).send("a", "b");
    await call(0).end();
    const { entries } = store.getState();
    let isReloaded = false;
    const reloaded = store.reload().then(() => {
      isReloaded = true;
    });
    await settle();
    expect(seen(store)).toEqual({ names: "a,b", isLoading: true, error: undefined });
    await call(1).send("c");
    vi.runAllTimers();
    expect(store.getState().entries).toBe(entries);
    expect(isReloaded).toBe(false);
    await call(1).end();
    expect(seen(store)).toEqual({ names: "c", isLoading: false, error: undefined });
    await reloaded;
  });

  it("says why it failed, keeps what it has, and forgets the failure after a success", async () => {
    const { store, call } = await openStore();
    await call(0).send("a");
    await call(0).fail(new FileferryError("Gone.", { code: "not-found", status: 404 }));
    expect(seen(store)).toEqual({ names: "a", isLoading: false, error: "Gone." });
    expect(store.getState().error?.code).toBe("not-found");
    void store.reload();
    await settle();
    expect(seen(store)).toEqual({ names: "a", isLoading: true, error: "Gone." });
    await call(1).send("a", "b");
    await call(1).end();
    expect(seen(store)).toEqual({ names: "a,b", isLoading: false, error: undefined });
    void store.reload();
    await settle();
    await call(2).fail(new TypeError("Not an absolute path"));
    expect(seen(store)).toEqual({ names: "a,b", isLoading: false, error: "Not an absolute path" });
    expect(store.getState().error).toMatchObject({ name: "FileferryError", cause: { name: "TypeError" } });
  });

  it("is aborted by a reload, and shows nothing of what comes late", async () => {
    const { store, calls, call } = await openStore();
    await call(0).send("old");
    void store.reload();
    await settle();
    expect(calls.map(({ signal }) => signal?.aborted)).toEqual([true, false]);
    await call(0).send("older");
    await call(0).end();
    vi.runAllTimers();
    expect(seen(store)).toEqual({ names: "", isLoading: true, error: undefined });
    await call(1).send("new");
    await call(1).end();
    expect(seen(store)).toEqual({ names: "new", isLoading: false, error: undefined });
  });

  it("is aborted when it is closed, without an error, and reloads no more", async () => {
    const { store, calls, call, renderings, close } = await openStore();
    await call(0).send("a");
    const before = renderings();
    close();
    await call(0).send("b");
    await call(0).fail(new Error("late"));
    await store.reload();
    vi.runAllTimers();
    expect(calls.map(({ signal }) => signal?.aborted)).toEqual([true]);
    expect([seen(store).error, renderings()]).toEqual([undefined, before]);
  });

  it("is opened once more after it was closed, as by React's strict mode", async () => {
    const { store, calls, call, close } = await openStore();
    close();
    const closeAgain = store.open();
    await settle();
    expect(calls.map(({ path, signal }) => [path, signal?.aborted])).toEqual([
      ["/reports", true],
      ["/reports", false],
    ]);
    await call(1).send("a");
    await call(1).end();
    expect(seen(store)).toEqual({ names: "a", isLoading: false, error: undefined });
    closeAgain();
  });
});
