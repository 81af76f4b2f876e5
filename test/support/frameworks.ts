import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensureBuilt, projectFolder } from "./built.ts";
import { standBetween } from "./openapi/between.ts";

/** Where the examples for frameworks are. */
export const frameworksFolder = join(projectFolder, "examples/frameworks");

const modulesFolder = join(frameworksFolder, "node_modules");

/**
 * Why nothing can be tried here; `undefined` if all is installed. In continuous integration what is missing is a
 * failure.
 */
export function findMissing(): string | undefined {
  const { dependencies } = JSON.parse(readFileSync(join(frameworksFolder, "package.json"), "utf8"));
  const missing = Object.keys(dependencies).find((name) => !existsSync(join(modulesFolder, name)));
  if (missing === undefined) return undefined;
  const reason = `examples/frameworks/node_modules has no ${missing}: npm ci --prefix examples/frameworks`;
  if (process.env.CI) throw new Error(reason);
  return reason;
}

/** A process that serves, its folder, and what it has printed. */
export interface FrameworkHost {
  readonly name: string;
  readonly pid: number | undefined;
  readonly port: number;
  readonly origin: string;
  /** The folder that it serves. */
  readonly root: string;
  /** All that it has written to its log. */
  log(): string;
  stop(): Promise<void>;
}

/** Builds the package, and lets the examples find it by its name. */
export async function prepareFrameworks(): Promise<void> {
  await ensureBuilt();
  await promisify(execFile)(process.execPath, [join(frameworksFolder, "link.mjs")]);
}

/** Starts an example by its name. */
export async function startFramework(name: string): Promise<FrameworkHost> {
  return startHost(name, [join(projectFolder, "test/support/frameworks/host.mjs"), name]);
}

/**
 * Starts a script that stands where the frameworks are found. Its last argument is the folder; it prints `Listening on
 * <port>`.
 */
export async function startScript(name: string, text: string): Promise<FrameworkHost> {
  return startHost(name, ["--input-type=module", "--eval", text]);
}

async function startHost(name: string, args: readonly string[]): Promise<FrameworkHost> {
  const root = await mkdtemp(join(tmpdir(), "fileferry-framework-"));
  const child = spawn(process.execPath, [...args, root], { cwd: frameworksFolder, stdio: ["ignore", "pipe", "pipe"] });
  const exited = once(child, "exit");
  let printed = "";
  const port = await new Promise<number>((resolve, reject) => {
    const take = (text: string): void => {
      printed += text;
      const [, found] = /^Listening on (\d+)$/m.exec(printed) ?? [];
      if (found !== undefined) resolve(Number(found));
    };
    child.stdout.setEncoding("utf8").on("data", take);
    child.stderr.setEncoding("utf8").on("data", take);
    void exited.then(() => reject(new Error(`${name} ended: ${printed}`)));
  });
  standBetween(port, { adds: ["express", "nest"].includes(name.toLowerCase()) ? ["x-powered-by"] : [] });
  return {
    name,
    pid: child.pid,
    port,
    origin: `http://127.0.0.1:${port}`,
    root,
    log: () => printed,
    async stop() {
      child.kill("SIGKILL");
      await exited;
      await rm(root, { recursive: true, force: true });
    },
  };
}
