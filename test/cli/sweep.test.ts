import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createFileService } from "../../src/index.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { makeFolder } from "../support/built.ts";
import { runInProcess } from "../support/run-in-process.ts";
import { configure } from "./configure.ts";

async function makeFiles(): Promise<string> {
  const root = await makeFolder();
  await mkdir(join(root, "inbox/deep"), { recursive: true });
  const old = new Date(Date.now() - 10 * 86_400_000);
  for (const path of ["inbox/old", "inbox/deep/old", "inbox/new", "kept"]) await writeFile(join(root, path), "12345");
  for (const path of ["inbox/old", "inbox/deep/old", "kept"]) await utimes(join(root, path), old, old);
  return root;
}

const retention = [
  { path: "/inbox", seconds: 7 * 86_400 },
  { path: "/missing", seconds: 1 },
];

describe("fileferry sweep", () => {
  it("removes the files that are not kept, and with --dry-run says which", async () => {
    const root = await makeFiles();
    const config = await configure({ storage: { type: "disk", root }, retention });
    const dry = await runInProcess(["sweep", "--config", config, "--dry-run"]);
    const missing = "warning: retention: the folder /missing does not exist\n";
    expect(dry.stderr).toBe(missing);
    const lines = dry.stdout.trimEnd().split("\n").sort();
    expect([dry.status, lines]).toEqual([
      0,
      [
        expect.stringMatching(/^would remove \/inbox\/deep\/old, 5 bytes of \d{4}-\d\d-\d\dT/),
        expect.stringMatching(/^would remove \/inbox\/old, 5 bytes of /),
      ],
    ]);
    const real = await runInProcess(["sweep", "--config", config]);
    expect(real).toMatchObject({ status: 0, stdout: "swept: 2\n", stderr: missing });
    expect([await readdir(join(root, "inbox")), await readdir(join(root, "inbox/deep"))]).toEqual([
      ["deep", "new"],
      [],
    ]);
    expect(await readdir(root)).toContain("kept");
  });

  it("goes on after a rule whose path is a file, and names it with the reason", async () => {
    const root = await makeFiles();
    const rules = [{ path: "/kept", seconds: 1 }, ...retention];
    const config = await configure({ storage: { type: "disk", root }, retention: rules });
    const dry = await runInProcess(["sweep", "--config", config, "--dry-run"]);
    expect(dry).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/^error: \/kept is left out: not-a-folder: /m),
    });
    expect(dry.stdout.trimEnd().split("\n")).toHaveLength(2);
    const real = await runInProcess(["sweep", "--config", config]);
    const reason = /^error: Retention left a path out\. \{.*"path":"\/kept"/m;
    expect(real).toMatchObject({ status: 0, stdout: "swept: 2\n", stderr: expect.stringMatching(reason) });
    expect(real.stderr).toContain('"code":"not-a-folder"');
  });

  it("makes no file of events, which another user than that of the service would own", async () => {
    const root = await makeFolder();
    const config = await configure({ storage: { type: "disk", root }, events: { file: "events.ndjson" } });
    expect(await runInProcess(["sweep", "--config", config])).toMatchObject({ status: 0, stdout: "swept: 0\n" });
    expect(await readdir(join(config, ".."))).toEqual(["fileferry.json"]);
  });

  it("moves them to the trash, if there is one", async () => {
    const root = await makeFiles();
    const config = await configure({ storage: { type: "disk", root }, retention, trash: {} });
    expect((await runInProcess(["sweep", "--config", config])).stdout).toBe("swept: 2\n");
    const { stdout } = await runInProcess(["trash", "list", "--config", config]);
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
    expect((await runInProcess(["sweep", "--config", config, "--dry-run"])).stdout).toBe("");
  });

  it.each([
    [[{ path: "inbox", seconds: 1 }], "must be a canonical path, such as /inbox"],
    [[{ path: "/inbox", seconds: 0 }], "must be a whole number of seconds, at least 1"],
    [[{ path: "/inbox" }], "retention[0].seconds: is missing"],
  ])("refuses the retention %j", async (wrong, problem) => {
    const { status, stderr } = await runInProcess(["sweep", "--config", await configure({ retention: wrong })]);
    expect([status, stderr]).toEqual([2, expect.stringContaining(problem)]);
  });

  it("refuses a storage in memory, whose files no other process has", async () => {
    const config = await configure({ storage: { type: "memory" } });
    expect(await runInProcess(["sweep", "--config", config])).toMatchObject({ status: 2 });
  });
});

describe("the option retention", () => {
  it("names what is wrong", () => {
    const authentication = { name: "none", authenticate: async () => ({ outcome: "unknown" }) as const };
    const create = (wrong: unknown) => () =>
      createFileService({ storage: createMemoryStorage(), authentication, retention: wrong as never });
    expect(create([{ path: "/a", seconds: 1, days: 2 }])).toThrow(/retention\[0\]\.days/);
    expect(create("x")).toThrow(/retention must be a list/);
  });
});
