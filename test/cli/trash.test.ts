import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder, startServer } from "../support/built.ts";
import { runInProcess } from "../support/run-in-process.ts";
import { ALICE, configure } from "./configure.ts";

describe("the key trash of a configuration", () => {
  it("keeps what is deleted, also with quotas, for clients and for fileferry trash", async () => {
    const root = await makeFolder();
    const config = await configure({ storage: { type: "disk", root }, trash: {}, quota: {} });
    const { url } = await startServer(["serve", "--config", config]);
    for (const name of ["a", "b", "c"]) {
      await fetch(`${url}home/${name}`, { method: "PUT", headers: ALICE, body: "12345" });
      await fetch(`${url}home/${name}`, { method: "DELETE", headers: ALICE });
    }
    const { content } = (await (await fetch(`${url}home/__svc__/trash`, { headers: ALICE })).json()) as {
      content: readonly { id: string; name: string }[];
    };
    expect(content.map(({ name }) => name)).toEqual(["c", "b", "a"]);
    const idOf = (wanted: string): string => content.find(({ name }) => name === wanted)?.id ?? "";
    const used = await fetch(`${url}home/__svc__/quota`, { headers: ALICE });
    expect(await used.json()).toMatchObject({ results: [{ used_bytes: 15, used_files: 3 }] });

    const run = (...args: string[]) => runInProcess(["trash", ...args, "--config", config]);
    const listed = await run("list", "/alice");
    expect(listed.stdout.split("\n").slice(0, 2)).toEqual([
      `${idOf("c")}  5 bytes  /alice/c`,
      `${idOf("b")}  5 bytes  /alice/b`,
    ]);
    expect(
      (await run("list", "--json")).stdout
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line).path),
    ).toEqual(["/alice/c", "/alice/b", "/alice/a"]);
    expect(await run("restore", idOf("a"))).toMatchObject({ status: 0, stdout: "restored /alice/a\n" });
    expect(await readFile(join(root, "alice/a"), "utf8")).toBe("12345");
    expect(await run("restore", idOf("b"), "--to", "/alice/a")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("something at the path"),
    });
    expect(await run("restore", idOf("b"), "--to", "/alice/new/b")).toMatchObject({ status: 0 });
    expect(await run("purge", idOf("c"), idOf("c"))).toMatchObject({
      status: 1,
      stdout: `removed for good ${idOf("c")}\n`,
      stderr: expect.stringContaining("there is no entry"),
    });
    expect(await run("sweep")).toMatchObject({ status: 0, stdout: "removed for good: 0\n" });
    expect(await run("list")).toMatchObject({ status: 0, stdout: "" });
    expect(await run("restore", "../../etc")).toMatchObject({ status: 1, stderr: expect.stringContaining("no such") });
    expect(await run("list", "alice/")).toMatchObject({ status: 2, stderr: expect.stringContaining("canonical") });
  });

  it.each([
    [{ keepSeconds: -1 }, "keepSeconds: must be a whole number, 0 or more"],
    [{ makeRoom: "yes" }, "trash.makeRoom"],
    [{ keep: 1 }, "keep"],
  ])("is checked at the start: %j", async (trash, problem) => {
    const { status, stderr } = await runInProcess(["serve", "--config", await configure({ trash })]);
    expect(status).toBe(2);
    expect(stderr).toContain(problem);
  });

  it("is needed by fileferry trash, with files that other processes see", async () => {
    const run = async (members: object) => runInProcess(["trash", "list", "--config", await configure(members)]);
    const disk = { type: "disk", root: await makeFolder() };
    expect(await run({ storage: disk })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("trash: is missing"),
    });
    expect(await run({ storage: { type: "memory" }, trash: {} })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("in memory"),
    });
  });
});
