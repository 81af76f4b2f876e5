import { describe, expect, it } from "vitest";
import { createBodyReadError, isBodyRead, isBodyReadError } from "../../../src/http/body-already-read.ts";

describe("the error of a body that was read by somebody else", () => {
  it("says what to do about it", () => {
    expect(createBodyReadError().message).toBe(
      "The request's body was read before it reached the service: mount the service before body parsers",
    );
  });

  it.each([
    ["of this package", createBodyReadError(), true],
    ["of another copy", Object.assign(new Error("read"), { code: "ERR_BODY_CONSUMED" }), true],
    ["with another code", Object.assign(new Error("read"), { code: "ECONNRESET" }), false],
    ["without a code", new Error("read"), false],
    ["that is no error", { code: "ERR_BODY_CONSUMED" }, false],
    ["that is nothing", undefined, false],
  ])("is told apart: one %s", (_what, error, isOne) => {
    expect(isBodyReadError(error)).toBe(isOne);
  });
});

describe("a request's body", () => {
  it.each<[state: string, body: object | null, bodyUsed: boolean, fields: Record<string, string>, consumed: boolean]>([
    ["read", { locked: false }, true, {}, true],
    ["being read", { locked: true }, false, {}, true],
    ["still there", { locked: false }, false, { "content-length": "3" }, false],
    ["still there, of a kind that has no locks", {}, false, { "transfer-encoding": "chunked" }, false],
    ["left out", null, false, { "content-length": "3" }, true],
    ["left out", null, false, { "transfer-encoding": "chunked" }, true],
    ["empty", null, false, { "content-length": "0" }, false],
    ["absent", null, false, {}, false],
  ])("that is %s: %j, used %s, with %j", (_state, body, bodyUsed, fields, consumed) => {
    expect(isBodyRead({ body, bodyUsed, headers: new Headers(fields) } as Request)).toBe(consumed);
  });
});
