/** Bun's part of the package: the service on `Bun.serve`. */

export type { Api } from "./contracts/file-service.ts";
export {
  type BunHandler,
  type BunHandlerOptions,
  type BunServe,
  type BunServeOptions,
  type BunServer,
  toBunHandler,
  toBunServeOptions,
} from "./runtimes/bun.ts";
