import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { builtCommand, ensureBuilt, makeFolder, projectFolder, runCommand, startServer } from "../support/built.ts";
import { findFreePort } from "../support/nginx.ts";

const page = await readFile(join(projectFolder, "docs/deployment.md"), "utf8");
const [, hook = ""] = /```sh\n(#!\/bin\/sh\nif test "\$RENEWED_LINEAGE"[\s\S]*?)```/.exec(page) ?? [];
const chapter = page.slice(page.indexOf("## Backups, upgrades and rollback"));
const [backup = "", upgrade = "", rollback = ""] = [...chapter.matchAll(/```sh\n([\s\S]*?)```/g)].map(
  ([, text]) => text,
);
const [, restore = ""] = /`(sudo tar --extract[^`]*)`/.exec(chapter) ?? [];

/** What takes the place of programs that need root, a clone or the registry. The service itself is the real one. */
const STAND_INS = {
  sudo: 'if [ "$1" = -u ]; then shift 2; fi; exec "$@"',
  git: 'if [ "$1" = rev-parse ]; then echo 2b3c4d5e; fi',
  // The user of the service is the one who runs the test.
  install: 'shift 4; exec /usr/bin/install "$@"',
  npm: `if [ "$1" != install ]; then exit; fi
folder=\${2#--prefix=}
mkdir -p "$folder/node_modules/.bin"
ln -s "${projectFolder}" "$folder/node_modules/fileferry"
ln -s "${builtCommand}" "$folder/node_modules/.bin/fileferry"`,
  // As the unit in examples/systemd, which starts the command below /opt/fileferry.
  systemctl: `if [ -e "$ROOT/pid" ]; then kill "$(cat "$ROOT/pid")"; while kill -0 "$(cat "$ROOT/pid")"; do sleep 0.1; done; fi
readlink "$ROOT/opt/fileferry" >> "$ROOT/started"
node "$ROOT/opt/fileferry/node_modules/fileferry/dist/cli/main.js" serve --config "$ROOT/etc/fileferry/fileferry.json" > /dev/null 2>&1 &
echo $! > "$ROOT/pid"`,
};

interface Machine {
  readonly root: string;
  /** Where the service listens. */
  readonly url: string;
  /** Runs commands of the page as a shell does, with the folders below the root of the machine. Returns the output. */
  run(text: string): Promise<string>;
}

/** A machine as the page has set it up: a service with an account, below a folder in place of `/`. */
async function setUpMachine(): Promise<Machine> {
  const root = await makeFolder();
  const port = await findFreePort();
  const metricsPort = await findFreePort();
  for (const folder of ["srv/files", "etc/fileferry", "opt", "bin"])
    await mkdir(join(root, folder), { recursive: true });
  for (const [name, text] of Object.entries(STAND_INS)) {
    await writeFile(join(root, "bin", name), `#!/bin/sh\n${text}\n`);
    await chmod(join(root, "bin", name), 0o755);
  }
  const configuration = {
    listen: { port },
    metrics: { port: metricsPort },
    storage: { type: "disk", root: join(root, "srv/files") },
    authentication: [{ type: "accounts", file: "accounts.json" }],
  };
  await writeFile(join(root, "etc/fileferry/fileferry.json"), JSON.stringify(configuration));
  const file = join(root, "etc/fileferry/accounts.json");
  expect(await runCommand(["account", "add", "alice", "--file", file], "secret\n")).toMatchObject({ status: 0 });
  const env = { ...process.env, ROOT: root, PATH: `${join(root, "bin")}:${process.env.PATH}` };
  return {
    root,
    url: `http://127.0.0.1:${port}/home/`,
    async run(text) {
      const own = text
        .replaceAll(/(?<![\w/])\/(?=(srv|etc|opt)\/)/g, `${root}/`)
        .replace("--directory /", `--directory ${root}/restored`)
        .replaceAll(":9464/", `:${metricsPort}/`);
      const { stdout } = await promisify(execFile)("bash", ["-c", own], { cwd: root, env });
      return stdout;
    },
  };
}

const headers = { Authorization: `Basic ${Buffer.from("alice:secret").toString("base64")}` };

async function download(url: string): Promise<readonly [status: number, text: string]> {
  const response = await fetch(url, { headers });
  return [response.status, await response.text()];
}

describe("the chapter of backups, upgrades and rollback", () => {
  beforeAll(() => ensureBuilt(), 300_000);

  it("has a backup of a running service with whole files alone, from which another one starts", async () => {
    const { root, url, run } = await setUpMachine();
    const config = join(root, "etc/fileferry/fileferry.json");
    await startServer(["serve", "--config", config]);
    const put = (name: string, body: string) => fetch(url + name, { method: "PUT", headers, body });
    expect((await put("kept.txt", "kept")).status).toBe(201);
    await writeFile(join(root, "srv/files/alice/.fileferry-unfinished.tmp"), "half");
    let isOver = false;
    const writing = (async () => {
      for (let round = 0; !isOver; round++) await put("changing.txt", `${round % 10}`.repeat(100_000));
    })();
    await writeFile(join(root, "backup.tar.gz"), "an older one that all can read", { mode: 0o644 });
    for (let copies = 0; copies < 5; copies++) await run(backup);
    expect((await stat(join(root, "backup.tar.gz"))).mode & 0o777).toBe(0o600);
    isOver = true;
    await writing;

    await mkdir(join(root, "restored"));
    await run(restore);
    const restored = join(root, "restored", root);
    const changing = await readFile(join(restored, "srv/files/alice/changing.txt"), "utf8");
    expect([changing.length, new Set(changing).size]).toEqual([100_000, 1]);
    await expect(readFile(join(restored, "srv/files/alice/.fileferry-unfinished.tmp"))).rejects.toThrow("ENOENT");

    const copy = join(restored, "etc/fileferry/fileferry.json");
    const settings = JSON.parse(await readFile(copy, "utf8"));
    const trial = { ...settings, listen: { port: 0 }, storage: { type: "disk", root: join(restored, "srv/files") } };
    delete trial.metrics;
    await writeFile(copy, JSON.stringify(trial));
    expect((await runCommand(["check", "--config", copy])).status).toBe(0);
    const { url: second } = await startServer(["serve", "--config", copy]);
    expect(await download(`${second}home/kept.txt`)).toEqual([200, "kept"]);
  });

  it("has a hook of Certbot that takes the renewed certificate of the service alone", async () => {
    const { root, run } = await setUpMachine();
    const copied = async () => (await readdir(join(root, "etc/fileferry"))).filter((name) => name.endsWith(".pem"));
    for (const name of ["files.example", "other.example"]) {
      const lineage = join(root, "etc/letsencrypt/live", name);
      await mkdir(lineage, { recursive: true });
      for (const file of ["privkey.pem", "fullchain.pem"]) await writeFile(join(lineage, file), name);
    }
    await run(`export RENEWED_LINEAGE=/etc/letsencrypt/live/other.example\n${hook}`);
    expect(await copied()).toEqual([]);
    await run(`export RENEWED_LINEAGE=/etc/letsencrypt/live/files.example\n${hook}`);
    expect(await copied()).toEqual(["cert.pem", "key.pem"]);
    expect((await stat(join(root, "etc/fileferry/key.pem"))).mode & 0o777).toBe(0o640);
  });

  it("has an upgrade to a version next to the old one, and a way back", async () => {
    const { root, url, run } = await setUpMachine();
    const old = join(root, "opt/fileferry-0.0.9-1a2b3c4d");
    await run(`npm install --prefix=${old}`);
    await symlink(old, join(root, "opt/fileferry"));
    onTestFinished(async () => {
      process.kill(Number(await readFile(join(root, "pid"), "utf8")));
    });
    await run("systemctl restart fileferry");
    await run("curl -sS -f --retry 10 --retry-connrefused http://127.0.0.1:9464/ready");
    expect((await fetch(`${url}kept.txt`, { method: "PUT", headers, body: "kept" })).status).toBe(201);

    await writeFile(join(root, "package.json"), JSON.stringify({ version: "0.1.0" }));
    const fresh = join(root, "opt/fileferry-0.1.0-2b3c4d5e");
    expect(await run(upgrade)).toContain(old);
    expect([await readlink(join(root, "opt/fileferry")), await download(`${url}kept.txt`)]).toEqual([
      fresh,
      [200, "kept"],
    ]);

    expect(await run(rollback.replace("fileferry-0.1.0-1a2b3c4d", "fileferry-0.0.9-1a2b3c4d"))).toContain(fresh);
    await run("curl -sS -f --retry 10 --retry-connrefused http://127.0.0.1:9464/ready");
    expect(await download(`${url}kept.txt`)).toEqual([200, "kept"]);
    expect((await readFile(join(root, "started"), "utf8")).trim().split("\n")).toEqual([old, fresh, old]);
  });

  it("stops an upgrade before the service, if the new version does not take the configuration", async () => {
    const { root, run } = await setUpMachine();
    const old = join(root, "opt/fileferry-0.0.9-1a2b3c4d");
    await run(`npm install --prefix=${old}`);
    await symlink(old, join(root, "opt/fileferry"));
    await writeFile(join(root, "package.json"), JSON.stringify({ version: "0.1.0" }));
    await writeFile(join(root, "etc/fileferry/fileferry.json"), JSON.stringify({ unknown: true }));
    // Without the question whether it is ready: no service runs here.
    expect(await run(`${upgrade.replace(/^curl.*$/m, "")}true`)).toContain("unknown: unknown key");
    expect(await readlink(join(root, "opt/fileferry"))).toBe(old);
    await expect(readFile(join(root, "started"))).rejects.toThrow("ENOENT");
  });
});
