import { describe, expect, it } from "vitest";
import { isAtomicStore, updateText } from "../../../src/contracts/atomic-store.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";

const minute = 60_000;

describe("isAtomicStore", () => {
  it("knows a store that has the atomic step from one that has not", () => {
    const { get, set, delete: forget } = createMemoryKeyValueStore();
    expect(isAtomicStore(createMemoryKeyValueStore())).toBe(true);
    expect(isAtomicStore({ get, set, delete: forget })).toBe(false);
  });
});

describe("updateText", () => {
  it("creates, changes and deletes a text, and returns the new one", async () => {
    const store = createMemoryKeyValueStore();
    expect(await updateText(store, "k", minute, (text) => `${text}`)).toBe("undefined");
    expect(await updateText(store, "k", minute, async (text) => `${text}!`)).toBe("undefined!");
    expect(await store.get("k")).toBe("undefined!");
    expect(await updateText(store, "k", minute, () => undefined)).toBeUndefined();
    expect(await store.get("k")).toBeUndefined();
    expect(await updateText(store, "k", minute, () => undefined)).toBeUndefined();
  });

  it("loses no change of 50 callers on a store that takes its time", async () => {
    const inner = createMemoryKeyValueStore();
    const soon = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
    const store: typeof inner = {
      ...inner,
      get: (key) => soon().then(() => inner.get(key)),
      replace: (...values) => soon().then(() => inner.replace(...values)),
    };
    const callers = Array.from({ length: 50 }, () =>
      updateText(store, "k", minute, (text) => String(Number(text ?? 0) + 1)),
    );
    const results = await Promise.all(callers);
    expect(await inner.get("k")).toBe("50");
    expect(new Set(results).size).toBe(50);
  });

  it("calls change again with the text of another caller that was first", async () => {
    const store = createMemoryKeyValueStore();
    const seen: unknown[] = [];
    await updateText(store, "k", minute, async (text) => {
      seen.push(text);
      if (seen.length === 1) await store.replace("k", undefined, "other", minute);
      return "own";
    });
    expect(seen).toEqual([undefined, "other"]);
    expect(await store.get("k")).toBe("own");
  });

  it("restarts the time to live, also if the text stays the same", async () => {
    let now = 0;
    const store = createMemoryKeyValueStore({ clock: () => now });
    await store.replace("k", undefined, "text", 1000);
    now = 900;
    await updateText(store, "k", 1000, (text) => text);
    now = 1800;
    expect(await store.get("k")).toBe("text");
  });

  it("changes nothing if change throws, if the value is not a text, or if the store fails", async () => {
    const store = createMemoryKeyValueStore();
    const refusal = new Error("no");
    await expect(updateText(store, "k", minute, () => Promise.reject(refusal))).rejects.toBe(refusal);
    await store.set("k", { not: "a text" }, minute);
    await expect(updateText(store, "k", minute, () => "text")).rejects.toThrow(TypeError);
    expect(await store.get("k")).toEqual({ not: "a text" });
    const failing = { ...store, replace: () => Promise.reject(refusal) };
    await expect(updateText(failing, "new", minute, () => "text")).rejects.toBe(refusal);
  });

  it("gives up if the text changes during every attempt", async () => {
    const store = { ...createMemoryKeyValueStore(), replace: async () => false };
    let calls = 0;
    const updated = updateText(store, "k", minute, () => `${++calls}`);
    await expect(updated).rejects.toThrow(/changed during each of 50 attempts/);
    expect(calls).toBe(50);
  });
});
