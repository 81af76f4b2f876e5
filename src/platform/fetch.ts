/**
 * The fetch API that the core builds with: a light implementation on Node, the platform's own elsewhere. The
 * one place that decides it (docs/decisions/0002-fetch-api.md).
 */
export { Headers, Request, Response } from "@whatwg-node/fetch";
