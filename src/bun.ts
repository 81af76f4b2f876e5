/** Bun's part of the package: the service on `Bun.serve`. */

export {
  type BunHandler,
  type BunHandlerOptions,
  type BunServe,
  type BunServeOptions,
  type BunServer,
  toBunHandler,
  toBunServeOptions,
} from "./runtimes/bun.ts";
export type { Api } from "./runtimes/request-handler.ts";
