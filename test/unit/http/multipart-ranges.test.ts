import { describe, expect, it } from "vitest";
import type { ByteSource } from "../../../src/contracts/byte-source.ts";
import { toMultipartRanges } from "../../../src/http/multipart-ranges.ts";

describe("several ranges as one body", () => {
  it("close a part that was being opened when they were closed", async () => {
    let open = 0;
    let finishOpening = (): void => undefined;
    const opening = new Promise<void>((resolve) => {
      finishOpening = resolve;
    });
    const part: ByteSource = {
      readInto: async () => 0,
      close: async () => {
        open -= 1;
      },
    };
    const { source } = toMultipartRanges([{ offset: 0, length: 1 }], 9, "text/plain", async () => {
      await opening;
      open += 1;
      return part;
    });
    const buffer = new Uint8Array(1000);
    await source.readInto(buffer);
    const reading = source.readInto(buffer);
    await source.close();
    finishOpening();
    expect(await reading).toBe(0);
    expect(open).toBe(0);
  });
});
