import { describe, expect, it } from "vitest";
import { createS3Client } from "../../../../src/storage/s3/client.ts";
import { createUploads } from "../../../../src/storage/s3/multipart-uploads.ts";
import { toS3Settings } from "../../../../src/storage/s3/options.ts";

/** Uploads on a store that answers as `answer` does to a method and what its query names, and what it was asked. */
function createCounted(answer: (call: string) => Response | Promise<Response>) {
  const calls: string[] = [];
  const settings = toS3Settings({
    bucket: "bucket",
    endpoint: "http://store.test",
    accessKeyId: "KEY",
    secretAccessKey: "SECRET",
    retryDelaySeconds: 0.001,
    async fetch(url, { method }) {
      const query = new URL(url).searchParams;
      const call = `${method} ${query.get("uploadId") ?? [...query.keys()][0]}`;
      calls.push(call);
      return answer(call);
    },
  });
  return { calls, uploads: createUploads(createS3Client(settings)) };
}

function created(id: string): Response {
  return new Response(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
}

function listed(...ids: readonly string[]): Response {
  const initiated = new Date().toISOString();
  const upload = (id: string) =>
    `<Upload><Key>key</Key><UploadId>${id}</UploadId><Initiated>${initiated}</Initiated></Upload>`;
  return new Response(`<ListMultipartUploadsResult>${ids.map(upload).join("")}</ListMultipartUploadsResult>`);
}

const NO_PARTS = () => new Response("<ListPartsResult/>");
const PARTS = () => new Response("<ListPartsResult><Part/></ListPartsResult>");
const GONE = () => new Response(null, { status: 204 });

describe("uploads in parts", () => {
  it("that begin while unknown ones are looked for are not ended for such", async () => {
    let list: (answer: Response) => void = () => undefined;
    const begins = [() => Promise.reject(new TypeError("lost")), () => created("first"), () => created("second")];
    const lists = [() => new Promise<Response>((resolve) => (list = resolve)), () => listed("lost")];
    const { calls, uploads } = createCounted((call) => {
      if (call === "POST uploads") return (begins.shift() ?? GONE)();
      if (call === "GET uploads") return (lists.shift() ?? GONE)();
      return call.startsWith("GET") ? NO_PARTS() : GONE();
    });
    const ending = uploads.end(await uploads.begin("key", {}), "complete");
    await expect.poll(() => calls.includes("GET uploads")).toBe(true);
    const second = await uploads.begin("key", {});
    list(listed("second", "lost"));
    await ending;
    expect(calls).not.toContain("DELETE second");
    await uploads.end(second, "complete");
    expect(calls.filter((call) => call.startsWith("DELETE"))).toEqual(["DELETE lost"]);
  });

  it("are ended again while parts still come that were on their way", async () => {
    const answers = [PARTS, PARTS, NO_PARTS];
    const { calls, uploads } = createCounted((call) => {
      if (call.startsWith("POST")) return created("u");
      return call.startsWith("GET") ? (answers.shift() ?? NO_PARTS)() : GONE();
    });
    await uploads.end(await uploads.begin("key", {}), "sending");
    expect(calls.slice(1)).toEqual(["DELETE u", "GET u", "DELETE u", "GET u", "DELETE u", "GET u"]);
    calls.length = 0;
    await uploads.end(await uploads.begin("key", {}), "sent");
    expect(calls).toEqual(["POST uploads", "DELETE u"]);
  });
});
