import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { describe, expect, it, onTestFinished } from "vitest";
import { importAgain } from "../../support/modules.ts";

/** The module as in a process that has just started. */
async function begin() {
  return importAgain<typeof import("../../../src/platform/process-identity-node.ts")>(
    "platform/process-identity-node.ts",
  );
}

/** Has reading fail with a code until the function is called that it gives. */
function failReading(code: string): () => void {
  const { readFileSync, readlinkSync } = fs;
  function fail(): never {
    throw Object.assign(new Error(code), { code });
  }
  function restore(): void {
    Object.assign(fs, { readFileSync, readlinkSync });
    syncBuiltinESMExports();
  }
  Object.assign(fs, { readFileSync: fail, readlinkSync: fail });
  syncBuiltinESMExports();
  onTestFinished(restore);
  return restore;
}

describe("the mark of a host", () => {
  it("is eight digits, the same for every process of it", async () => {
    const { hostIdentity } = await begin();
    expect(hostIdentity()).toMatch(/^[0-9a-f]{8}$/);
    expect((await begin()).hostIdentity()).toBe(hostIdentity());
  });

  it.each(["EMFILE", "ENFILE"])(
    "is not another one for good where a process begins short of descriptors: %s",
    async (code) => {
      const expected = (await begin()).hostIdentity();
      const restore = failReading(code);
      const { hostIdentity, hasEnded } = await begin();
      hostIdentity();
      restore();
      expect(hostIdentity()).toBe(expected);
      expect(hasEnded(expected, 999_999_999, Date.now())).toBe(true);
    },
  );

  it("is kept where the system has no such files", async () => {
    const restore = failReading("ENOENT");
    const { hostIdentity } = await begin();
    const mark = hostIdentity();
    restore();
    expect(hostIdentity()).toBe(mark);
  });
});
