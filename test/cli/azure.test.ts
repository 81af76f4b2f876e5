import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AzureContainer, azuriteMissing, createContainer } from "../support/azure/server.ts";
import { builtCommand, ensureBuilt } from "../support/built.ts";
import { startCommand } from "../support/command.ts";

const authorization = `Basic ${btoa("demo:demo")}`;

describe.skipIf(azuriteMissing !== undefined)(
  `the command with a container of Azure${azuriteMissing ? ` (${azuriteMissing})` : ""}`,
  () => {
    let container: AzureContainer;
    let folder: string;

    beforeAll(async () => {
      await ensureBuilt();
      folder = await mkdtemp(join(tmpdir(), "fileferry-cli-azure-"));
      container = await createContainer();
      await writeFile(join(folder, "key"), `${container.options.key}\n`);
    }, 300_000);

    afterAll(async () => {
      await container.stop();
      await rm(folder, { recursive: true });
    });

    async function writeConfig(storage: Readonly<Record<string, unknown>> = {}): Promise<string> {
      const file = join(folder, "fileferry.json");
      const accounts = [{ username: "demo", password: "demo", home_folder_path: "/" }];
      const own = { type: "azure", ...container.options, key: { file: "key" }, prefix: "home", ...storage };
      const offload = { type: "presigned", minBytes: 5 };
      await writeFile(
        file,
        JSON.stringify({ storage: own, offload, authentication: [{ type: "accounts", accounts }] }),
      );
      return file;
    }

    function run(...args: readonly string[]): Promise<{ status: unknown; stdout: string; stderr: string }> {
      return new Promise((resolve) => {
        execFile(process.execPath, [builtCommand, ...args], { timeout: 100_000 }, (error, stdout, stderr) =>
          resolve({ status: error === null ? 0 : error.code, stdout, stderr }),
        );
      });
    }

    it("keeps, lists, copies and removes files in it, and hands downloads to it", async () => {
      const { origin, stop } = await startCommand(["serve", "--config", await writeConfig(), "--port", "0", "--quiet"]);
      const ask = (method: string, path: string, others: RequestInit = {}) =>
        fetch(`${origin}/home/${path}`, {
          method,
          headers: { authorization, accept: "application/json" },
          redirect: "manual",
          ...others,
        });
      expect((await ask("PUT", "a%20b+c.", { body: "text" })).status).toBe(201);
      expect(await (await ask("GET", "a%20b+c.")).text()).toBe("text");
      expect(await (await ask("GET", "")).text()).toContain('"a b+c."');
      expect((await ask("PUT", "large.txt", { body: "larger" })).status).toBe(201);
      const sent = await ask("GET", "large.txt");
      expect(sent.status).toBe(307);
      expect(await (await fetch(sent.headers.get("location") ?? "")).text()).toBe("larger");
      expect((await ask("DELETE", "a%20b+c.")).status).toBe(204);
      expect((await ask("GET", "a%20b+c.")).status).toBe(404);
      await stop();
    }, 120_000);

    it("checks and tries it", async () => {
      const file = await writeConfig();
      const checked = await run("check", "--config", file);
      expect([checked.status, checked.stdout]).toEqual([
        0,
        expect.stringMatching(/^ok: storage: azure, container files, home$/m),
      ]);
      const { stdout } = await run("doctor", "--config", file);
      expect(stdout).toMatch(/^ok: storage: writes and flushes in \d+ ms, reads, moves and removes$/m);
      expect(stdout).toMatch(/^ok: storage: has the time of this machine$/m);
      expect(stdout).toMatch(/^ok: offload: the bucket sends files by presigned URLs$/m);
    }, 120_000);

    it("ends with 1 if the container does not exist, and with 2 if the key is none, which it does not print", async () => {
      const args = ["serve", "--port", "0", "--quiet", "--config"];
      const missing = await run(...args, await writeConfig({ container: "missing" }));
      const text =
        "The container missing does not respond: GET container list: the store responded 404 ContainerNotFound";
      expect([missing.status, missing.stderr.split("\n").at(-2)]).toEqual([1, `error: ${text}`]);
      const wrong = await run(...args, await writeConfig({ key: "not base64" }));
      expect([wrong.status, wrong.stderr]).toEqual([
        2,
        `${join(folder, "fileferry.json")}: storage.key: must be a key of the account, in base64\n`,
      ]);
    }, 120_000);
  },
);
