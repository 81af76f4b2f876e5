// Starts Ceph's object gateway with an empty bucket "files", to try the storage in: npm run ceph [-- --port 9000]
// Its content is kept in memory, and is gone with Ctrl-C. It needs Debian's packages radosgw, ceph-mon and ceph-osd.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { AwsClient } from "aws4fetch";
import { build } from "esbuild";

const { values } = parseArgs({ options: { port: { type: "string", default: "9000" } } });
const folder = await mkdtemp(join(tmpdir(), "fileferry-ceph-"));
const gateway = join(folder, "gateway.mjs");
await build({
  entryPoints: [fileURLToPath(new URL("../test/support/s3/gateway.ts", import.meta.url))],
  outfile: gateway,
  bundle: true,
  platform: "node",
  format: "esm",
});
const { startGateway, stopGateway } = await import(pathToFileURL(gateway).href);

const stop = async () => {
  await stopGateway(folder);
  await rm(folder, { recursive: true, force: true });
};
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop().then(() => process.exit(0)));

try {
  const keys = { accessKeyId: "CEPH", secretAccessKey: "CEPH" };
  const { endpoint } = await startGateway(folder, { port: Number(values.port), ...keys });
  const client = new AwsClient({ ...keys, service: "s3", region: "us-east-1" });
  const { ok, status } = await client.fetch(`${endpoint}/files`, { method: "PUT" });
  if (!ok) throw new Error(`The bucket was not created: ${status}.`);
  process.stdout.write(`The bucket "files" is at ${endpoint}; both keys are ${keys.accessKeyId}. Ctrl-C ends it.\n`);
  // The gateway runs in the background: this process waits for the signal that ends it.
  setInterval(() => undefined, 1 << 30);
} catch (error) {
  await stop();
  throw error;
}
