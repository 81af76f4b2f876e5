/** Node's part of the package: the service on `node:http`, `node:https`, Express and Connect. */

export { type AccountsFileOptions, createAccountsFileAuthenticator } from "./auth/accounts/accounts-file-node.ts";
export { createNodePasswordHasher } from "./auth/passwords/hash-node.ts";
export type { Api } from "./contracts/file-service.ts";
export { toConnection as toNodeConnection } from "./runtimes/node/connection-info.ts";
export { type FetchHandler, type FetchHandlerOptions, toFetchHandler } from "./runtimes/node/fetch-handler.ts";
export { prepareNodeServer } from "./runtimes/node/prepare-server.ts";
export {
  type CloseNodeServerOptions,
  closeNodeServer,
  createNodeServer,
  type NodeServerOptions,
  type NodeTlsOptions,
} from "./runtimes/node/server.ts";
export {
  type NodeListener,
  type NodeListenerOptions,
  type NodeMiddleware,
  toNodeListener,
  toNodeMiddleware,
} from "./runtimes/node.ts";
export { createNdjsonSink, type NdjsonSinkOptions } from "./sinks/ndjson-node.ts";
export { type ClamdOptions, createClamdGuard } from "./uploads/clamd-guard-node.ts";
