/**
 * The fetch API of the core: a ponyfill on Node, the platform's own elsewhere. Only this file decides that
 * (docs/decisions/0002-fetch-api.md).
 */
export { Headers, Request, Response } from "@whatwg-node/fetch";
