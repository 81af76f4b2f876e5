import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectFolder } from "../../support/built.ts";
import { makeCertificate } from "../../support/certificates.ts";
import { standBetween } from "../../support/openapi/between.ts";

const BINARY = "/usr/sbin/apache2";
const MODULES = "/usr/lib/apache2/modules";
const LOADED = ["mpm_event", "authz_core", "headers", "proxy", "proxy_http", "socache_shmcb", "ssl", "xsendfile"];

/** Why there is no Apache with mod_xsendfile to test with; `undefined` if there is. In CI it is a failure. */
export function findMissingApache(): string | undefined {
  if (existsSync(BINARY) && existsSync(`${MODULES}/mod_xsendfile.so`)) return undefined;
  const reason = "Apache with mod_xsendfile is not installed";
  if (process.env.CI) throw new Error(reason);
  return reason;
}

/** Apache as the example has it, in front of a service. */
export interface Apache {
  readonly port: number;
  readonly origin: string;
  readonly certificate: string;
  stop(): Promise<void>;
}

/** Starts Apache between a port and that of a service, as `examples/offload` has it, with the files of `root`. */
export async function startApache(port: number, servicePort: number, root: string): Promise<Apache> {
  standBetween(port, { isNginx: true });
  const folder = await mkdtemp(join(tmpdir(), "fileferry-apache-"));
  makeCertificate(folder, { subject: "/CN=files.example", altNames: "IP:127.0.0.1" });
  // Where it is started by root it serves as another account.
  await chmod(folder, 0o755);
  const example = (await readFile(join(projectFolder, "examples/offload/apache.conf"), "utf8"))
    .replace("*:443", `127.0.0.1:${port}`)
    .replace("127.0.0.1:8080", `127.0.0.1:${servicePort}`)
    .replace("/etc/ssl/files.example.pem", `${folder}/cert.pem`)
    .replace("/etc/ssl/files.example.key", `${folder}/key.pem`)
    .replace("XSendFilePath /srv/files", `XSendFilePath "${root}"`);
  const account = process.getuid?.() === 0 ? "User www-data\nGroup www-data\n" : "";
  const configuration = `${LOADED.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`).join("\n")}
ServerName 127.0.0.1
ServerRoot ${folder}
DefaultRuntimeDir ${folder}
PidFile ${folder}/apache.pid
ErrorLog ${folder}/error.log
Listen 127.0.0.1:${port}
${account}${example}`;
  await writeFile(join(folder, "apache.conf"), configuration);
  const child = spawn(BINARY, ["-f", join(folder, "apache.conf"), "-D", "FOREGROUND"], { stdio: "pipe" });
  const exited = once(child, "exit");
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
  }
  if (!(await isListening(port, () => child.exitCode !== null))) throw new Error(`Apache does not answer: ${printed}`);
  return {
    port,
    origin: `https://127.0.0.1:${port}`,
    certificate: await readFile(join(folder, "cert.pem"), "utf8"),
    async stop() {
      child.kill("SIGTERM");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function isListening(port: number, hasEnded: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < 200 && !hasEnded(); tries += 1) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await new Promise((resolve) => {
      socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}
