/**
 *     npm ci && npm run build && mkdir -p files
 *     FOLDER=./files PORT=8080 node examples/node/server.ts
 *
 * This command needs Node 22.18 or newer, which runs TypeScript.
 */
import type { AddressInfo } from "node:net";
import { createApiPage } from "fileferry/api-page";
import { closeNodeServer, createNodePasswordHasher, createNodeServer } from "fileferry/node";
import { createDiskStorage } from "fileferry/storage/disk";
import { createExampleService } from "../service.ts";

const { FOLDER = "./files", PORT = "8080" } = process.env;

const service = createExampleService({
  storage: createDiskStorage({ root: FOLDER }),
  hasher: createNodePasswordHasher(),
  apiPage: createApiPage(),
  onEvent: (event) => process.stdout.write(`${JSON.stringify(event)}\n`),
});

const server = createNodeServer(service);
server.listen(Number(PORT), "127.0.0.1", () => {
  process.stdout.write(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/\n`);
});
process.once("SIGTERM", () => closeNodeServer(server));
