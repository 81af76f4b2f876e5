import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

/** Where a store answers, and the keys of its only user. */
export interface S3Access {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const run = promisify(execFile);

/** How a gateway is reached. Default: a free port, and a new secret key. */
export interface GatewayOptions {
  readonly port?: number;
  readonly accessKeyId?: string;
  readonly secretAccessKey?: string;
}

/**
 * Starts the object gateway of Ceph with one monitor and one storage daemon that keeps all in memory: 12 to 19 seconds
 * and 250 MB. They listen on loopback only and run on in the background; `stopGateway` ends them.
 */
export async function startGateway(folder: string, options: GatewayOptions = {}): Promise<S3Access> {
  for (const name of ["mon", "osd", "run", "log"]) await mkdir(join(folder, name), { recursive: true });
  const [freePort = 0, newPort = 0, oldPort = 0] = await findPorts(3);
  const { port = freePort, accessKeyId = "TESTS", secretAccessKey = randomUUID() } = options;
  const addresses = `[v2:127.0.0.1:${newPort},v1:127.0.0.1:${oldPort}]`;
  const cluster = randomUUID();
  const config = join(folder, "ceph.conf");
  await writeFile(config, toConfig({ folder, cluster, addresses, port }));

  await daemon(
    "monmaptool",
    "--create",
    "--clobber",
    "--fsid",
    cluster,
    "--addv",
    "a",
    addresses,
    join(folder, "monmap"),
  );
  await daemon("ceph-mon", "--mkfs", "-i", "a", "--monmap", join(folder, "monmap"), "-c", config);
  await daemon("ceph-mon", "-i", "a", "-c", config);
  await run("ceph", ["-c", config, "osd", "new", randomUUID()]);
  const { stdout } = await run("ceph", ["-c", config, "osd", "dump", "--format", "json"]);
  const [disk] = (JSON.parse(stdout) as { osds: { uuid: string }[] }).osds;
  await daemon("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", disk?.uuid ?? "", "-c", config);
  await run("ceph", ["-c", config, "osd", "crush", "add", "osd.0", "1.0", "host=h", "root=default"]);
  await daemon("ceph-osd", "-i", "0", "-c", config);
  await daemon("radosgw", "-n", "client.rgw.a", "-c", config);

  const access = { endpoint: `http://127.0.0.1:${port}`, accessKeyId, secretAccessKey };
  await waitForAnswer(access.endpoint);
  const keys = [`--access-key=${access.accessKeyId}`, `--secret=${access.secretAccessKey}`];
  await run("radosgw-admin", ["-c", config, "user", "create", "--uid=tests", "--display-name=tests", ...keys]);
  return access;
}

/** Ends the processes that were started with a folder. */
export async function stopGateway(folder: string): Promise<void> {
  const files = await readdir(join(folder, "run")).catch(() => []);
  for (const file of files.filter((name) => name.endsWith(".pid"))) {
    const pid = Number(await readFile(join(folder, "run", file), "utf8"));
    try {
      if (pid > 1) process.kill(pid, "SIGKILL");
    } catch {
      // It has ended already.
    }
  }
}

/** Runs what goes into the background: its output is not waited for, since the daemon would hold it open. */
async function daemon(command: string, ...args: readonly string[]): Promise<void> {
  const [status] = await once(spawn(command, args, { stdio: "ignore" }), "exit");
  if (status !== 0) throw new Error(`${command} ended with ${status}.`);
}

async function waitForAnswer(url: string): Promise<void> {
  for (const deadline = Date.now() + 90_000; ; ) {
    const response = await fetch(url).catch(() => undefined);
    await response?.text();
    if (response !== undefined) return;
    if (Date.now() > deadline) throw new Error("The object gateway does not answer.");
    await delay(100);
  }
}

async function findPorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports;
}

interface GatewayConfig {
  readonly folder: string;
  readonly cluster: string;
  readonly addresses: string;
  readonly port: number;
}

function toConfig({ folder, cluster, addresses, port }: GatewayConfig): string {
  return `[global]
fsid = ${cluster}
mon host = ${addresses}
mon initial members = a
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
auth allow insecure global id reclaim = false
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pg autoscale mode = off
mon allow pool size one = true
mon max pg per osd = 1000
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 4294967296
osd memory target = 939524096
osd max object name len = 1024
run dir = ${folder}/run
log file = ${folder}/log/$name.log
admin socket = ${folder}/run/$name.asok
pid file = ${folder}/run/$name.pid
mon data = ${folder}/mon
osd data = ${folder}/osd
debug mon = 0
debug osd = 0
debug ms = 0
debug memstore = 0
osd enable op tracker = false
[client.rgw.a]
debug rgw = 0
debug objecter = 0
rgw override bucket index max shards = 1
rgw dynamic resharding = false
rgw frontends = beast endpoint=127.0.0.1:${port} tcp_nodelay=1
rgw enable usage log = false
ms mon client mode = crc
ms client mode = crc
`;
}
