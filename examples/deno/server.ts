/**
 *     npm ci && npm run build && mkdir -p files
 *     FOLDER=./files PORT=8080 deno run --allow-net --allow-env -R -W --allow-sys examples/deno/server.ts
 */
import { env } from "node:process";
import { type DenoHandler, toDenoHandler } from "fileferry/deno";
import { createNodePasswordHasher } from "fileferry/node";
import { createDiskStorage } from "fileferry/storage/disk";
import { createExampleService } from "../service.ts";

/** What is used of Deno's own types. */
declare const Deno: {
  serve(
    options: { hostname: string; port: number; onListen(address: { port: number }): void },
    handler: DenoHandler,
  ): { shutdown(): Promise<void> };
  addSignalListener(signal: "SIGTERM", handler: () => void): void;
};

const { FOLDER = "./files", PORT = "8080" } = env;

const service = createExampleService({
  storage: createDiskStorage({ root: FOLDER }),
  hasher: createNodePasswordHasher(),
  // biome-ignore lint/suspicious/noConsole: its standard output.
  onEvent: (event) => console.log(JSON.stringify(event)),
});

const server = Deno.serve(
  {
    hostname: "127.0.0.1",
    port: Number(PORT),
    // biome-ignore lint/suspicious/noConsole: its standard output.
    onListen: ({ port }) => console.log(`Listening on http://127.0.0.1:${port}/`),
  },
  toDenoHandler(service),
);
Deno.addSignalListener("SIGTERM", () => server.shutdown());
