import { describe, expect, it } from "vitest";
import { createUploadService, DRAFT_CONTENT, type UploadTestService } from "./calls.ts";

/** A body that hands out texts as a test says. */
function manualBody() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let wanted: () => void = () => undefined;
  const isWanted = new Promise<void>((resolve) => {
    wanted = resolve;
  });
  const stream = new ReadableStream<Uint8Array>(
    {
      start(one) {
        controller = one;
      },
      pull: () => wanted(),
    },
    { highWaterMark: 0 },
  );
  return {
    stream,
    isWanted,
    send: (text: string) => controller?.enqueue(new TextEncoder().encode(text)),
    end: () => controller?.close(),
  };
}

/** A PATCH that has sent three bytes of six, and then nothing more. */
async function startStalled({ patch, createByTus }: UploadTestService) {
  const url = await createByTus("a", { "upload-length": "6" });
  const body = manualBody();
  const stalled = patch(url, 0, body.stream);
  await body.isWanted;
  body.send("abc");
  await new Promise((resolve) => setTimeout(resolve, 10));
  return { url, stalled, body };
}

describe("a request for an upload that another one is adding to", () => {
  it.each(["HEAD", "PATCH"])(
    "takes over by %s: the first is answered 409 with the offset, and is closed (R 6.3)",
    async (method) => {
      const service = await createUploadService({ requestClass: Request });
      const { url, stalled } = await startStalled(service);
      if (method === "HEAD") expect((await service.tus("HEAD", url)).header("upload-offset")).toBe("3");
      else expect((await service.patch(url, 3, "def")).status).toBe(204);
      const answer = await stalled;
      expect([answer.status, answer.header("error-code"), answer.header("connection")]).toEqual([
        409,
        "upload-offset-mismatch",
        "close",
      ]);
      // As it is when the answer is made: the other one may have gone on already.
      expect(method === "HEAD" ? ["3"] : ["3", "6"]).toContain(answer.header("upload-offset"));
      expect((await service.tus("HEAD", url)).status).toBe(200);
    },
  );

  it("takes over by DELETE: the first is answered an error, and nothing is left (R 6.3)", async () => {
    const service = await createUploadService({ requestClass: Request });
    const { url, stalled } = await startStalled(service);
    expect((await service.tus("DELETE", url)).status).toBe(204);
    expect((await stalled).status).toBe(409);
    expect((await service.tus("HEAD", url)).status).toBe(404);
    expect(await service.stored("/alice/a")).toBeUndefined();
  });

  it("is not slowed down by a request of another account (R 5.1)", async () => {
    const service = await createUploadService({ requestClass: Request });
    const { url, stalled, body } = await startStalled(service);
    expect((await service.tus("HEAD", url, {}, { as: "bob" })).status).toBe(404);
    expect((await service.tus("DELETE", url, {}, { as: "bob" })).status).toBe(404);
    await service.call("GET", "/home/__svc__/uploads/");
    body.send("def");
    body.end();
    expect((await stalled).status).toBe(204);
    expect(await service.stored("/alice/a")).toBe("abcdef");
  });

  it("leaves one writer of two that begin at one offset, and never a mixture (R 6.3)", async () => {
    const service = await createUploadService({ requestClass: Request });
    for (let round = 0; round < 10; round++) {
      const url = await service.createByTus(`${round}`, { "upload-length": "4" });
      const answers = await Promise.all([
        service.patch(url, 0, "aaaa"),
        service.patch(url, 0, "bbbb"),
        service.patch(url, 0, "cccc"),
      ]);
      expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
      for (const answer of answers) {
        expect([204, 409]).toContain(answer.status);
        expect(["0", "4"]).toContain(answer.header("upload-offset"));
      }
      expect(await service.stored(`/alice/${round}`)).toMatch(/^(?:a{4}|b{4}|c{4})$/);
    }
  });

  it("answers clients of the draft with the problem (R 4.9)", async () => {
    const { createByDraft, draft } = await createUploadService({ requestClass: Request });
    const url = await createByDraft("/home/a");
    const body = manualBody();
    const headers = { "upload-offset": "0", "upload-complete": "?1", "content-type": DRAFT_CONTENT };
    const stalled = draft("PATCH", url, headers, { body: body.stream });
    await body.isWanted;
    await draft("HEAD", url);
    const answer = await stalled;
    expect([answer.status, answer.header("content-type")]).toEqual([409, "application/problem+json"]);
  });
});
