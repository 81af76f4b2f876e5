import { beforeEach, describe, expect, it } from "vitest";
import type { RootedLock } from "../../../../src/account/locks/lock.ts";
import { createLocks, type Locks } from "../../../../src/account/locks/locks.ts";
import type { AtomicKeyValueStore } from "../../../../src/contracts/atomic-store.ts";
import { sha256Hex } from "../../../../src/platform/sha256.ts";
import { createMemoryKeyValueStore } from "../../../../src/stores/memory.ts";

let store: AtomicKeyValueStore;
let count = 0;

beforeEach(() => {
  store = createMemoryKeyValueStore();
});

type Gate = (folder: string) => Promise<void>;
const OPEN: Gate = async () => undefined;

/** The locks as another process has them. A gate is called before each change, or each read, of a folder's record. */
function createProcess(gate = OPEN, readGate = OPEN): Locks {
  const folders = new Map(["/", "/f", "/f/a"].map((folder) => [`lock:${sha256Hex(folder)}`, folder]));
  return createLocks({
    store: {
      ...store,
      async get(key) {
        await readGate(folders.get(key) ?? "");
        return store.get(key);
      },
      async replace(key, ...rest) {
        await gate(folders.get(key) ?? "");
        return store.replace(key, ...rest);
      },
    },
    clock: Date.now,
    maxPerAccount: 100,
  });
}

function toLock(path: string, depth: RootedLock["depth"] = "0"): RootedLock {
  const root = path.split("/").slice(1);
  count += 1;
  const ends = Date.now() + 60_000;
  return {
    token: `opaquelocktoken:${count}`,
    name: root.at(-1) ?? "",
    isFolder: depth === "infinity",
    scope: "exclusive",
    depth,
    owner: "",
    account: "alice",
    ends,
    root,
  };
}

/** Stops at the change of a folder's record with a number, counted from 1, until it is opened. */
function createGate(folder: string, number: number) {
  let [seen, open, reach] = [0, () => {}, () => {}];
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const gate = async (changed: string): Promise<void> => {
    if (changed !== folder) return;
    seen += 1;
    if (seen !== number) return;
    reach();
    await opened;
  };
  return { gate, open: () => open(), reached };
}

async function tokensBelow(locks: Locks, path: string): Promise<readonly string[]> {
  return (await locks.stored.locksBelow(path.split("/").slice(1))).map(({ token }) => token);
}

describe("the marks of folders with locks deep in them (WEBDAV 6)", () => {
  it.each([1, 2])(
    "stay for a lock that is taken while the last one ends, before its change %i of a mark",
    async (number) => {
      const [first, second] = [toLock("/f/a/b"), toLock("/f/a/c")];
      const other = createProcess();
      await other.take(first);
      const { gate, open, reached } = createGate("/f", number);
      const ending = createProcess(gate).end([first]);
      await reached;
      expect(await other.take(second)).toEqual([]);
      open();
      await ending;
      expect(await tokensBelow(other, "/f")).toEqual([second.token]);
    },
  );

  it("go when no lock is left, and come again with the next one", async () => {
    const locks = createProcess();
    for (let round = 0; round < 3; round += 1) {
      const lock = toLock("/f/a/b");
      await locks.take(lock);
      expect(await tokensBelow(locks, "/f")).toEqual([lock.token]);
      await locks.end([lock]);
      expect(await store.get(`lock:${sha256Hex("/f")}`)).toBeUndefined();
    }
  });

  it("never hide a lock so long that one around it is granted too", async () => {
    const [first, inner, outer] = [toLock("/f/a/b"), toLock("/f/a/c"), toLock("/f", "infinity")];
    const others = createProcess();
    await others.take(first);
    const [adding, removing] = [createGate("/f/a", 1), createGate("/f", 2)];
    const innerProcess = createProcess(adding.gate);
    // The inner lock waits for this change after it has looked for others.
    const endChange = innerProcess.running.start([inner.root]);
    const takingInner = innerProcess.take(inner);
    await adding.reached;
    const ending = createProcess(removing.gate).end([first]);
    await removing.reached;
    adding.open();
    await expect.poll(() => others.locksIn(["f", "a"])).toHaveLength(1);
    removing.open();
    await ending;
    const granted = [await others.take(outer)];
    endChange();
    granted.push(await takingInner);
    expect(granted.filter((conflicts) => conflicts.length === 0).length).toBeLessThan(2);
  });
});

describe("a lock that waits for a change", () => {
  it("does so also if the change has come while a mark of the lock was removed", async () => {
    const [first, second] = [toLock("/f/a/b"), toLock("/f/a/c")];
    await createProcess().take(first);
    const [adding, marking, removing] = [createGate("/f/a", 1), createGate("/f", 4), createGate("/f", 2)];
    const taker = createProcess(adding.gate, marking.gate);
    const taking = taker.take(second);
    await adding.reached;
    const ending = createProcess(removing.gate).end([first]);
    await removing.reached;
    adding.open();
    await marking.reached;
    removing.open();
    await ending;
    const endChange = taker.running.start([["f"]]);
    expect(await tokensBelow(createProcess(), "/f")).toEqual([]);
    let isTaken = false;
    const taken = taking.then(() => {
      isTaken = true;
    });
    marking.open();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isTaken).toBe(false);
    endChange();
    await taken;
  });

  it("is there when it is granted, although the change has ended what it found", async () => {
    const [locks, lock] = [createProcess(), toLock("/f")];
    let taking: Promise<unknown> | undefined;
    await locks.running.run([lock.root], async () => {
      taking = locks.take(lock);
      await expect.poll(() => locks.locksAround(lock.root)).toHaveLength(1);
      await locks.end([lock]);
    });
    expect(await taking).toEqual([]);
    expect(await locks.locksAround(lock.root)).toMatchObject([{ token: lock.token }]);
  });
});
