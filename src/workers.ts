/** The part of the package for Cloudflare Workers: the service in the module syntax. */

export type { Api } from "./contracts/file-service.ts";
export {
  type ToService,
  toWorkerHandler,
  type WorkersContext,
  type WorkersHandler,
  type WorkersHandlerOptions,
} from "./runtimes/workers.ts";
