/** Node's part of the package: the service on `node:http`, `node:https`, Express and Connect. */

export { type AccountsFileOptions, createAccountsFileAuthenticator } from "./auth/accounts-file-node.ts";
export { createNodePasswordHasher } from "./auth/password-hash-node.ts";
export {
  type NodeListener,
  type NodeListenerOptions,
  type NodeMiddleware,
  toNodeListener,
  toNodeMiddleware,
} from "./runtimes/node.ts";
export { toConnection as toNodeConnection } from "./runtimes/node-connection.ts";
export { type FetchHandler, type FetchHandlerOptions, toFetchHandler } from "./runtimes/node-fetch.ts";
export { prepareNodeServer } from "./runtimes/node-host-server.ts";
export {
  closeNodeServer,
  createNodeServer,
  type NodeServerEnd,
  type NodeServerOptions,
  type NodeTlsOptions,
} from "./runtimes/node-server.ts";
export type { Variant } from "./runtimes/request-handler.ts";
export { createNdjsonSink, type NdjsonSinkOptions } from "./sinks/node-ndjson.ts";
