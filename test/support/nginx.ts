import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectFolder } from "./built.ts";
import { makeCertificate } from "./certificates.ts";
import { standBetween } from "./openapi/between.ts";

const ACCESS_LOG = "access.log";
const PLAIN_SOCKET = "plain.sock";
const BINARIES = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx", "/opt/homebrew/bin/nginx"];

/** Why there is no nginx to test with; `undefined` where there is one. In continuous integration it is a failure. */
export function findMissingNginx(): string | undefined {
  if (findNginx() !== undefined) return undefined;
  const reason = "nginx is not installed";
  if (process.env.CI) throw new Error(reason);
  return reason;
}

function findNginx(): string | undefined {
  return BINARIES.find((path) => existsSync(path));
}

/** The examples of a configuration, each with the addresses of services that it names. */
const upstreams = {
  nginx: ["127.0.0.1:8080"],
  offload: ["127.0.0.1:8080"],
  cluster: ["127.0.0.1:8081", "127.0.0.1:8082"],
  compose: ["fileferry:8080"],
} as const;
type Example = keyof typeof upstreams;

/** nginx as an example has it, in front of a service. */
export interface Nginx {
  readonly port: number;
  readonly origin: string;
  /** The socket at which the examples `nginx` and `offload` listen without TLS. */
  readonly plainSocket: string;
  /** The certificate that it shows, for clients that trust it. */
  readonly certificate: string;
  /** What it has written to its log of errors. */
  log(): string;
  /** What the examples `nginx` and `offload` have written to its log of requests. */
  accessLog(): Promise<string>;
  stop(): Promise<void>;
}

/** Returns a port of the loopback on which nothing listens. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/**
 * Starts nginx between a port and those of services, as `examples/nginx` has it or another example, with a certificate
 * of its own. `changes` are made in the configuration, each of a text to another.
 */
export async function startNginx(
  port: number,
  servicePorts: readonly number[],
  example: Example = "nginx",
  changes: readonly (readonly [from: string, to: string])[] = [],
): Promise<Nginx> {
  const binary = findNginx() ?? "nginx";
  standBetween(port, { isNginx: true });
  const folder = await mkdtemp(join(tmpdir(), "fileferry-nginx-"));
  makeCertificate(folder, { subject: "/CN=files.example", altNames: "IP:127.0.0.1,DNS:fileferry" });
  await writeFile(
    join(folder, "nginx.conf"),
    await toConfiguration({ folder, binary, port, servicePorts, example, changes }),
  );
  const globals = `daemon off; pid ${folder}/nginx.pid; error_log stderr warn;${process.getuid?.() === 0 ? " user root;" : ""}`;
  const args = ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", "stderr", "-g", globals];
  const child = spawn(binary, args, { stdio: ["ignore", "ignore", "pipe"] });
  const exited = once(child, "exit");
  let printed = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  await waitForPort(port, () => child.exitCode !== null).catch(() => {
    throw new Error(`nginx does not answer: ${printed}`);
  });
  return {
    port,
    origin: `https://127.0.0.1:${port}`,
    plainSocket: join(folder, PLAIN_SOCKET),
    certificate: await readFile(join(folder, "cert.pem"), "utf8"),
    log: () => printed,
    accessLog: () => readFile(join(folder, ACCESS_LOG), "utf8"),
    async stop() {
      child.kill("SIGTERM");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Places {
  readonly folder: string;
  readonly binary: string;
  readonly port: number;
  readonly servicePorts: readonly number[];
  readonly example: Example;
  readonly changes: readonly (readonly [from: string, to: string])[];
}

/**
 * Returns the example's configuration with the ports, keys and folders of this test. Every user may write to the
 * folders.
 */
async function toConfiguration({ folder, binary, port, servicePorts, example, changes }: Places): Promise<string> {
  const written = await readFile(join(projectFolder, "examples", example, "nginx.conf"), "utf8");
  const { stderr } = spawnSync(binary, ["-V"], { encoding: "utf8" });
  const isLogged = example === "nginx" || example === "offload";
  const names = [...stderr.matchAll(/--http-([a-z-]+)-temp-path=/g)].map(([, name = ""]) => name.replaceAll("-", "_"));
  const places = names.map((name) => `    ${name}_temp_path ${folder}/${name};\n`).join("");
  return [
    ["worker_processes auto;", "worker_processes 1;"],
    ["http {\n", `http {\n${isLogged ? "" : "    access_log off;\n"}${places}`],
    ...(isLogged ? [["/var/log/nginx/access.log", `${folder}/${ACCESS_LOG}`]] : []),
    ...upstreams[example].map((address, index) => [address, `127.0.0.1:${servicePorts[index]}`]),
    ...(isLogged ? [["listen 80;", `listen unix:${folder}/${PLAIN_SOCKET};`]] : []),
    ["listen 443 ssl", `listen 127.0.0.1:${port} ssl`],
    ["/etc/ssl/files.example.pem", `${folder}/cert.pem`],
    ["/etc/ssl/files.example.key", `${folder}/key.pem`],
    ...changes,
  ].reduce((text, [from = "", to = ""]) => {
    if (!text.includes(from)) throw new Error(`examples/${example}/nginx.conf has no ${from}`);
    return text.replace(from, to);
  }, written);
}

async function waitForPort(port: number, hasEnded: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200 && !hasEnded(); tries++) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await new Promise((resolve) => {
      socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("nobody listens");
}
