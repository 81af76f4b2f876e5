import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { readMultipart } from "../../../src/http/multipart.ts";
import { readJsonBody } from "../../../src/http/request-body.ts";
import { receiveForm } from "../../../src/uploads/form.ts";
import { createFormFiles } from "../../../src/uploads/form-files.ts";
import { UNCOUNTED } from "../../support/forms.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const BYTES = 256 * 1024;
const FILES = 200;

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

/** How many bytes stay in memory for each file of a form whose part headers have 16 KiB. */
async function heldByFile(name: string): Promise<number> {
  const boundary = "b";
  const disposition = `Content-Disposition: form-data; name="upload-file"; filename="${name}"`;
  const padding = `X-Padding: ${"x".repeat(16_000 - name.length)}`;
  const part = new TextEncoder().encode(`--${boundary}\r\n${disposition}\r\n${padding}\r\n\r\nx\r\n`);
  let held = Number.NaN;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const before = heldBytes();
    for (let count = 0; count < FILES; count++) yield part;
    held = (heldBytes() - before) / FILES;
    yield new TextEncoder().encode(`--${boundary}--`);
  }
  const headers = new Headers({ "content-type": `multipart/form-data; boundary=${boundary}` });
  const request = { body: chunks(), bodyUsed: false, headers } as unknown as Request;
  const files = createFormFiles({ write: async () => undefined, permits: UNCOUNTED, signal: undefined });
  await files.decide(true);
  for await (const file of readMultipart(request)) await files.receive(file);
  expect(files.outcomes()).toHaveLength(FILES);
  return held;
}

describe("the names of a form's files", () => {
  it.each([
    ["valid", "a name that is stored.txt"],
    ["too long, and refused", `\u0007${"x".repeat(10_000)}`],
  ])("keep nothing of the headers that they come from: %s", async (_what, name) => {
    expect(await heldByFile(name)).toBeLessThan(4000);
  });
});

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
    const files = createFormFiles({ write: async () => undefined, permits: UNCOUNTED, signal: undefined });
    await receiveForm(parts(), files, { isAction: () => true, maxFieldBytes: BYTES + 100, permits: UNCOUNTED });
    expect(held).toBeLessThan(8 * BYTES);
  });
});
