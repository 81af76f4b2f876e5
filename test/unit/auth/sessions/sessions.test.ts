import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { createSessions } from "../../../../src/auth/sessions/sessions.ts";
import type { Sessions } from "../../../../src/auth/sessions/types.ts";
import type { KeyValueStore } from "../../../../src/contracts/key-value-store.ts";
import { createMemoryKeyValueStore } from "../../../../src/stores/memory.ts";

type Call = readonly ["get" | "set" | "delete", string, ...unknown[]];

const record = { username: "alice", settings: { home_folder_path: "/alice", create_home_folder: false } };
const minute = 60_000;
/** The defaults of the option `session`. */
const DEFAULTS = { idleSeconds: 1800, maxSeconds: 43_200, maxPerAccount: 100 };

let now: number;
let calls: Call[];
let store: KeyValueStore;
let sessions: Sessions;

beforeEach(() => {
  now = 1_700_000_000_000;
  calls = [];
  store = recording(createMemoryKeyValueStore({ clock: () => now }));
  sessions = createSessions({ ...DEFAULTS, store, clock: () => now });
});

describe("a session", () => {
  it("is found by its ID, with the record that it was started with", async () => {
    expect(await sessions.find(await sessions.start(record))).toMatchObject(record);
  });

  it("has a new random ID of 32 hexadecimal digits every time", async () => {
    const ids = await Promise.all(Array.from({ length: 500 }, () => sessions.start(record)));
    expect(new Set(ids).size).toBe(500);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
  });

  it("never shows its ID to the store, only the SHA-256", async () => {
    const id = await sessions.start(record);
    now += 5 * minute;
    await sessions.find(id);
    await sessions.end(id);
    const digest = (text: string) => createHash("sha256").update(text).digest("hex");
    const key = `session:${digest(id)}`;
    const used = new Set([key, `ended-${key}`, `generation:${digest("alice")}`, `sessions-of:${digest("alice")}`]);
    expect(new Set(calls.map(([, key]) => key))).toEqual(used);
    expect(new Set(calls.map(([verb]) => verb))).toEqual(new Set(["get", "set", "delete"]));
    expect(JSON.stringify(calls)).not.toContain(id);
  });

  it("is not found after its end; ending it twice is no error", async () => {
    const id = await sessions.start(record);
    await sessions.end(id);
    await sessions.end(id);
    expect(await sessions.find(id)).toBeUndefined();
  });

  it("expires after 30 minutes without use, even if the store keeps it", async () => {
    const patient = createSessions({ ...DEFAULTS, store: withoutExpiry(), clock: () => now });
    for (const each of [sessions, patient]) {
      const id = await each.start(record);
      now += 30 * minute - 1;
      expect(await each.find(id)).toMatchObject(record);
      now += 30 * minute;
      expect(await each.find(id)).toBeUndefined();
    }
  });

  it("expires after 12 hours of constant use, even if the store keeps it", async () => {
    const patient = createSessions({ ...DEFAULTS, store: withoutExpiry(), clock: () => now });
    for (const each of [sessions, patient]) {
      const id = await each.start(record);
      for (let minutes = 20; minutes < 12 * 60; minutes += 20) {
        now += 20 * minute;
        expect(await each.find(id)).toMatchObject(record);
      }
      now += 20 * minute;
      expect(await each.find(id)).toBeUndefined();
    }
  });

  it("is kept by the store for one idle time longer than it lives, so that its end can be reported", async () => {
    const id = await sessions.start(record);
    for (let minutes = 0; minutes < 11 * 60 + 50; minutes += 10) {
      now += 10 * minute;
      await sessions.find(id);
    }
    const times = calls.flatMap((call) => (call[0] === "set" && call[1].startsWith("session:") ? [call[3]] : []));
    expect(times[0]).toBe(60 * minute);
    expect(times.at(-1)).toBe(40 * minute);
  });

  it("costs a request two reads of the store", async () => {
    const id = await sessions.start(record);
    calls.length = 0;
    await sessions.find(id);
    expect(calls.map(([verb, key]) => `${verb} ${key.split(":", 1)[0]}`)).toEqual(["get session", "get generation"]);
  });

  it.each<[string, (id: string) => Promise<unknown>]>([
    ["another process ends it", (id) => sessions.end(id)],
    [
      "its time is over",
      async () => {
        now += 30 * minute;
      },
    ],
  ])("does not come back where %s just before its use is written", async (_what, happen) => {
    const id = await sessions.start(record);
    now += 5 * minute;
    const late = createSessions({ ...DEFAULTS, store: beforeRead(3, () => happen(id)), clock: () => now });
    expect(await late.find(id)).toMatchObject(record);
    expect(await sessions.find(id)).toBeUndefined();
  });

  it("is reported as expired once, at the first use that is too late", async () => {
    const id = await sessions.start(record);
    const startedAt = now;
    now += 31 * minute;
    const over: unknown[] = [];
    const found = await Promise.all([1, 2, 3].map(() => sessions.find(id, (session) => over.push(session))));
    expect(found).toEqual([undefined, undefined, undefined]);
    expect(over).toEqual([{ ...record, created: startedAt }]);
    const another = await sessions.start(record);
    await sessions.end(another);
    now += 31 * minute;
    await sessions.find(another, (session) => over.push(session));
    expect(over).toHaveLength(1);
  });

  it("writes its use at most once per twentieth of the idle time, also for many concurrent requests", async () => {
    const id = await sessions.start(record);
    calls.length = 0;
    const writes = () => calls.filter(([verb]) => verb === "set").length;
    for (let second = 0; second < 89; second += 1) {
      now += 1000;
      await sessions.find(id);
    }
    expect(writes()).toBe(0);
    now += 1000;
    await Promise.all(Array.from({ length: 100 }, () => sessions.find(id)));
    expect(writes()).toBe(1);
  });

  it("takes its durations from the options", async () => {
    const short = createSessions({ ...DEFAULTS, store, clock: () => now, idleSeconds: 10, maxSeconds: 15 });
    const id = await short.start(record);
    now += 9_000;
    expect(await short.find(id)).toMatchObject(record);
    now += 5_999;
    expect(await short.find(id)).toMatchObject(record);
    now += 1;
    expect(await short.find(id)).toBeUndefined();
    for (const wrong of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => createSessions({ ...DEFAULTS, store, idleSeconds: wrong })).toThrow(/^The option idleSeconds /);
      expect(() => createSessions({ ...DEFAULTS, store, maxSeconds: wrong })).toThrow(/^The option maxSeconds /);
    }
  });
});

describe("an ID from a client", () => {
  const id = "0123456789abcdef0123456789abcdef";

  it("is never adopted", async () => {
    expect(await sessions.find(id)).toBeUndefined();
    expect(calls.map(([verb]) => verb)).toEqual(["get"]);
    expect(await sessions.start(record)).not.toBe(id);
    expect(await sessions.find(id)).toBeUndefined();
  });

  it("is not looked up if it has another form", async () => {
    for (const odd of [
      "",
      id.toUpperCase(),
      ` ${id}`,
      `${id}\n`,
      id.slice(1),
      `${id}0`,
      "g".repeat(32),
      "x".repeat(1e6),
      "__proto__",
    ]) {
      expect(await sessions.find(odd)).toBeUndefined();
      await sessions.end(odd);
    }
    expect(calls).toEqual([]);
  });
});

describe("a stored value that is no session", () => {
  const good = { ...record, created: 1_700_000_000_000, seen: 1_700_000_000_000 };
  const { seen: _seen, ...unseen } = good;

  it.each<[string, unknown]>([
    ["text", "alice"],
    ["text that breaks off", JSON.stringify(good).slice(0, 20)],
    ["null", null],
    ["an object in place of its text", good],
    ["another shape", JSON.stringify({ user: "alice" })],
    ["no time", JSON.stringify(unseen)],
    ["a time that is text", JSON.stringify({ ...good, seen: "1700000000000" })],
    ["an unknown member", JSON.stringify({ ...good, admin: true })],
    ["wrong settings", JSON.stringify({ ...good, settings: { home_folder_path: "../../.." } })],
  ])("counts as none: %s", async (_name, value) => {
    const odd = createSessions({ ...DEFAULTS, store: { ...store, get: async () => value }, clock: () => now });
    expect(await odd.find("0".repeat(32))).toBeUndefined();
  });
});

describe("a store that fails", () => {
  const unavailable = {
    name: "HttpError",
    failure: "unavailable",
    message: "The session store is not available.",
    headers: { "Retry-After": "1" },
    cause: new Error("ECONNREFUSED 10.0.0.1"),
  };
  const fail = () => Promise.reject(new Error("ECONNREFUSED 10.0.0.1"));

  it("makes every method reject with the error for status 503", async () => {
    const failing = createSessions({ ...DEFAULTS, store: { get: fail, set: fail, delete: fail } });
    const id = "0".repeat(32);
    const methods = [
      () => failing.generationOf("alice"),
      () => failing.start(record),
      () => failing.find(id),
      () => failing.end(id),
      () => failing.endOthers("alice", id),
      () => failing.endAll("alice"),
    ];
    for (const method of methods) await expect(method()).rejects.toMatchObject(unavailable);
  });

  it("works again as soon as the store does", async () => {
    const id = await sessions.start(record);
    now += 5 * minute;
    const flaky = createSessions({ ...DEFAULTS, store: { ...store, set: fail }, clock: () => now });
    await expect(flaky.find(id)).rejects.toMatchObject(unavailable);
    await expect(flaky.find(id)).rejects.toMatchObject(unavailable);
    expect(await sessions.find(id)).toMatchObject(record);
  });
});

describe("the sessions of an account", () => {
  it("end all but one, and those of logins under way (CONTRACT 6.3)", async () => {
    const generation = await sessions.generationOf("alice");
    const [kept, other] = [await sessions.start(record, generation), await sessions.start(record, generation)];
    const bobs = await sessions.start({ ...record, username: "bob" });
    await sessions.endOthers("alice", kept);
    const late = await sessions.start(record, generation);
    const found = await Promise.all([kept, other, late, bobs].map((id) => sessions.find(id)));
    expect(found.map((session) => session?.username)).toEqual(["alice", undefined, undefined, "bob"]);
  });

  it("begin anew afterwards, and end again, the one kept before too", async () => {
    const first = await sessions.start(record);
    await sessions.endOthers("alice", first);
    const second = await sessions.start(record, await sessions.generationOf("alice"));
    expect(await sessions.find(second)).toMatchObject(record);
    await sessions.endOthers("alice", second);
    expect([await sessions.find(first), await sessions.find(second)]).toEqual([
      undefined,
      expect.objectContaining(record),
    ]);
  });

  it("end all, where none is kept, and begin anew", async () => {
    const generation = await sessions.generationOf("alice");
    const [first, second] = [await sessions.start(record, generation), await sessions.start(record, generation)];
    await sessions.endAll("alice");
    const late = await sessions.start(record, generation);
    for (const id of [first, second, late]) expect(await sessions.find(id)).toBeUndefined();
    const anew = await sessions.start(record, await sessions.generationOf("alice"));
    expect(await sessions.find(anew)).toMatchObject(record);
  });

  it("are noted, and ended, in the store for as long as one of them may be there", async () => {
    await sessions.endOthers("alice", await sessions.start(record));
    const times = calls.flatMap(([verb, key, , time]) => (verb === "set" ? [[key.split(":", 1)[0], time]] : []));
    expect(times).toEqual([
      ["session", 60 * minute],
      ["sessions-of", 750 * minute],
      ["generation", 750 * minute],
    ]);
  });

  it("stay ended for as long as they could live", async () => {
    const [kept, other] = [await sessions.start(record), await sessions.start(record)];
    await sessions.endOthers("alice", kept);
    for (let minutes = 0; minutes < 12 * 60; minutes += 20) {
      expect(await sessions.find(other)).toBeUndefined();
      expect(await sessions.find(kept)).toMatchObject(record);
      now += 20 * minute;
    }
    expect(await sessions.find(kept)).toBeUndefined();
  });
});

describe("more sessions of an account than it may have", () => {
  const create = (maxPerAccount: number, own = store) =>
    createSessions({ ...DEFAULTS, store: own, clock: () => now, maxPerAccount });
  const liveOf = async (ids: readonly string[]) => {
    const found = await Promise.all(ids.map((id) => sessions.find(id)));
    return ids.filter((_, index) => found[index] !== undefined);
  };

  it("end the oldest, one for each login, and none of another account", async () => {
    const limited = create(3);
    const bobs = await limited.start({ ...record, username: "bob" });
    const ids: string[] = [];
    for (let count = 0; count < 10; count += 1) {
      ids.push(await limited.start(record));
      expect(await liveOf(ids)).toEqual(ids.slice(-3));
    }
    expect(await liveOf([bobs])).toEqual([bobs]);
  });

  it("end the one that was unused for the longest time, and report it once", async () => {
    const limited = create(3);
    const ids = [await limited.start(record), await limited.start(record), await limited.start(record)];
    const startedAt = now;
    now += 5 * minute;
    const [first, second, third] = ids;
    expect(await liveOf([first ?? "", third ?? ""])).toHaveLength(2);
    const ended: unknown[] = [];
    const fourth = await limited.start(record, undefined, (session) => ended.push(session));
    expect(await liveOf([...ids, fourth])).toEqual([first, third, fourth]);
    expect(ended).toEqual([{ ...record, created: startedAt }]);
    expect(await limited.find(second ?? "", (session) => ended.push(session))).toBeUndefined();
    // Among sessions with the same last use, the earliest login ends.
    const fifth = await limited.start(record);
    expect(await liveOf([...ids, fourth, fifth])).toEqual([third, fourth, fifth]);
    expect(ended).toHaveLength(1);
  });

  it("cost a login one read for each, and three more", async () => {
    const limited = create(20);
    const readsOfLogin = async () => {
      calls.length = 0;
      await limited.start(record);
      return calls.flatMap(([verb, key]) => (verb === "get" ? [key.split(":", 1)[0]] : []));
    };
    // If there is room for one more, only the list is read.
    for (let count = 0; count < 20; count += 1) expect(await readsOfLogin()).toEqual(["sessions-of"]);
    for (let count = 0; count < 3; count += 1) {
      const reads = await readsOfLogin();
      expect(reads.filter((kind) => kind === "generation")).toHaveLength(1);
      expect(reads).toHaveLength(23);
    }
  });

  it("are 100 by default, however many logins come at once; any number with 0", async () => {
    const ids = await Promise.all(Array.from({ length: 130 }, () => sessions.start(record)));
    expect(await liveOf(ids)).toHaveLength(100);
    calls.length = 0;
    const unlimited = await Promise.all(Array.from({ length: 130 }, () => create(0).start(record)));
    expect(calls).toHaveLength(130);
    expect(await liveOf(unlimited)).toHaveLength(130);
  });

  it("do not count sessions that are ended, expired, or of a previous password", async () => {
    const limited = create(3);
    const first = await limited.start(record);
    for (let count = 0; count < 5; count += 1) await limited.end(await limited.start(record));
    expect(await liveOf([first])).toEqual([first]);
    for (let count = 0; count < 5; count += 1) {
      await limited.start(record);
      await limited.endOthers("alice", first);
    }
    expect(await liveOf([first])).toEqual([first]);
    const [second, third] = [
      await limited.start(record, await limited.generationOf("alice")),
      await limited.start(record),
    ];
    expect(await liveOf([first, second])).toEqual([first, second]);
    now += 20 * minute;
    await liveOf([first]);
    now += 15 * minute;
    const late = [await limited.start(record, await limited.generationOf("alice"))];
    late.push(await limited.start(record, await limited.generationOf("alice")));
    expect(await liveOf([first, second, third, ...late])).toEqual([first, ...late]);
  });

  it("are reported by the process that ended them, and by no other", async () => {
    const reported: unknown[] = [];
    const first = await create(1).start(record);
    // Reads the list, the session, the account's generation, and the session again to end it.
    const late = create(
      1,
      beforeRead(4, () => sessions.end(first)),
    );
    await late.start(record, undefined, (session) => reported.push(session));
    expect(reported).toEqual([]);
    expect(await liveOf([first])).toEqual([]);
  });

  it("count together in the processes of one store", async () => {
    const [here, there] = [create(3), create(3)];
    const ids = [await here.start(record), await there.start(record), await here.start(record)];
    ids.push(await there.start(record));
    expect(await liveOf(ids)).toEqual(ids.slice(1));
  });

  it("do not come back by a renewal in another process", async () => {
    for (let round = 0; round < 50; round += 1) {
      const [here, there] = [create(1, delayed(store)), create(1, delayed(store))];
      const id = await here.start(record);
      now += 5 * minute;
      await Promise.all([there.find(id), here.start(record)]);
      expect(await liveOf([id])).toEqual([]);
    }
  });
});

describe("the session of a running transfer", () => {
  it("is kept alive by asking whether it was ended, up to its end in all, which does not count as ended", async () => {
    const id = await sessions.start(record);
    for (let minutes = 1; minutes < 12 * 60; minutes += 1) {
      now += minute;
      expect(await sessions.isEnded(id)).toBe(false);
    }
    expect(await sessions.find(id)).toMatchObject(record);
    now += minute;
    expect(await sessions.isEnded(id)).toBe(false);
    expect(await sessions.find(id)).toBeUndefined();
    now += 24 * 60 * minute;
    expect(await sessions.isEnded(id), "the store has forgotten it").toBeUndefined();
  });

  it("is written once per twentieth of the idle time, however often it is asked for", async () => {
    const id = await sessions.start(record);
    now += 1.5 * minute;
    calls.length = 0;
    for (let step = 0; step < 100; step += 1) await sessions.isEnded(id);
    expect(calls.filter(([verb]) => verb === "set")).toHaveLength(1);
  });

  it("was ended by a logout, by another's new password, and by the end of all", async () => {
    const [out, other, kept, all] = await Promise.all([1, 2, 3, 4].map(() => sessions.start(record)));
    await sessions.end(out ?? "");
    expect(await sessions.isEnded(out ?? "")).toBe(true);
    await sessions.endOthers(record.username, kept ?? "");
    expect(await Promise.all([other, kept].map((id) => sessions.isEnded(id ?? "")))).toEqual([true, false]);
    await sessions.endAll(record.username);
    expect(await Promise.all([kept, all].map((id) => sessions.isEnded(id ?? "")))).toEqual([true, true]);
  });

  it("is not brought back, and a store that fails is unavailable", async () => {
    const id = await sessions.start(record);
    await sessions.end(id);
    now += 5 * minute;
    expect(await sessions.isEnded(id)).toBe(true);
    expect(await sessions.find(id)).toBeUndefined();
    const fail = () => Promise.reject(new Error("down"));
    const failing = createSessions({ ...DEFAULTS, store: { get: fail, set: fail, delete: fail }, clock: () => now });
    await expect(failing.isEnded(id)).rejects.toMatchObject({ failure: "unavailable" });
  });
});

describe("a session of a version of its account", () => {
  const first = { ...record, version: "1" };
  let current: string;
  const create = (own = store) =>
    createSessions({
      ...DEFAULTS,
      store: own,
      clock: () => now,
      isCurrent: async (_username, version) => version === current,
    });

  beforeEach(() => {
    current = "1";
  });

  it("is ended for good once it was found that the account has another one", async () => {
    const own = create();
    const [found, logged, counted] = [await own.start(first), await own.start(first), await own.start(first)];
    current = "2";
    expect([await own.find(found), await own.end(logged)]).toEqual([undefined, undefined]);
    const limited = createSessions({
      ...DEFAULTS,
      store,
      clock: () => now,
      maxPerAccount: 3,
      isCurrent: async (_, version) => version === "2",
    });
    const another = await limited.start({ ...record, version: "2" });
    current = "1";
    for (const id of [found, logged, counted]) expect(await own.find(id)).toBeUndefined();
    current = "2";
    expect(await own.find(another)).toMatchObject(record);
  });

  it("stays valid if versions are not checked", async () => {
    expect(await sessions.find(await sessions.start(first))).toMatchObject(record);
  });

  it("is not found where another process ends it while it is found out that none of its versions stands", async () => {
    const id = await create().start(first);
    const isCurrent = async () => false;
    let isEnded = false;
    const end = async (): Promise<void> => {
      await sessions.end(id);
      isEnded = true;
    };
    const late = createSessions({ ...DEFAULTS, store: beforeRead(2, end), clock: () => now, isCurrent });
    expect([await late.find(id), isEnded]).toEqual([undefined, true]);
    expect(await sessions.find(id)).toBeUndefined();
  });

  it.each<[string, readonly (boolean | undefined)[], boolean]>([
    ["the method of its login is in another process alone", [undefined, undefined], true],
    ["one of its versions is of such a method", [false, undefined], true],
    ["no version stands", [false, false], false],
  ])("is ended for everybody, or not, where %s", async (_what, answers, isKept) => {
    const id = await create().start(first);
    await create().endOthers("alice", id, "2");
    const isCurrent = async (_username: string, version: string) => answers[Number(version) - 1];
    expect(await createSessions({ ...DEFAULTS, store, clock: () => now, isCurrent }).find(id)).toBeUndefined();
    expect((await create().find(id)) !== undefined).toBe(isKept);
  });

  it("outlives a change that gives its account no version, or the one that it has", async () => {
    const own = create();
    const versioned = await own.start(first);
    calls.length = 0;
    await own.endOthers("alice", versioned);
    await own.endOthers("alice", versioned, "1");
    expect(calls.filter(([verb, key]) => verb === "set" && key.startsWith("session:"))).toEqual([]);
    expect(await own.find(versioned)).toMatchObject(record);
    const without = await own.start(record, await own.generationOf("alice"));
    await own.endOthers("alice", without, "2");
    expect(await own.find(without)).toMatchObject(record);
  });

  it("is not brought back by a change of the password, once a change in another session has ended it", async () => {
    const own = create();
    const [changed, other] = [await own.start(record), await own.start(record)];
    await own.endOthers("alice", changed);
    await own.endOthers("alice", other);
    expect(await own.find(other)).toBeUndefined();
  });

  it("is not brought back by a change of the password, once it is ended or over", async () => {
    const own = create();
    const [ended, over] = [await own.start(first), await own.start(first)];
    await own.end(ended);
    now += 30 * minute;
    for (const id of [ended, over]) {
      calls.length = 0;
      await own.endOthers("alice", id, "2");
      expect(calls.filter(([verb, key]) => verb === "set" && key.startsWith("session:"))).toEqual([]);
      expect(await own.find(id)).toBeUndefined();
    }
  });

  it("is not brought back by a change of the password, once another change has ended it", async () => {
    const own = create();
    const id = await own.start(first);
    // No request has used the session since the account was changed.
    current = "2";
    await own.endOthers("alice", id, "3");
    current = "3";
    expect(await own.find(id)).toBeUndefined();
  });

  it("does not come back by a renewal in another process", async () => {
    const own = create();
    const id = await own.start(first);
    now += 5 * minute;
    const there = create(
      interrupted(async () => {
        current = "2";
        expect(await own.find(id)).toBeUndefined();
      }),
    );
    await there.find(id);
    current = "1";
    expect(await own.find(id)).toBeUndefined();
  });

  it("outlives the change that it was given the next version for, whenever that is found out", async () => {
    const own = create();
    const id = await own.start(first);
    let reads = 0;
    const late = create({
      ...store,
      get: async (key) => {
        const found = await store.get(key);
        if (key.startsWith("session:") && reads++ === 0) {
          await own.endOthers("alice", id, "2");
          current = "2";
        }
        return found;
      },
    });
    expect(await late.find(id)).toMatchObject(record);
    expect(await own.find(id)).toMatchObject(record);
  });

  it("stays ended where another process ends it while its password is changed", async () => {
    const there = create();
    let meanwhile = async (): Promise<unknown> => undefined;
    const here = createSessions({
      ...DEFAULTS,
      store,
      clock: () => now,
      isCurrent: async () => {
        await meanwhile();
        return true;
      },
    });
    const id = await here.start(first);
    meanwhile = () => {
      meanwhile = async () => undefined;
      return there.end(id);
    };
    await here.endOthers("alice", id, "2");
    expect(await here.find(id)).toBeUndefined();
  });

  it("keeps the version that a change of password gives it, also where it is renewed meanwhile", async () => {
    let change: Promise<void> | undefined;
    const own = create(
      interrupted(async () => {
        change = own.endOthers("alice", id, "2");
        await settled();
      }),
    );
    const id = await create().start(first);
    now += 5 * minute;
    await own.find(id);
    await change;
    current = "2";
    expect(await own.find(id)).toMatchObject(record);
  });
});

it("keeps a session ended that another process renews at the same moment", async () => {
  for (let round = 0; round < 100; round += 1) {
    const [here, there] = [1, 2].map(() => createSessions({ ...DEFAULTS, store: delayed(store), clock: () => now }));
    const id = await sessions.start(record);
    now += 5 * minute;
    await Promise.all([here?.find(id), there?.end(id)]);
    expect(await sessions.find(id)).toBeUndefined();
  }
});

it("keeps a session ended that is renewed at the same moment", async () => {
  for (let round = 0; round < 50; round += 1) {
    const slow = createSessions({ ...DEFAULTS, store: delayed(store), clock: () => now });
    const id = await slow.start(record);
    now += 5 * minute;
    await Promise.all([slow.find(id), slow.find(id), slow.end(id), slow.find(id)]);
    expect(await slow.find(id)).toBeUndefined();
  }
});

function recording(inner: KeyValueStore): KeyValueStore {
  async function recorded<T>(call: Call, work: () => Promise<T>): Promise<T> {
    calls.push(call);
    return work();
  }
  return {
    get: (key) => recorded(["get", key], () => inner.get(key)),
    set: (key, value, ttl) => recorded(["set", key, value, ttl], () => inner.set(key, value, ttl)),
    delete: (key) => recorded(["delete", key], () => inner.delete(key)),
  };
}

/** Waits until work in the background is done. */
function settled(milliseconds = 20): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** A store that ignores times to live. */
function withoutExpiry(): KeyValueStore {
  return createMemoryKeyValueStore({ clock: () => 0 });
}

/** A store that calls `happen` before its first write of a session. */
function interrupted(happen: () => Promise<void>): KeyValueStore {
  let isDone = false;
  return {
    ...store,
    set: async (key, value, ttl) => {
      if (key.startsWith("session:") && !isDone) {
        isDone = true;
        await happen();
      }
      await store.set(key, value, ttl);
    },
  };
}

/** A store that calls `happen` before its n-th read. */
function beforeRead(ordinal: number, happen: () => Promise<unknown>): KeyValueStore {
  let reads = 0;
  return {
    ...store,
    get: async (key) => {
      reads += 1;
      if (reads === ordinal) await happen();
      return store.get(key);
    },
  };
}

/** A store whose calls take random times, as over a network; each call takes effect when it resolves. */
function delayed(inner: KeyValueStore): KeyValueStore {
  const later = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 3));
  return {
    get: (key) => later().then(() => inner.get(key)),
    set: (key, value, ttl) => later().then(() => inner.set(key, value, ttl)),
    delete: (key) => later().then(() => inner.delete(key)),
  };
}
