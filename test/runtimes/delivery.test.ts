import { execFile, spawnSync } from "node:child_process";
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { readConfig } from "../../src/cli/config/read/config-file.ts";
import { findCommandLineFault } from "../docs/command-line.ts";
import { findDockerfileFaults, parseDockerfile } from "../docs/dockerfile.ts";
import { findUnitFaults } from "../docs/systemd.ts";
import {
  builtCommand,
  builtFolder,
  ensureBuilt,
  makeFolder,
  projectFolder,
  startCommand,
  startServer,
  waitFor,
} from "../support/built.ts";

const read = (path: string): Promise<string> => readFile(join(projectFolder, path), "utf8");

/** Optional packages that programs use with the library, and the command never. */
const OF_LIBRARY: readonly string[] = ["files-sdk", "flydrive", "react"];

const hasLogrotate = spawnSync("logrotate", ["--version"]).status === 0;
const logrotateNote = hasLogrotate ? "" : " (logrotate is not installed: its commands alone)";

interface Service {
  readonly command?: readonly string[];
  readonly image?: string;
  readonly user?: string;
  readonly read_only?: boolean;
  readonly volumes?: readonly string[];
  readonly networks?: unknown;
}

beforeAll(ensureBuilt);

describe("the files to run the service with", () => {
  it("have a Dockerfile whose service is not root, and which is asked for its health", async () => {
    const text = await read("Dockerfile");
    expect(await findDockerfileFaults(text)).toEqual([]);
    const names = parseDockerfile(text).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["USER", "HEALTHCHECK"]));
    expect(names.indexOf("USER")).toBeLessThan(names.indexOf("CMD"));
    const health = parseDockerfile(text).find(({ name }) => name === "HEALTHCHECK")?.rest ?? "";
    const [program, flag, script] = JSON.parse(health.slice(health.indexOf("[")));
    expect([program, flag]).toEqual(["node", "-e"]);
    const check = (url: string) =>
      promisify(execFile)(process.execPath, ["-e", script], { env: { ...process.env, HEALTH_URL: url } });
    const { url } = await startServer(["serve", await makeFolder(), "--account", "alice:secret", "--port", "0"]);
    expect(await check(`${url}__svc__/health`)).toEqual({ stdout: "", stderr: "" });
    await expect(check(`${url}missing`)).rejects.toThrow();
    // Nothing listens at that port.
    await expect(check("http://127.0.0.1:1/")).rejects.toThrow();
    const ignored = (await read(".dockerignore")).split("\n");
    expect(ignored).toEqual(expect.arrayContaining([".git", "**/node_modules", "dist", "**/*.key"]));
  });

  it("leave everything for the image that the build of the package reads", async () => {
    const folder = await makeFolder();
    // Docker's patterns are those of Git, but begin at the root.
    const patterns = (await read(".dockerignore")).replaceAll(/^(!?)(?=[^#!*\n])/gm, "$1/");
    await writeFile(join(folder, ".ignored"), patterns);
    const list = async (...args: readonly string[]) =>
      (await promisify(execFile)("git", ["ls-files", "-z", ...args], { cwd: projectFolder })).stdout.split("\0");
    const ignored = new Set(await list("--cached", "--ignored", `--exclude-from=${join(folder, ".ignored")}`));
    const left = (await list()).filter((file) => file !== "" && !ignored.has(file));
    expect([left.includes("src/index.ts"), left.includes(".ci/run"), left.includes("docs/command.md")]).toEqual([
      true,
      false,
      true,
    ]);
    for (const file of left) await cp(join(projectFolder, file), join(folder, file));
    await symlink(join(projectFolder, "node_modules"), join(folder, "node_modules"));
    const run = (...args: readonly string[]) => promisify(execFile)(process.execPath, args, { cwd: folder });
    await run("node_modules/tsup/dist/cli-default.js", "--no-dts", "--silent");
    await run("build/config-schema.mjs");
    expect(await readFile(join(folder, "dist/config.schema.json"), "utf8")).toBe(await read("dist/config.schema.json"));
  });

  it("have a Dockerfile that installs each optional package that the command can use", async () => {
    const { peerDependencies } = JSON.parse(await read("package.json")) as {
      readonly peerDependencies: Readonly<Record<string, string>>;
    };
    const wanted = Object.entries(peerDependencies).filter(([name]) => !OF_LIBRARY.includes(name));
    expect(wanted.length).toBeGreaterThan(3);
    const install = parseDockerfile(await read("Dockerfile")).find(({ rest }) => rest.startsWith("npm install "));
    const words = install?.rest.split(/\s+/) ?? [];
    const packages = wanted.map(([name, range]) => `${name}@${Number.parseInt(range.slice(1), 10)}`);
    expect(words).toEqual(expect.arrayContaining(packages));
  });

  it("have a unit of systemd that hardens the service", async () => {
    const unit = await read("examples/systemd/fileferry.service");
    expect(await findUnitFaults(unit)).toEqual([]);
    for (const line of ["NoNewPrivileges=yes", "ProtectSystem=strict", "CapabilityBoundingSet="]) {
      expect(unit.split("\n")).toContain(line);
    }
  });

  it("have a unit whose command serves, reads accounts again, ends, and is not tried again if it cannot", async () => {
    const unit = (await read("examples/systemd/fileferry.service")).replace(/\\\n/g, " ");
    const folder = await makeFolder();
    const [, line = ""] = /^ExecStart=\/usr\/bin\/node (.*)$/m.exec(unit) ?? [];
    const places = { "/opt/fileferry/node_modules/fileferry/dist": builtFolder, "/etc/fileferry": folder };
    const words = line.split(/\s+/).map((word) => {
      const [from = "", to = ""] = Object.entries(places).find(([place]) => word.startsWith(place)) ?? [];
      return word.replace(from, to);
    });
    const [command = "", ...others] = words;
    expect([command, others[0]]).toEqual([builtCommand, "serve"]);
    const accounts = (...names: readonly string[]) => names.map((username) => ({ username, password: "secret" }));
    const configure = (members: object) =>
      writeFile(
        join(folder, "fileferry.json"),
        JSON.stringify({ listen: { port: 0 }, storage: { type: "memory" }, ...members }),
      );
    await configure({ authentication: [{ type: "accounts", accounts: accounts("alice") }] });
    const run = await startServer(others, [], command);
    const ask = async (name: string): Promise<number> => {
      const headers = { authorization: `Basic ${btoa(`${name}:secret`)}`, accept: "application/json" };
      return (await fetch(`${run.url}home/`, { headers })).status;
    };
    expect([await ask("alice"), await ask("bob")]).toEqual([200, 401]);
    // One JSON object on each line.
    for (const logged of run.stderr().trimEnd().split("\n")) JSON.parse(logged);
    expect(unit).toContain("ExecReload=/bin/kill -HUP $MAINPID\n");
    await configure({ authentication: [{ type: "accounts", accounts: accounts("alice", "bob") }] });
    run.child.kill("SIGHUP");
    await waitFor(() => /The accounts were read again/.exec(run.stderr()) ?? undefined, run);
    expect(await ask("bob")).toBe(200);
    run.child.kill("SIGTERM");
    expect(await run.ended).toBe(0);

    await configure({ authentication: "none" });
    const [, status] = /^RestartPreventExitStatus=(\d+)$/m.exec(unit) ?? [];
    expect(await startCommand(others, "", [], command).ended).toBe(Number(status));
  });

  it(`have a file of logrotate, after which the service writes a new log${logrotateNote}`, async () => {
    const folder = await makeFolder();
    const [logs, programs] = [join(folder, "log"), join(folder, "bin")];
    for (const path of [logs, programs]) await mkdir(path, { mode: 0o755 });
    const log = join(logs, "service.log");
    const run = await startServer(["serve", folder, "--account", "alice:secret", "--port", "0", "--log-file", log]);
    const visit = async (path: string): Promise<void> => {
      await (await fetch(`${run.url}__svc__/${path}`)).body?.cancel();
      await expect.poll(() => readFile(log, "utf8"), { timeout: 20_000 }).toContain(`/__svc__/${path}`);
    };

    // As systemd reloads the unit.
    const [, reload = ""] = /^ExecReload=(.*)$/m.exec(await read("examples/systemd/fileferry.service")) ?? [];
    const isAsked = '[ "$*" = "try-reload-or-restart fileferry" ] || exit 5';
    const script = `#!/bin/sh\nMAINPID=${run.child.pid}\n${isAsked}\n${reload}\n`;
    await writeFile(join(programs, "systemctl"), script, { mode: 0o755 });
    const given = await read("examples/systemd/fileferry.logrotate");
    expect(given).toContain("/var/log/fileferry/*.log {");
    const file = join(folder, "logrotate.conf");
    await writeFile(file, given.replace("/var/log/fileferry", logs), { mode: 0o644 });
    const env = { ...process.env, PATH: `${programs}:${process.env.PATH}` };

    async function rotate(): Promise<void> {
      if (hasLogrotate) {
        const args = ["--force", "--state", join(folder, "state"), file];
        expect(await promisify(execFile)("logrotate", args, { env })).toEqual({ stdout: "", stderr: "" });
      } else {
        await rename(log, `${log}.1`);
        const [, commands = ""] = /postrotate\n(.*?)\n *endscript/s.exec(given) ?? [];
        await promisify(execFile)("sh", ["-c", commands], { env });
      }
      // The service opens its path again when the signal arrives.
      await expect.poll(() => readdir(logs), { timeout: 20_000 }).toContain("service.log");
    }

    await visit("login");
    await rotate();
    await visit("openapi.json");
    expect(await readFile(log, "utf8")).not.toContain("/__svc__/login");
    expect(await readFile(`${log}.1`, "utf8")).toContain("/__svc__/login");
    if (hasLogrotate) {
      await rotate();
      await visit("login");
      expect((await readdir(logs)).sort()).toEqual(["service.log", "service.log.1", "service.log.2.gz"]);
      expect(await readFile(`${log}.1`, "utf8")).toContain("/__svc__/openapi.json");
    }
    run.child.kill("SIGTERM");
    expect(await run.ended).toBe(0);
  });

  it("have a compose file that fits its configuration and the one of nginx", async () => {
    const { services, secrets, volumes, networks } = parse(await read("examples/compose/compose.yaml")) as {
      services: Readonly<Record<"fileferry" | "nginx" | "redis", Service>>;
      secrets: object;
      volumes: object;
      networks: { inner: { internal: boolean; ipam: { config: readonly { subnet: string }[] } } };
    };
    const { fileferry, nginx, redis } = services;
    expect(await findCommandLineFault(fileferry.command ?? [])).toBeUndefined();
    expect(fileferry).toMatchObject({ read_only: true, user: "1000:1000", cap_drop: ["ALL"], secrets: ["links"] });
    expect(networks.inner.internal).toBe(true);
    expect([Object.keys(secrets), Object.keys(volumes)]).toEqual([["links"], ["files", "sessions"]]);
    expect(redis.command).toEqual(expect.arrayContaining(["--maxmemory-policy", "noeviction"]));
    expect(nginx.volumes).toContain("files:/srv/files:ro");
    // A change of the accounts replaces their file, which a container with the file alone would not see.
    expect(fileferry.volumes).toEqual(["./etc:/etc/fileferry", "files:/files"]);

    const folder = await mkdtemp(join(tmpdir(), "fileferry-compose-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    await copyFile(join(projectFolder, "examples/compose/etc/fileferry.yaml"), join(folder, "fileferry.yaml"));
    const file = join(folder, "fileferry.yaml");
    await writeFile(join(folder, "links.txt"), "x".repeat(44));
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replace("/run/secrets/links", "links.txt"));
    const config = await readConfig(file);
    const conf = await read("examples/compose/nginx.conf");
    expect(conf).toContain(`server fileferry:${config.listen?.port};`);
    expect(config.offload).toMatchObject({ type: "nginx", prefix: "/protected/" });
    expect(conf).toContain("location /protected/ {");
    const { inner } = nginx.networks as { inner: { ipv4_address: string } };
    expect(config.trustedProxies).toEqual([inner.ipv4_address]);
    expect(config.session?.store).toBe("redis://redis:6379/0");
  });

  it("have a policy for reports, and say where the project is", async () => {
    const { repository, bugs, homepage } = JSON.parse(await read("package.json"));
    for (const url of [repository.url, bugs, homepage]) expect(url).toContain("https://github.com/");
    expect(await read("SECURITY.md")).toContain("90 days");
    expect(await read("docs/releasing.md")).toContain("## What stays stable in 0.x");
  });

  it("publish to npm and JSR by the identity of a workflow alone", async () => {
    const { jobs } = parse(await read(".github/workflows/publish.yml"));
    for (const job of [jobs.publish, jobs.jsr])
      expect(job.permissions).toEqual({ contents: "read", "id-token": "write" });
    expect(JSON.stringify(jobs)).toContain("npm publish --provenance");
    expect(JSON.stringify(jobs)).not.toContain("secrets.");
  });
});
