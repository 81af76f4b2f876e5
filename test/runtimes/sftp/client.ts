import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import ssh2, { type Client, type ConnectConfig, type SFTPWrapper } from "ssh2";

/** Why OpenSSH's client cannot be used; `undefined` where it can. */
export function findMissingTool(): string | undefined {
  return ["sftp", "scp", "ssh-keygen"].find((tool) => {
    try {
      execFileSync("sh", ["-c", `command -v ${tool}`], { stdio: "ignore" });
      return false;
    } catch {
      return true;
    }
  });
}

/** A key pair in a file, made by `ssh-keygen`. */
export interface KeyFile {
  readonly path: string;
  /** As it stands in `authorized_keys`, without a comment. */
  readonly publicKey: string;
}

export function makeKey(path: string, type = "ed25519"): KeyFile {
  // 3072 bits, the default of RSA, may take seconds to find.
  const size = type === "rsa" ? ["-b", "2048"] : [];
  execFileSync("ssh-keygen", ["-q", "-t", type, ...size, "-N", "", "-C", "", "-f", path]);
  return { path, publicKey: execFileSync("ssh-keygen", ["-y", "-f", path], { encoding: "utf8" }).trim() };
}

/** How `sftp` logs in. */
export interface Access {
  readonly port: number;
  readonly username: string;
  /** Paths of private keys, tried in this order. */
  readonly keys?: readonly string[];
  readonly password?: string;
}

/** What a run of `sftp` came to. */
export interface SftpRun {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts `sftp` on a batch of commands. */
export async function startSftp(
  folder: string,
  access: Access,
  commands: readonly string[],
  args: readonly string[] = [],
): Promise<ChildProcess> {
  const child = await start("sftp", folder, access, [...args, "-b", "-", `${access.username}@127.0.0.1`]);
  child.stdin?.end(commands.map((command) => `${command}\n`).join(""));
  return child;
}

/** Runs `sftp` to its end. A command that fails ends the batch, with status 1, unless it begins with `-`. */
export async function runSftp(folder: string, access: Access, commands: readonly string[]): Promise<SftpRun> {
  return toRun(await startSftp(folder, access, commands));
}

/** Runs `scp`, which speaks SFTP since OpenSSH 9. What begins with `:` is a path on the server. */
export async function runScp(folder: string, access: Access, args: readonly string[]): Promise<SftpRun> {
  const places = args.map((arg) => (arg.startsWith(":") ? `${access.username}@127.0.0.1${arg}` : arg));
  return toRun(await start("scp", folder, access, ["-s", ...places]));
}

async function start(
  tool: "sftp" | "scp",
  folder: string,
  { port, keys = [], password }: Access,
  args: readonly string[],
): Promise<ChildProcess> {
  const askpass = join(folder, "askpass.sh");
  await writeFile(askpass, '#!/bin/sh\nprintf "%s\\n" "$TEST_PASSWORD"\n');
  await chmod(askpass, 0o700);
  const options = {
    // The first one counts, and `-b` brings another.
    BatchMode: password === undefined ? "yes" : "no",
    ConnectTimeout: 10,
    GlobalKnownHostsFile: "/dev/null",
    IdentitiesOnly: "yes",
    IdentityAgent: "none",
    LogLevel: "ERROR",
    NumberOfPasswordPrompts: 1,
    PreferredAuthentications: password === undefined ? "publickey" : "password",
    StrictHostKeyChecking: "no",
    UserKnownHostsFile: "/dev/null",
  };
  const settings = Object.entries(options).map(([name, value]) => `-o${name}=${value}`);
  const identities = keys.flatMap((path) => ["-i", path]);
  const child = spawn(tool, ["-F", "/dev/null", ...settings, ...identities, "-P", `${port}`, ...args], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      LC_ALL: "C.UTF-8",
      TZ: "UTC",
      SSH_ASKPASS: askpass,
      SSH_ASKPASS_REQUIRE: "force",
      TEST_PASSWORD: password ?? "",
    },
  });
  child.stdin.on("error", () => undefined);
  return child;
}

async function toRun(child: ChildProcess): Promise<SftpRun> {
  let [stdout, stderr] = ["", ""];
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const [status] = await once(child, "close");
  return { status, stdout, stderr };
}

/** A client of ssh2 that has logged in, for what `sftp` cannot be made to send. */
export interface RawClient {
  readonly client: Client;
  readonly sftp: SFTPWrapper;
}

export async function connectRaw(config: ConnectConfig): Promise<RawClient> {
  const client = new ssh2.Client();
  const sftp = await new Promise<SFTPWrapper>((resolve, reject) => {
    client
      .on("ready", () => client.sftp((error, made) => (error ? reject(error) : resolve(made))))
      .on("error", reject)
      .on("close", () => reject(new Error("The connection was ended.")))
      .connect({ host: "127.0.0.1", ...config });
  });
  return { client, sftp };
}

/** Turns a callback of ssh2 into a promise. */
export function ask<T>(call: (done: (error?: Error | null, value?: T) => void) => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, value) => (error ? reject(error) : resolve(value as T)));
  });
}
