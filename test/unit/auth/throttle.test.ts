import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { forgetFailedLogins } from "../../../src/auth/attempt-keys.ts";
import { type AttemptResult, type AttemptSource, createLoginThrottle, Throttled } from "../../../src/auth/throttle.ts";
import type { KeyValueStore } from "../../../src/contracts/key-value-store.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";

const alice: AttemptSource = { username: "alice", address: "192.0.2.1" };

let now: number;
let ran: number;
let store: KeyValueStore;

beforeEach(() => {
  now = 1_700_000_000_000;
  ran = 0;
  store = createMemoryKeyValueStore({ clock: () => now });
});

function create(attempts = 3, own: KeyValueStore = store) {
  return createLoginThrottle({ store: own, attempts, windowSeconds: 60, clock: () => now });
}

/** Runs attempts that end with a given result; returns `refused` for one that did not run. */
function attemptsOn(throttle = create()) {
  return async (who: AttemptSource, result: AttemptResult, work: () => Promise<unknown> = tick) => {
    const attempt = async () => {
      ran += 1;
      await work();
      return result;
    };
    const toAttemptResult = (actual: AttemptResult) => {
      expect(actual).toBe(result);
      return actual;
    };
    const made = await throttle.run(who, attempt, toAttemptResult);
    return made instanceof Throttled ? "refused" : made;
  };
}

describe("the throttle", () => {
  it("refuses attempts on a name from a network after too many failures, without running them (CONTRACT 6.6)", async () => {
    const attempt = attemptsOn();
    for (let count = 0; count < 3; count += 1) expect(await attempt(alice, "failed")).toBe("failed");
    expect(await attempt(alice, "succeeded")).toBe("refused");
    expect(ran).toBe(3);
  });

  it("lets the owner of a name in from another network: strangers cannot lock anybody out (CONTRACT 6.6)", async () => {
    const attempt = attemptsOn();
    for (let count = 0; count < 5; count += 1) await attempt(alice, "failed");
    const owner = { username: "alice", address: "192.0.2.2" };
    expect(await attempt(owner, "succeeded")).toBe("succeeded");
    // Which forgets no failures of the stranger.
    expect(await attempt(alice, "succeeded")).toBe("refused");
  });

  it("refuses a name everywhere after ten times as many failures from all networks (CONTRACT 6.6)", async () => {
    const attempt = attemptsOn();
    for (let count = 0; count < 30; count += 1)
      expect(await attempt({ username: "alice", address: `192.0.2.${count}` }, "failed")).toBe("failed");
    expect(await attempt({ username: "alice", address: "198.51.100.1" }, "succeeded")).toBe("refused");
    expect(await attempt({ username: "bob", address: "198.51.100.1" }, "succeeded")).toBe("succeeded");
    expect(ran).toBe(31);
  });

  it("forgets the failures of a name from all networks when the operator unlocks it, and of one network if told", async () => {
    const attempt = attemptsOn();
    for (let count = 0; count < 30; count += 1)
      await attempt({ username: "alice", address: `192.0.2.${Math.floor(count / 3)}` }, "failed");
    const owner = { username: "alice", address: "198.51.100.1" };
    expect(await attempt(owner, "succeeded")).toBe("refused");
    await forgetFailedLogins(store, "Alice");
    expect(await attempt(owner, "succeeded")).toBe("succeeded");
    expect(await attempt(alice, "succeeded")).toBe("refused");
    await forgetFailedLogins(store, "alice", "192.0.2.1");
    expect(await attempt(alice, "succeeded")).toBe("succeeded");
  });

  it("counts other spellings of a name with it: a method may take them for one account (CONTRACT 6.6)", async () => {
    const attempt = attemptsOn();
    const names = ["alice", "ALICE", " alice "];
    for (const username of names) await attempt({ ...alice, username }, "failed");
    // Full-width letters.
    expect(await attempt({ username: "\uff41lice", address: "192.0.2.1" }, "succeeded")).toBe("refused");
    for (let count = 3; count < 30; count += 1) {
      const username = names[count % 3] ?? "";
      await attempt({ username, address: `192.0.2.${count}` }, "failed");
    }
    expect(await attempt({ username: "Alice", address: "198.51.100.1" }, "succeeded")).toBe("refused");
  });

  it("says when the next attempt is possible if the client's own network failed, and only then", async () => {
    const throttle = create();
    const run = (who: AttemptSource) => throttle.run(who, tick, () => "failed");
    await run(alice);
    now += 10_500;
    for (let count = 0; count < 2; count += 1) await run(alice);
    expect(await run(alice)).toMatchObject({ retryAfterSeconds: 50 });
    now += 49_499;
    expect(await run(alice)).toMatchObject({ retryAfterSeconds: 1 });
    now += 1;
    expect(await run(alice)).not.toBeInstanceOf(Throttled);
    for (let count = 0; count < 30; count += 1) await run({ username: "bob", address: `203.0.113.${count}` });
    expect(await run({ username: "bob", address: "198.51.100.1" })).toEqual(new Throttled());
  });

  it("refuses attempts from an address after too many failures with any names (CONTRACT 6.6)", async () => {
    const attempt = attemptsOn();
    for (const username of ["alice", "bob", "carol"]) await attempt({ ...alice, username }, "failed");
    expect(await attempt({ ...alice, username: "dave" }, "succeeded")).toBe("refused");
    expect(await attempt({ username: "dave", address: "192.0.2.2" }, "succeeded")).toBe("succeeded");
  });

  it("drops waiting attempts when their client disconnects, so that they delay no other client", async () => {
    const throttle = create(2);
    const run = (signal?: AbortSignal) =>
      throttle.run(
        { ...alice, request: signal && { signal } },
        async () => {
          ran += 1;
          await gate;
          return "failed" as const;
        },
        (result) => result,
      );
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const first = [run(), run()];
    const gone = new AbortController();
    const waiting = Array.from({ length: 50 }, () => run(gone.signal));
    gone.abort(new Error("gone"));
    now += 1000;
    open();
    await Promise.all(first);
    for (const attempt of await Promise.allSettled(waiting)) {
      expect(attempt).toMatchObject({ status: "rejected", reason: { message: "gone" } });
    }
    expect(ran).toBe(2);
  });

  it("takes the way around for a known result, without counting it, unless guesses could use up what is left", async () => {
    const throttle = create(3);
    const known = { isKnown: true, take: async () => "known" };
    const unknown = { isKnown: false, take: async () => undefined };
    const run = (result: AttemptResult, shortcut: typeof known | typeof unknown) => {
      const attempt = async () => {
        ran += 1;
        await tick();
        return `${result} ${ran}`;
      };
      return throttle.run(alice, attempt, () => result, shortcut);
    };
    expect(await Promise.all(Array.from({ length: 10 }, () => run("failed", known)))).toEqual(Array(10).fill("known"));
    expect(ran).toBe(0);
    expect(await run("failed", unknown)).toBe("failed 1");
    expect(await run("neither", known)).toBe("known");
    const guess = run("neither", unknown);
    // One failure and one guess: a third may still fail.
    expect(await run("neither", known)).toBe("known");
    expect(await guess).toBe("neither 2");
    const guesses = [run("neither", unknown), run("neither", unknown)];
    // It is made like the guesses.
    expect(await run("neither", known)).toMatch(/^neither/);
    await Promise.all(guesses);
    expect(ran).toBe(5);
    for (let count = 0; count < 2; count += 1) await run("failed", unknown);
    expect(await run("neither", known)).toBeInstanceOf(Throttled);
  });

  it("counts only by name if the address is not known", async () => {
    const attempt = attemptsOn();
    for (const username of ["alice", "bob", "carol", "dave"])
      expect(await attempt({ username }, "failed")).toBe("failed");
    for (let count = 0; count < 2; count += 1) await attempt({ username: "alice" }, "failed");
    expect(await attempt({ username: "alice" }, "succeeded")).toBe("refused");
  });

  it("counts the addresses that one client may take together: of IPv6 the first 64 bits (CONTRACT 6.6)", async () => {
    const attempt = attemptsOn();
    const addresses = ["2001:db8::1", "2001:DB8:0:0:ffff:ffff:ffff:ffff", "2001:db8:0:0:1::"];
    for (const [index, address] of addresses.entries())
      expect(await attempt({ username: `user${index}`, address }, "failed")).toBe("failed");
    expect(await attempt({ username: "dave", address: "2001:db8::abcd" }, "succeeded")).toBe("refused");
    expect(await attempt({ username: "dave", address: "2001:db8:0:1::1" }, "succeeded")).toBe("succeeded");
  });

  it("counts credentials that no account can have only by address, and stores no name", async () => {
    const { calls, recording } = record(store);
    const attempt = attemptsOn(create(3, recording));
    for (let count = 0; count < 3; count += 1) await attempt({ address: "192.0.2.1" }, "failed");
    expect(new Set(calls.map(([, key]) => String(key).split(":")[0]))).toEqual(new Set(["failed-logins-from"]));
    expect(await attempt(alice, "succeeded")).toBe("refused");
    expect(await attempt({}, "failed")).toBe("failed");
  });

  it("drops each failure when its window ends; refused attempts do not extend it (CONTRACT 6.6)", async () => {
    const attempt = attemptsOn();
    for (let count = 0; count < 3; count += 1) {
      await attempt(alice, "failed");
      now += 10_000;
    }
    for (; now < 1_700_000_060_000; now += 1000) expect(await attempt(alice, "failed")).toBe("refused");
    expect(await attempt(alice, "failed")).toBe("failed");
    expect(await attempt(alice, "failed")).toBe("refused");
    now += 10_000;
    expect(await attempt(alice, "succeeded")).toBe("succeeded");
  });

  it("forgets the failures of name and network after a success, never the network's (CONTRACT 6.6)", async () => {
    const attempt = attemptsOn();
    await attempt(alice, "failed");
    await attempt(alice, "failed");
    expect(await attempt(alice, "succeeded")).toBe("succeeded");
    expect(await attempt({ ...alice, username: "bob" }, "failed")).toBe("failed");
    expect(await attempt({ ...alice, username: "bob" }, "succeeded")).toBe("refused");
  });

  it("counts no attempt that was not verified or that throws", async () => {
    const throttle = create();
    const attempt = attemptsOn(throttle);
    for (let count = 0; count < 10; count += 1) {
      expect(await attempt(alice, "neither")).toBe("neither");
      const broken = throttle.run(
        alice,
        () => Promise.reject(new Error("down")),
        () => "failed",
      );
      await expect(broken).rejects.toThrow("down");
    }
    expect(await attempt(alice, "failed")).toBe("failed");
  });

  it.each([
    ["one name from many addresses", 100, (index: number) => ({ username: "alice", address: `192.0.2.${index}` })],
    ["many names from one address", 10, (index: number) => ({ username: `user${index}`, address: "192.0.2.1" })],
    ["one name from one address", 10, () => alice],
  ])("counts exactly, however many attempts come at once: %s", async (_case, allowed, toAttemptSource) => {
    const attempt = attemptsOn(create(10));
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, index) => attempt(toAttemptSource(index), "failed")),
    );
    expect(ran).toBe(allowed);
    expect(results.filter((result) => result === "refused")).toHaveLength(200 - allowed);
  });

  it("allows any number of concurrent good logins, but runs no more at a time than may fail", async () => {
    const attempt = attemptsOn(create(3));
    let [underWay, most] = [0, 0];
    const work = async () => {
      most = Math.max(most, ++underWay);
      await tick();
      underWay -= 1;
    };
    const results = await Promise.all(Array.from({ length: 50 }, () => attempt(alice, "succeeded", work)));
    expect(new Set(results)).toEqual(new Set(["succeeded"]));
    expect(most).toBe(3);
  });

  it("makes no name wait for another", async () => {
    const attempt = attemptsOn(create(1));
    let finish = (): void => undefined;
    const slow = attempt(alice, "succeeded", () => new Promise<void>((resolve) => (finish = resolve)));
    await tick();
    expect(await attempt({ username: "bob", address: "192.0.2.2" }, "succeeded")).toBe("succeeded");
    finish();
    expect(await slow).toBe("succeeded");
  });

  it("leaves permits of a name free while attempts on it wait for permits of their address", async () => {
    const attempt = attemptsOn(create(2));
    let finish = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const busy = ["x", "y"].map((username) => attempt({ ...alice, username }, "succeeded", () => gate));
    await tick();
    const waiting = [1, 2, 3].map(() => attempt(alice, "failed"));
    await tick();
    expect(await attempt({ ...alice, address: "192.0.2.2" }, "succeeded")).toBe("succeeded");
    expect(ran).toBe(3);
    finish();
    await Promise.all(busy);
    expect(await Promise.all(waiting)).toEqual(["failed", "failed", "refused"]);
  });

  it("does not count attempts of a blocked address for a name", async () => {
    const attempt = attemptsOn();
    for (const username of ["x", "y", "z"]) await attempt({ ...alice, username }, "failed");
    for (let count = 0; count < 5; count += 1) expect(await attempt(alice, "failed")).toBe("refused");
    expect(await attempt({ ...alice, address: "192.0.2.2" }, "succeeded")).toBe("succeeded");
  });

  it("shows the store neither names nor addresses, and keeps failures no longer than they count", async () => {
    const { calls, recording } = record(store);
    const attempt = attemptsOn(create(3, recording));
    await attempt(alice, "failed");
    await attempt(alice, "succeeded");
    const digest = (text: string) => createHash("sha256").update(text).digest("hex");
    const keys = [
      `failed-logins-from:${digest("192.0.2.1")}`,
      `failed-logins-of:${digest("192.0.2.1\nalice")}`,
      `failed-logins-of-name:${digest("alice")}`,
    ];
    expect(new Set(calls.map(([, key]) => key))).toEqual(new Set(keys));
    expect(calls.filter(([verb]) => verb === "set").map((call) => call[3])).toEqual([60_000, 60_000, 60_000]);
    expect(calls.filter(([verb]) => verb === "delete")).toHaveLength(1);
  });

  it("keeps no more failures than count, however many processes add to them", async () => {
    const { calls, recording } = record(store);
    const processes = [1, 2, 3].map(() => attemptsOn(create(1, recording)));
    await Promise.all(processes.map((attempt) => attempt({ username: "alice" }, "failed")));
    expect(calls.flatMap(([verb, , value]) => (verb === "set" ? [value] : []))).toEqual([[now], [now], [now]]);
  });

  it.each<[string, () => unknown]>([
    ["rejects", () => Promise.reject(new Error("down"))],
    [
      "throws",
      () => {
        throw new Error("down");
      },
    ],
  ])("is unavailable if a method of the store %s", async (_how, fail) => {
    for (const method of ["get", "set", "delete"] as const) {
      store = createMemoryKeyValueStore({ clock: () => now });
      await attemptsOn(create(3))(alice, "failed");
      const attempt = attemptsOn(create(3, { ...store, [method]: fail }));
      const failed = attempt(alice, method === "delete" ? "succeeded" : "failed");
      await expect(failed, method).rejects.toMatchObject({ failure: "unavailable" });
    }
  });

  it("takes a store whose methods return no promise", async () => {
    const values = new Map<string, unknown>();
    const plain = {
      get: (key: string) => values.get(key),
      set: (key: string, value: unknown) => void values.set(key, value),
      delete: (key: string) => void values.delete(key),
    } as unknown as KeyValueStore;
    const attempt = attemptsOn(create(2, plain));
    expect(await attempt(alice, "failed")).toBe("failed");
    expect(await attempt(alice, "succeeded")).toBe("succeeded");
    expect(await attempt({ ...alice, address: "192.0.2.2" }, "failed")).toBe("failed");
  });

  it("costs a clean login three reads of the store and no write", async () => {
    const { calls, recording } = record(store);
    const attempt = attemptsOn(create(3, recording));
    await attempt(alice, "succeeded");
    expect(calls.map(([verb]) => verb)).toEqual(["get", "get", "get"]);
  });

  it("is unavailable while its store is, and runs no uncounted attempt", async () => {
    const fail = () => Promise.reject(new Error("ECONNREFUSED"));
    const message = "The store of failed logins is not available.";
    const unavailable = { name: "HttpError", failure: "unavailable", message };
    const blind = attemptsOn(create(3, { get: fail, set: fail, delete: fail }));
    await expect(blind(alice, "failed")).rejects.toMatchObject(unavailable);
    expect(ran).toBe(0);
    const forgetful = attemptsOn(create(3, { ...store, set: fail }));
    await expect(forgetful(alice, "failed")).rejects.toMatchObject(unavailable);
    const attempt = attemptsOn();
    expect(await attempt(alice, "succeeded")).toBe("succeeded");
  });

  it("treats a foreign stored value as no failures", async () => {
    const attempt = attemptsOn(create(3, { ...store, get: async () => ({ failures: 99 }) }));
    expect(await attempt(alice, "succeeded")).toBe("succeeded");
  });
});

/** A store that records its calls. */
function record(inner: KeyValueStore): { readonly calls: unknown[][]; readonly recording: KeyValueStore } {
  const calls: unknown[][] = [];
  const recording: KeyValueStore = {
    get(key) {
      calls.push(["get", key]);
      return inner.get(key);
    },
    set(key, value, ttl) {
      calls.push(["set", key, value, ttl]);
      return inner.set(key, value, ttl);
    },
    delete(key) {
      calls.push(["delete", key]);
      return inner.delete(key);
    },
  };
  return { calls, recording };
}

function tick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}
