/** Deno's part of the package: the service on `Deno.serve`. */

export type { Api } from "./contracts/file-service.ts";
export { type DenoHandler, type DenoHandlerOptions, type DenoServeInfo, toDenoHandler } from "./runtimes/deno.ts";
