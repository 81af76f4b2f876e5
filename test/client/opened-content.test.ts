import { describe, expect, it } from "vitest";
import type { ByteStream, OpenContent, PutOptions } from "../../src/client.ts";
import { noise } from "../../src/testing/storage/content.ts";
import type { TestServiceOptions } from "../support/service.ts";
import { type ClientEnvironment, failureOf, openClient } from "./setup.ts";

const LIMITED: TestServiceOptions = { uploads: { maxAppendBytes: 4 * 1024 ** 2 } };
const WAYS: readonly (readonly [string, PutOptions, TestServiceOptions])[] = [
  ["with a digest", { digest: true }, {}],
  ["in one request", { resumable: false }, {}],
  ["that is resumable", {}, {}],
  ["in parts", {}, LIMITED],
];

async function listUploads({ call }: ClientEnvironment): Promise<readonly unknown[]> {
  return (await call("GET", "/home/__svc__/uploads/")).json<{ uploads: readonly unknown[] }>().uploads;
}

/** Content that gives some bytes and then fails. */
function openBroken(): ByteStream {
  let count = 0;
  return new ReadableStream({
    pull(controller) {
      count += 1;
      if (count > 2) throw new RangeError("own");
      controller.enqueue(noise(1000, count) as Uint8Array<ArrayBuffer>);
    },
  });
}

describe.each(WAYS)("content of a function, sent %s", (_way, options, serviceOptions) => {
  it.each([
    ["cannot be opened", () => Promise.reject(new RangeError("own"))],
    [
      "throws",
      () => {
        throw new RangeError("own");
      },
    ],
    ["breaks", openBroken],
  ] as const satisfies readonly (readonly [string, OpenContent])[])(
    "rejects with the reason if it %s",
    async (_how, content) => {
      const environment = await openClient(serviceOptions);
      const error = await failureOf(environment.client.put("/a", content, options));
      expect(error).toMatchObject({ message: "The content could not be read.", status: undefined });
      expect(error.cause).toEqual(new RangeError("own"));
      await expect.poll(() => listUploads(environment)).toEqual([]);
      expect(await environment.stored("/alice/a")).toBeUndefined();
    },
  );
});

describe("a stream that breaks", () => {
  it.each([undefined, () => undefined])("rejects with the reason, with and without progress", async (onProgress) => {
    const { client } = await openClient();
    const error = await failureOf(client.put("/a", openBroken(), { onProgress }));
    expect(error).toMatchObject({ message: "The content could not be read.", cause: new RangeError("own") });
  });
});
