/** Deno's part of the package: the service on `Deno.serve`. */

export { type DenoHandler, type DenoHandlerOptions, type DenoServeInfo, toDenoHandler } from "./runtimes/deno.ts";
export type { Api } from "./runtimes/request-handler.ts";
