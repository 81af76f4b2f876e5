import { describe, expect, it } from "vitest";
import type { AtomicKeyValueStore } from "../../../src/contracts/atomic-store.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { createSlowBody, openVisits } from "./visits.ts";

/** A store whose next changes wait until the test lets them go on. */
function createHeldStore() {
  const store = createMemoryKeyValueStore();
  let gate: Promise<void> | undefined;
  let open: () => void = () => undefined;
  const held: AtomicKeyValueStore = {
    ...store,
    async replace(...change) {
      await gate;
      return store.replace(...change);
    },
  };
  return {
    store: held,
    hold: () => {
      gate = new Promise((resolve) => {
        open = resolve;
      });
    },
    release: () => open(),
  };
}

async function openHeld() {
  const { store, ...gate } = createHeldStore();
  const visits = await openVisits({ inside: { "inbox/a": "x".repeat(500_000) }, own: { store } });
  const work: Promise<void>[] = [];
  const connection = { waitUntil: (one: Promise<void>) => void work.push(one) };
  const url = await visits.link({
    path: "/vault/inbox",
    permissions: ["allow-read", "allow-list", "allow-write"],
    maxUses: 1,
  });
  const uses = async () => (await visits.service.links.list("hildegard"))[0]?.uses;
  return { ...visits, ...gate, work, connection, url, uses };
}

/** Whether some work goes on when everything has run that waits for nothing. */
async function isRunning(work: readonly Promise<void>[]): Promise<boolean> {
  const ended = Promise.all(work).then(() => false);
  return Promise.race([ended, new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 20))]);
}

describe("a runtime that ends with the request (SHARING 7.3)", () => {
  it("lives until the use of a download that was cut is given back", async () => {
    const { open, hold, release, work, connection, url, uses } = await openHeld();
    const { body } = await open("GET", `${url}a`, { as: null, connection });
    expect(await uses()).toBe(1);
    hold();
    work.length = 0;
    await body?.cancel();
    expect([work.length > 0, await uses()]).toEqual([true, 1]);
    expect(await isRunning(work)).toBe(true);
    release();
    await Promise.all(work);
    expect(await uses()).toBe(0);
  });

  it("lives until the use of an upload that broke is given back", async () => {
    const { call, hold, release, work, connection, url, uses } = await openHeld();
    const { body, send, fail } = createSlowBody();
    const answer = call("PUT", `${url}b`, { as: null, connection, body }).catch(() => undefined);
    await send("some");
    await expect.poll(uses).toBe(1);
    hold();
    await fail();
    await expect.poll(() => work.length).toBeGreaterThan(0);
    expect(await isRunning(work)).toBe(true);
    release();
    await Promise.all(work);
    expect(await uses()).toBe(0);
    await answer;
  });
});
