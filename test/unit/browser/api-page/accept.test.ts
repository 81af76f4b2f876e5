import { describe, expect, it } from "vitest";
import { findAcceptedType } from "../../../../src/browser/api-page/accept.ts";

const JSON_CONTENT = { content: { "application/json": {} } };
const DESCRIPTION = {
  paths: {
    "/page": { get: { responses: { 401: JSON_CONTENT, 200: { content: { "text/html": {} } } } } },
    "/home/": {
      get: { responses: { 200: { content: { "text/html": {}, "application/json": {} } } } },
      put: { responses: { 400: JSON_CONTENT, 201: {} } },
      post: { responses: { 400: { content: { "text/plain": {} } }, 200: { $ref: "#/components/responses/Done" } } },
      delete: { responses: { 204: {}, default: { $ref: "#/components/responses/Missing" } } },
    },
  },
  components: { responses: { Done: JSON_CONTENT } },
};

describe("findAcceptedType", () => {
  it.each([
    ["/home/", "get", "application/json"],
    ["/page", "get", "text/html"],
    ["/home/", "put", "application/json"],
    ["/home/", "post", "application/json"],
    ["/home/", "delete", undefined],
    ["/home/", "patch", undefined],
    ["/other", "get", undefined],
  ])("asks at %s, %s for %s", (path, method, type) => {
    expect(findAcceptedType(DESCRIPTION, path, method)).toBe(type);
  });
});
