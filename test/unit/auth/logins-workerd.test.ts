import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSourceWorker } from "../../support/workers/source-worker.ts";

/** The steps of a login, where each access to a store and each verification takes time. */
const WORKER = `
import { createBasicCache } from "./src/auth/basic-cache.ts";
import { createPasswordHasher } from "./src/auth/passwords/hash.ts";
import { createSessions } from "./src/auth/sessions/sessions.ts";
import { createLoginThrottle, Throttled } from "./src/auth/throttle.ts";
import { createMemoryKeyValueStore } from "./src/stores/memory.ts";

const memory = createMemoryKeyValueStore();
const pass = () => new Promise((resolve) => setTimeout(resolve, 20));
const slow = (name) => async (...values) => {
  await pass();
  return memory[name](...values);
};
const store = { get: slow("get"), set: slow("set"), delete: slow("delete") };
const clock = Date.now;
const throttle = createLoginThrottle({ store, attempts: 10, windowSeconds: 60, clock });
const hasher = createPasswordHasher();
const sessions = createSessions({ store, idleSeconds: 60, maxSeconds: 600, maxPerAccount: 3 });
let verifications = 0;
const cache = createBasicCache({ seconds: 60, chain: { isCurrent: async () => true }, sessions, clock });

const steps = {
  async throttle(username, address, password) {
    const attempt = async () => {
      await pass();
      return password === "secret" ? "succeeded" : "failed";
    };
    const result = await throttle.run({ username, address }, attempt, (made) => made);
    return result instanceof Throttled ? "refused" : result;
  },
  async cache(username, address, password) {
    const result = await cache.verify({ username, password, address, isSecure: true }, async () => {
      verifications += 1;
      await pass();
      return { outcome: "accepted", username, account: {}, settings: {}, version: "1", verdicts: [{}] };
    });
    return result.outcome;
  },
  async verifications() {
    return String(verifications);
  },
  async hash(username, address, password) {
    const phc = "$scrypt$ln=4,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    return String(await hasher.verify(password, phc, address));
  },
  async session(username) {
    const id = await sessions.start({ username, settings: {} });
    await sessions.find(id);
    await sessions.end(id);
    return "started";
  },
};

export default {
  async fetch(request) {
    const [step, ...values] = new URL(request.url).pathname.slice(1).split("/");
    return new Response(await steps[step](...values));
  },
};
`;

let worker: Miniflare;

beforeAll(async () => {
  worker = await startSourceWorker(WORKER);
});

afterAll(() => worker?.dispose());

async function run(...values: readonly string[]): Promise<string> {
  const response = await worker.dispatchFetch(`http://localhost/${values.join("/")}`);
  return response.ok ? response.text() : "canceled";
}

/** Runs a step in many requests at the same time, and counts their results. */
async function runTogether(number: number, ...values: readonly string[]) {
  const counts: Record<string, number> = {};
  const results = await Promise.all(Array.from({ length: number }, () => run(...values)));
  for (const result of results) counts[result] = (counts[result] ?? 0) + 1;
  return counts;
}

describe("on workerd, where a request that waits for a promise of another is canceled", () => {
  it("more right passwords at the same time than may fail are all accepted", async () => {
    expect(await runTogether(14, "throttle", "alice", "192.0.2.1", "secret")).toEqual({ succeeded: 14 });
  });

  it("of more wrong passwords at the same time, only as many are tried as may fail", async () => {
    expect(await runTogether(14, "throttle", "bob", "192.0.2.2", "wrong")).toEqual({ failed: 10, refused: 4 });
    expect(await run("throttle", "bob", "192.0.2.2", "secret")).toBe("refused");
    expect(await run("throttle", "bob", "192.0.2.3", "secret")).toBe("succeeded");
  });

  it("many requests with the same password share one verification", async () => {
    expect(await runTogether(14, "cache", "alice", "192.0.2.1", "secret")).toEqual({ verified: 14 });
    expect(await run("verifications")).toBe("1");
  });

  it("hashes passwords of many requests", async () => {
    expect(await runTogether(14, "hash", "alice", "192.0.2.1", "secret")).toEqual({ false: 14 });
  });

  it("starts many sessions of one account", async () => {
    expect(await runTogether(14, "session", "alice")).toEqual({ started: 14 });
  });
});
