import { join, sep } from "node:path";
import { describe, expect, it } from "vitest";
import { findRuntimeFunction } from "../../../src/platform/builtin-module.ts";

describe("a function of the runtime", () => {
  it("is found by its module and its name, and tried", () => {
    expect(findRuntimeFunction<typeof join>("node:path", "join", (found) => found("a", "b") === `a${sep}b`)).toBe(join);
  });

  it.each<[what: string, module: string, name: string, isRight: () => boolean]>([
    ["the module", "node:none", "join", () => true],
    ["the name", "node:path", "none", () => true],
    ["a function behind it", "node:path", "sep", () => true],
    ["the right function behind it", "node:path", "join", () => false],
    [
      "one that works",
      "node:path",
      "join",
      () => {
        throw new Error("not implemented");
      },
    ],
  ])("is none without %s", (_what, module, name, isRight) => {
    expect(findRuntimeFunction(module, name, isRight)).toBeUndefined();
  });
});
