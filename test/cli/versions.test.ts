import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder, startServer } from "../support/built.ts";
import { runInProcess } from "../support/run-in-process.ts";
import { ALICE, configure } from "./configure.ts";

describe("the key versions of a configuration", () => {
  it("keeps what is overwritten, within quotas and in the trash", async () => {
    const root = await makeFolder();
    const config = await configure({
      storage: { type: "disk", root },
      versions: { keep: 2 },
      trash: {},
      quota: {},
    });
    const { url } = await startServer(["serve", "--config", config]);
    const ask = (method: string, path: string, more: RequestInit = {}) =>
      fetch(`${url}home/${path}`, { method, ...more, headers: { ...ALICE, ...more.headers } });
    const list = async (): Promise<readonly string[]> => {
      const { content } = (await (await ask("GET", "__svc__/versions?path=/a")).json()) as {
        content: readonly { id: string }[];
      };
      const texts = content.map(async ({ id }) => (await ask("GET", `__svc__/versions/${id}?path=/a`)).text());
      return Promise.all(texts);
    };
    for (const body of ["one", "two", "three", "four"]) await ask("PUT", "a", { body });
    expect(await list()).toEqual(["three", "two"]);
    expect(await (await ask("GET", "__svc__/quota")).json()).toMatchObject({
      results: [{ used_bytes: 12, used_files: 3 }],
    });
    expect((await ask("DELETE", "a")).status).toBe(204);
    expect((await ask("GET", "__svc__/versions?path=/a")).status).toBe(404);
    const { content } = (await (await ask("GET", "__svc__/trash")).json()) as { content: readonly { id: string }[] };
    const commands = content.map(({ id }) => ({ command: "restore", target: id }));
    const headers = { "Content-Type": "application/json" };
    await ask("POST", "__svc__/trash", { headers, body: JSON.stringify({ commands }) });
    expect(await list()).toEqual(["three", "two"]);
    expect(await readdir(join(root, "alice"))).toEqual(["a"]);
  });

  it.each([
    [{ keep: 0 }, "versions.keep"],
    [{ keepSeconds: -1 }, "versions.keepSeconds"],
    [{ maxFileBytes: 1.5 }, "versions.maxFileBytes"],
    [{ keepDays: 1 }, "versions.keepDays: unknown key"],
  ])("is checked: %j", async (versions, problem) => {
    const config = await configure({ storage: { type: "memory" }, versions });
    const { status, stderr } = await runInProcess(["serve", "--config", config]);
    expect([status, stderr]).toEqual([2, expect.stringContaining(problem)]);
  });
});
