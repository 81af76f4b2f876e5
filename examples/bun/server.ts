/**
 *     npm ci && npm run build && mkdir -p files
 *     FOLDER=./files PORT=8080 bun examples/bun/server.ts
 */
import { env } from "node:process";
import { type BunServe, toBunServeOptions } from "fileferry/bun";
import { createNodePasswordHasher } from "fileferry/node";
import { createDiskStorage } from "fileferry/storage/disk";
import { createExampleService } from "../service.ts";

/** What is used of Bun's own types. */
declare const Bun: {
  serve(options: { hostname: string; port: number } & BunServe): { readonly port: number };
};

const { FOLDER = "./files", PORT = "8080" } = env;

const service = createExampleService({
  storage: createDiskStorage({ root: FOLDER }),
  hasher: createNodePasswordHasher(),
  // biome-ignore lint/suspicious/noConsole: its standard output.
  onEvent: (event) => console.log(JSON.stringify(event)),
});

const { port } = Bun.serve({ hostname: "127.0.0.1", port: Number(PORT), ...toBunServeOptions(service) });
// biome-ignore lint/suspicious/noConsole: its standard output.
console.log(`Listening on http://127.0.0.1:${port}/`);
