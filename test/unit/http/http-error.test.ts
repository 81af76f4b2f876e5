import { expect, it } from "vitest";
import { HttpError, isHttpError } from "../../../src/http/http-error.ts";

it.each([
  ["is one", new HttpError("denied", "No."), true],
  [
    "of another copy of this package is one",
    Object.assign(new Error("No."), { name: "HttpError", failure: "denied" }),
    true,
  ],
  ["without a failure is none", Object.assign(new Error("No."), { name: "HttpError" }), false],
  ["of another name is none", Object.assign(new Error("No."), { failure: "denied" }), false],
  ["that is no error is none", { name: "HttpError", failure: "denied" }, false],
  ["that is a text is none", "HttpError", false],
  ["that is nothing is none", undefined, false],
])("a failure %s", (_what, error, isOne) => {
  expect(isHttpError(error)).toBe(isOne);
});
