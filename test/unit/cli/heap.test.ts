import { afterEach, describe, expect, it, vi } from "vitest";
import { toServingFlags } from "../../../src/cli/heap.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("the start flags of a process that serves", () => {
  it("limit the young generation, before the flags of this process", () => {
    vi.stubEnv("NODE_OPTIONS", "");
    expect(toServingFlags()).toEqual(["--max-semi-space-size=4", ...process.execArgv]);
  });

  it.each(["--max-semi-space-size=16", "--enable-source-maps --max_semi_space_size=1"])(
    "leave the operator's own size: %s",
    (options) => {
      vi.stubEnv("NODE_OPTIONS", options);
      expect(toServingFlags()).toEqual(process.execArgv);
    },
  );
});
