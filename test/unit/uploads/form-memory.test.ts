import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { readJsonBody } from "../../../src/http/request-body.ts";
import { receiveForm } from "../../../src/uploads/form.ts";
import { createFormFiles } from "../../../src/uploads/form-files.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const BYTES = 256 * 1024;

function heldBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Yields a body byte by byte, and passes what the process holds more before the last one. */
async function* byteByByte(text: string, note: (held: number) => void): AsyncGenerator<Uint8Array> {
  const before = heldBytes();
  for (const character of text) yield new TextEncoder().encode(character);
  note(heldBytes() - before);
}

describe("a body that arrives byte by byte", () => {
  it("takes a few times its bytes at most, as JSON", async () => {
    let held = Number.NaN;
    const body = byteByByte(`"${"x".repeat(BYTES)}"`, (bytes) => {
      held = bytes;
    });
    const request = { body, bodyUsed: false, headers: new Headers() } as unknown as Request;
    await readJsonBody(request);
    expect(held).toBeLessThan(8 * BYTES);
  });

  it("takes a few times its bytes at most, as a field of a form", async () => {
    let held = Number.NaN;
    const body = byteByByte("x".repeat(BYTES), (bytes) => {
      held = bytes;
    });
    async function* parts() {
      yield { name: "action", body: byteByByte("delete-members", () => undefined) };
      yield { name: "selected-members", body };
    }
    const files = createFormFiles({ write: async () => undefined, admitWaiting: () => undefined, signal: undefined });
    await receiveForm(parts(), files, () => true);
    expect(held).toBeLessThan(8 * BYTES);
  });
});
