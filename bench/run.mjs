// All servers over all workloads, in turn: npm run bench -- [--quick] [--only get-1k,put-1g] [--servers fileferry,bare-tuned] [--rounds 3]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { createCatalog } from "./lib/catalog.mjs";
import { makeFixtures } from "./lib/fixtures.mjs";
import { measure } from "./lib/measure.mjs";
import { createWorkloads } from "./workloads.mjs";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    servers: { type: "string" },
    rounds: { type: "string", default: "3" },
    dist: { type: "string", default: "dist" },
    "node-args": { type: "string" },
  },
});
const only = options.only?.split(",");
const wanted = options.servers?.split(",");
const workloads = createWorkloads(options.quick).filter(({ id }) => only?.includes(id) ?? true);
const servers = createCatalog(resolve(options.dist), options["node-args"]?.split(" ")).filter(
  ({ id }) => wanted?.includes(id) ?? true,
);
const folder = mkdtempSync(join(tmpdir(), "fileferry-bench-"));

try {
  makeFixtures(folder, workloads);
  for (const workload of workloads) {
    process.stdout.write(`\n${workload.title}\n`);
    for (let round = 0; round < Number(options.rounds); round += 1) {
      for (const server of servers) {
        const r = await measure(server, workload, folder).catch((error) => ({ error: error.message }));
        process.stdout.write(`${server.id} ${JSON.stringify(r)}\n`);
      }
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
