import { describe, expect, it } from "vitest";
import { describeThrown } from "../../../../src/remote-auth/endpoint/safe-error.ts";
import type { AuthenticationRequest } from "../../../../src/schemas/remote-auth.ts";

const UUID = "cc5c804d-0a3c-4c4c-b651-eba6fc3b5902";

function describeOf(thrown: unknown, content = "s3cret"): unknown {
  const request: AuthenticationRequest = {
    credentials: {
      type: "password",
      username: "alice",
      content,
      peer: { address: "192.0.2.1", port: 40_000, family: "IPv4", protocol: "TCP" },
      creator: { uuid: UUID, type: "https" },
    },
    server: { uuid: UUID },
  };
  return describeThrown(thrown, request);
}

/** An error with a text alone, as the log has it. */
function told(message: string, causes?: readonly object[]): object {
  return { name: "Error", message, stack: expect.stringContaining(message), ...(causes && { causes }) };
}

function aggregate(message: string, causes: readonly object[]): object {
  return { ...told(message, causes), name: "AggregateError" };
}

/** A text that was thrown, likewise. */
function text(message: string): object {
  return { name: "string", message };
}

/** Errors of which each is the cause of the one before. */
function chain(messages: readonly string[]): Error {
  const [message = "", ...others] = messages;
  return others.length === 0 ? new Error(message) : new Error(message, { cause: chain(others) });
}

describe("the errors in the log of an authentication endpoint", () => {
  it.each<[string, unknown, object]>([
    ["an error", new Error("down"), told("down")],
    [
      "an error of the system",
      Object.assign(new Error("down"), { code: "ECONNREFUSED" }),
      { ...told("down"), code: "ECONNREFUSED" },
    ],
    ["an error with a number", Object.assign(new Error("down"), { code: 49 }), { ...told("down"), code: "49" }],
    ["an error with a code of another kind", Object.assign(new Error("down"), { code: { no: 1 } }), told("down")],
    ["an error with a cause", new TypeError("x", { cause: "y" }), { ...told("x", [text("y")]), name: "TypeError" }],
    ["several errors", new AggregateError(["a", "b"], "all"), aggregate("all", [text("a"), text("b")])],
    [
      "a crowd of errors, the first eight of them",
      new AggregateError([..."0123456789"], "all"),
      aggregate("all", [..."01234567"].map(text)),
    ],
    ["errors that are no list", Object.assign(new Error("x"), { errors: "y" }), told("x")],
    ["an object that has no text", { password: "x" }, { name: "object", message: "" }],
    ["an object of other texts", { name: 1, message: ["x"], stack: 2 }, { name: "object", message: "" }],
    ["a text", "down", text("down")],
    ["a number", 5, { name: "number", message: "5" }],
    ["a symbol", Symbol("down"), { name: "symbol", message: "Symbol(down)" }],
    ["nothing", undefined, { name: "undefined", message: "undefined" }],
    ["null", null, { name: "object", message: "null" }],
    [
      "an object that cannot be read",
      new Proxy({}, { get: () => expect.fail("no") }),
      { name: "Error", message: "withheld because it cannot be read" },
    ],
  ])("%s is texts alone", (_what, thrown, expected) => {
    expect(describeOf(thrown)).toStrictEqual(expected);
  });

  it("a long chain of causes is the first four of them", () => {
    const [a, b, c, d, e] = ["a1", "b2", "c3", "d4", "e5"];
    const expected = told(a, [told(b, [told(c, [told(d, [told(e)])])])]);
    expect(describeOf(chain([a, b, c, d, e, "f6", "g7"]))).toStrictEqual(expected);
  });

  it("an error that is its own cause ends, too", () => {
    const error = new Error("again");
    error.cause = error;
    const expected = told("again", [told("again", [told("again", [told("again", [told("again")])])])]);
    expect(describeOf(error)).toStrictEqual(expected);
  });

  it("an error is whole where the secret comes about only between two of its texts", () => {
    const error = { name: "LdapError", message: "1 of 2 is down" };
    expect(describeOf(error, "Error1")).toStrictEqual(error);
  });
});
