/**
 * A Worker for `wrangler dev examples/workers/worker.ts`, without `nodejs_compat`. Its files are in the memory of one
 * isolate, so use it only to try the service out.
 */
import { createMemoryStorage } from "fileferry/storage/memory";
import { toWorkerHandler } from "fileferry/workers";
import { createExampleService } from "../service.ts";

export default toWorkerHandler(() =>
  createExampleService({
    storage: createMemoryStorage(),
    // biome-ignore lint/suspicious/noConsole: the log of a Worker.
    onEvent: (event) => console.log(JSON.stringify(event)),
  }),
);
