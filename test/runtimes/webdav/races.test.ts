import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ensureBuilt, makeFolder, startServer } from "../../support/built.ts";
import { hasRedis, redisNote, startRedis, type TestRedis } from "../../support/redis.ts";
import { amount, reportFigure } from "../../support/trust.ts";

const AUTHORIZATION = `Basic ${btoa("alice:secret")}`;
const XML = { "Content-Type": "application/xml" };

/** The URL of the service of the test that runs. */
let url: string;

let redis: TestRedis;

beforeAll(async () => {
  await ensureBuilt();
  if (hasRedis) redis = await startRedis("hunter2");
}, 300_000);

afterAll(() => redis?.stop());

beforeEach(async () => {
  if (!hasRedis) return;
  const folder = await makeFolder();
  const file = join(folder, "fileferry.json");
  const accounts = [{ username: "alice", password: "secret", home_folder_path: "/files" }];
  await writeFile(join(folder, "accounts.json"), JSON.stringify({ accounts }));
  const config = {
    listen: { port: 0 },
    storage: { type: "disk", root: "." },
    authentication: [{ type: "accounts", file: "accounts.json" }],
    session: { store: redis.url },
    webdav: {},
  };
  await writeFile(file, JSON.stringify(config));
  ({ url } = await startServer(["serve", "--config", file, "--workers", "2"]));
});

/** Sends a request on a connection of its own, so that the requests come to both processes. */
async function send(method: string, path: string, headers: Readonly<Record<string, string>> = {}, body?: string) {
  const response = await fetch(`${url}home/${path}`, {
    method,
    headers: { Authorization: AUTHORIZATION, Connection: "close", ...headers },
    ...(body !== undefined && { body }),
  });
  await response.arrayBuffer();
  return response;
}

async function lock(path: string, depth: "0" | "infinity" = "0"): Promise<Response> {
  const type = "<D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype>";
  return send("LOCK", path, { ...XML, Depth: depth }, `<D:lockinfo xmlns:D="DAV:">${type}</D:lockinfo>`);
}

async function unlock(path: string, granted: Response): Promise<void> {
  await send("UNLOCK", path, { "Lock-Token": granted.headers.get("Lock-Token") ?? "" });
}

function isGranted({ status }: Response): boolean {
  return status < 300;
}

describe.skipIf(!hasRedis)(`two processes on one lock store (WEBDAV 11)${redisNote}`, () => {
  const rounds = amount({ short: 4, long: 1000 });

  it(`of 50 clients that lock one name at once, one has it, ${rounds} times`, async () => {
    for (let round = 0; round < rounds; round += 1) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => lock("one.txt")));
      const [first, ...others] = answers.filter(isGranted);
      expect(answers.filter(({ status }) => status === 423)).toHaveLength(49);
      expect([first?.status, others.length]).toEqual([round === 0 ? 201 : 200, 0]);
      if (first !== undefined) await unlock("one.txt", first);
    }
    reportFigure({ row: "Locks", what: "rounds of 50 clients in two processes with one winner each", value: rounds });
  }, 1_200_000);

  it(`of two locks that overlap, both are never granted, ${rounds} times`, async () => {
    await send("MKCOL", "tree/");
    await send("MKCOL", "tree/sub/");
    await send("PUT", "tree/sub/file.txt", {}, "x");
    let granted = 0;
    for (let round = 0; round < rounds; round += 1) {
      const [outer, inner] = await Promise.all([lock("tree/", "infinity"), lock("tree/sub/file.txt")]);
      expect([outer, inner].filter(isGranted).length).toBeLessThan(2);
      granted += [outer, inner].filter(isGranted).length;
      if (isGranted(outer)) await unlock("tree/", outer);
      if (isGranted(inner)) await unlock("tree/sub/file.txt", inner);
    }
    expect(granted).toBeGreaterThan(0);
    reportFigure({ row: "Locks", what: "pairs of overlapping locks, never both granted", value: rounds });
  }, 1_200_000);

  it(`of two moves of one source, and of two to one name, one succeeds, ${rounds} times`, async () => {
    const statusOf = ({ status }: Response): number => status;
    for (let round = 0; round < rounds; round += 1) {
      await send("PUT", "source.txt", {}, "x");
      const [left, right] = [`left-${round}.txt`, `right-${round}.txt`];
      const moves = await Promise.all(
        [left, right].map((to) => send("MOVE", "source.txt", { Destination: `/home/${to}` })),
      );
      expect(moves.map(statusOf).sort()).toEqual([201, 404]);
      await Promise.all([send("PUT", "a.txt", {}, "a"), send("PUT", "b.txt", {}, "b")]);
      const headers = { Destination: `/home/both-${round}.txt`, Overwrite: "F" };
      const arrivals = await Promise.all(["a.txt", "b.txt"].map((from) => send("MOVE", from, headers)));
      expect(arrivals.map(statusOf).sort()).toEqual([201, 412]);
      await Promise.all([left, right, `both-${round}.txt`, "a.txt", "b.txt"].map((name) => send("DELETE", name)));
    }
    reportFigure({ row: "Moves", what: "rounds of two moves at once in two processes with one winner", value: rounds });
  }, 1_200_000);
});
