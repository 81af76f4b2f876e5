import { describe, expect, it } from "vitest";
import { readTrace } from "../../../src/http/trace-context.ts";

const identifiers = "0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7";
const traceparent = `00-${identifiers}-01`;

describe("the trace of a request (W3C Trace Context)", () => {
  it.each([
    traceparent,
    `00-${identifiers}-00`,
    `cc-${identifiers}-01`,
    `cc-${identifiers}-01-what-comes-later`,
    `cc-${identifiers}-01-${"x".repeat(200)}`,
  ])("is %s", (value) => {
    expect(readTrace(new Headers({ traceparent: value }))).toEqual({ traceparent: value });
  });

  it.each([
    "",
    `${traceparent}-more`,
    `${traceparent}0`,
    `cc-${identifiers}-01x`,
    `cc-${identifiers}-01-a b`,
    `cc-${identifiers}-01-${"x".repeat(201)}`,
    `ff-${identifiers}-01`,
    `cc00-${identifiers}-01`,
    `0-${identifiers}-01`,
    `00-${identifiers}-1`,
    `00-${identifiers.toUpperCase()}-01`,
    `00-${"0".repeat(32)}-00f067aa0ba902b7-01`,
    `00-0af7651916cd43dd8448eb211c80319c-${"0".repeat(16)}-01`,
  ])("is none where it is %j", (value) => {
    expect(readTrace(new Headers({ traceparent: value, tracestate: "a=1" }))).toBeUndefined();
  });

  it.each(["congo=t61rcWkgMzE", "a", `a=${"x".repeat(510)}`])("has the state %s", (tracestate) => {
    expect(readTrace(new Headers({ traceparent, tracestate }))).toEqual({ traceparent, tracestate });
  });

  it.each(["", "\u00e9a=1", "a=1\u00e9", `a=${"x".repeat(511)}`])("has no state where that is %j", (tracestate) => {
    expect(readTrace(new Headers({ traceparent, tracestate }))).toEqual({ traceparent });
  });

  it("is none without its header, in any state", () => {
    expect(readTrace(new Headers({ tracestate: "a=1" }))).toBeUndefined();
  });
});
