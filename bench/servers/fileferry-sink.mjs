// This project as a library, with one sink for its events: fileferry-sink.mjs <folder> <dist> <sink> [url]

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { announce } from "./shared.mjs";

const [folder, dist, kind, url] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(dist, path)).href);
const { createAccountsAuthenticator, createFileService, createWebhookSink } = await load("index.js");
const { createNodeServer } = await load("node.js");
const { createDiskStorage } = await load("storage/disk.js");

/** Made once: how long a sink itself takes is not what is measured. */
const failure = new Error("This sink fails.");
const SINKS = {
  none: () => [],
  takes: () => () => undefined,
  hangs: () => () => new Promise(() => undefined),
  slow: () => () => new Promise((resolve) => setTimeout(resolve, 1000)),
  throws: () => () => {
    throw failure;
  },
  webhook: () => createWebhookSink({ url }),
};

const account = { username: "bench", password: "bench", home_folder_path: "/" };
const service = createFileService({
  storage: createDiskStorage({ root: folder }),
  authentication: createAccountsAuthenticator({ accounts: [account] }),
  onEvent: SINKS[kind](),
});
announce(createNodeServer(service));
