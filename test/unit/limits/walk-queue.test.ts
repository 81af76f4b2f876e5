import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createWalkQueue, type WalkQueue } from "../../../src/limits/walk-queue.ts";

/** The signal of a client that stays. */
const stays = (): AbortSignal => new AbortController().signal;

/** Enters the queue, and records the name when the walk starts. */
function enter(queue: WalkQueue, name: string, started: string[], signal = stays()): Promise<() => void> {
  const [account = ""] = name.split("-");
  return queue.enter(account, signal).then((end) => {
    started.push(name);
    return end;
  });
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe("createWalkQueue", () => {
  it("lets two walks of an account run at a time, and the others in their order", async () => {
    const queue = createWalkQueue();
    const started: string[] = [];
    const walks = ["a-1", "a-2", "a-3", "a-4", "a-5"].map((name) => enter(queue, name, started));
    await settle();
    expect(started).toEqual(["a-1", "a-2"]);
    for (const [index, walk] of walks.entries()) {
      (await walk)();
      await settle();
      expect(started).toHaveLength(Math.min(index + 3, 5));
    }
    expect(started).toEqual(["a-1", "a-2", "a-3", "a-4", "a-5"]);
  });

  it("lets four walks run at a time, and accounts start theirs in turn", async () => {
    const queue = createWalkQueue();
    const started: string[] = [];
    const names = ["a-1", "a-2", "a-3", "a-4", "b-1", "b-2", "b-3", "c-1", "c-2", "d-1"];
    const walks = names.map((name) => enter(queue, name, started));
    await settle();
    expect(started).toEqual(["a-1", "a-2", "b-1", "b-2"]);
    for (const index of [0, 4, 1, 5]) {
      (await walks[index])?.();
      await settle();
    }
    expect(started.slice(4)).toEqual(["a-3", "b-3", "c-1", "d-1"]);
  });

  it("lets others start when a walk lasts too long: its storage may hang", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const queue = createWalkQueue();
    const started: string[] = [];
    const walks = ["a-1", "a-2", "a-3"].map((name) => enter(queue, name, started));
    await settle();
    vi.advanceTimersByTime(9999);
    await settle();
    expect(started).toEqual(["a-1", "a-2"]);
    vi.advanceTimersByTime(1);
    await settle();
    expect(started).toEqual(["a-1", "a-2", "a-3"]);
    (await walks[0])?.();
    (await walks[2])?.();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("does not let an account wait for another, and counts all spellings of a name as one", async () => {
    const queue = createWalkQueue();
    const started: string[] = [];
    for (const name of ["a-1", "A-2", " a-3", "b-1", "b-2", "b-3"]) void enter(queue, name, started);
    await settle();
    expect(started).toEqual(["a-1", "A-2", "b-1", "b-2"]);
  });

  it("does not start a walk whose client has disconnected while it waited", async () => {
    const queue = createWalkQueue();
    const started: string[] = [];
    const client = new AbortController();
    const first = enter(queue, "a-1", started);
    void enter(queue, "a-2", started);
    const gone = enter(queue, "a-3", started, client.signal);
    const next = enter(queue, "a-4", started);
    client.abort(new Error("gone"));
    await expect(gone).rejects.toThrow("gone");
    await expect(queue.enter("a", client.signal)).rejects.toThrow("gone");
    (await first)();
    await next;
    expect(started).toEqual(["a-1", "a-2", "a-4"]);
  });

  it("counts a walk that ends several times once", async () => {
    const queue = createWalkQueue();
    const started: string[] = [];
    const [first] = ["a-1", "a-2", "a-3", "a-4"].map((name) => enter(queue, name, started));
    const end = (await first) as () => void;
    end();
    end();
    await settle();
    expect(started).toEqual(["a-1", "a-2", "a-3"]);
  });

  it("ends a walk when its client disconnects: the storage may hang", async () => {
    const queue = createWalkQueue();
    const started: string[] = [];
    const client = new AbortController();
    const hanging = await Promise.all(["a-1", "a-2"].map((name) => enter(queue, name, started, client.signal)));
    for (const name of ["a-3", "a-4", "a-5"]) void enter(queue, name, started);
    client.abort();
    await settle();
    for (const end of hanging) end();
    await settle();
    expect(started).toEqual(["a-1", "a-2", "a-3", "a-4"]);
  });

  it("passes a place on if the client disconnects in the moment of its start", async () => {
    const queue = createWalkQueue();
    const started: string[] = [];
    const client = new AbortController();
    const first = enter(queue, "a-1", started);
    void enter(queue, "a-2", started);
    const third = enter(queue, "a-3", started, client.signal);
    void enter(queue, "a-4", started);
    (await first)();
    client.abort();
    await third;
    await settle();
    expect(started).toEqual(["a-1", "a-2", "a-3", "a-4"]);
  });
});
