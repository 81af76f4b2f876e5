import { describe, expect, it } from "vitest";
import type { FileServiceOptions } from "../../../src/config/options.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import type { DecideUpload, Upload, UploadGuard } from "../../../src/contracts/upload.ts";
import { HttpError } from "../../../src/http/http-error.ts";
import { brokenBody, streamOf } from "../../support/bodies.ts";
import { sendFormForJson, uploadsOf } from "../../support/forms.ts";
import { createTestService } from "../../support/service.ts";

async function createGuarded(beforeCommit: NonNullable<FileServiceOptions["beforeCommit"]>) {
  const events: FileEvent[] = [];
  const test = await createTestService({
    beforeCommit,
    metadataFields: "X-Labels",
    onEvent: (event) => events.push(event),
    files: { "/alice/a.txt": "old" },
  });
  const put = (body: string | ReadableStream<Uint8Array>, headers = {}) =>
    test.call("PUT", "/home/a.txt", { body, headers, variant: "json" });
  return { ...test, put, events };
}

describe("beforeCommit", () => {
  it("is asked after the last byte, before the file can be seen", async () => {
    const seen: unknown[] = [];
    const { put, stored, storage } = await createGuarded(async ({ signal: _signal, ...upload }) => {
      seen.push({ ...upload }, (await storage.stat("/alice/a.txt"))?.size);
      return undefined;
    });
    expect((await put(streamOf("ne", "w!"), { "x-labels": "a=b" })).status).toBe(201);
    expect(seen).toEqual([
      {
        path: "/a.txt",
        realPath: "/alice/a.txt",
        size: 4,
        metadata: { a: ["b"] },
        account: { name: "alice", uuid: "alice", email: "", group: "DEFAULT_GROUP" },
      },
      3,
    ]);
    expect(await stored("/alice/a.txt")).toBe("new!");
  });

  it.each<[string, DecideUpload]>([
    ["a text", () => "Not on a Friday."],
    ["a promise of one", async () => "Not on a Friday."],
    [
      "the message of an HttpError, whatever its status",
      () => {
        throw new HttpError("unauthorized", "Not on a Friday.");
      },
    ],
  ])("refuses with %s: 422, and what was there stays", async (_name, decide) => {
    const { put, stored, events } = await createGuarded(decide);
    const answer = await put("new");
    expect([answer.status, answer.json()]).toEqual([422, { errors: [{ message: "Not on a Friday." }] }]);
    expect(await stored("/alice/a.txt")).toBe("old");
    expect(events.at(-1)).toMatchObject({ id: 40022, data: { details: "Not on a Friday.", total_write: 3 } });
  });

  it("refuses with a blank 500 where it fails, which is logged", async () => {
    const { put, stored, log } = await createGuarded(() => {
      throw new Error("clamd: connection refused by 10.0.0.7");
    });
    const answer = await put("new");
    expect([answer.status, await stored("/alice/a.txt")]).toEqual([500, "old"]);
    expect(answer.text).not.toContain("clamd");
    expect(log.text()).toContain("clamd: connection refused");
  });

  it.each([[false], [true], [0], [new Error("a virus")], [{ reason: "a virus" }]])(
    "refuses with a blank 500 where its answer is neither a text nor nothing: %s",
    async (answer) => {
      const { put, stored } = await createGuarded((() => answer) as unknown as DecideUpload);
      expect([(await put("new")).status, await stored("/alice/a.txt")]).toEqual([500, "old"]);
    },
  );

  it("refuses with an empty text, which gets one of ours", async () => {
    const { put } = await createGuarded(() => "");
    expect((await put("new")).json()).toEqual({ errors: [{ message: "The upload was refused." }] });
  });

  it("is not asked about what ends before its announced size", async () => {
    const asked: Upload[] = [];
    const { put, stored } = await createGuarded((upload) => void asked.push(upload));
    expect((await put(streamOf("ne"), { "content-length": "3" })).status).toBe(400);
    expect([asked, await stored("/alice/a.txt")]).toEqual([[], "old"]);
  });

  it("refuses single files of a form", async () => {
    const test = await createGuarded(({ path }) => (path.endsWith(".exe") ? "No programs." : undefined));
    const answer = await sendFormForJson(test, "/home/", [
      ["action", "upload-file"],
      ...uploadsOf({ "x.exe": "1", "b.txt": "2" }),
    ]);
    expect(answer.status).toBe(422);
    expect(answer.json()).toEqual({
      errors: [
        { target: "x.exe", message: "No programs." },
        { target: "b.txt", message: null },
      ],
    });
    expect([await test.stored("/alice/x.exe"), await test.stored("/alice/b.txt")]).toEqual([undefined, "2"]);
  });

  it("is not asked about an upload that breaks off, or is refused before", async () => {
    const asked: Upload[] = [];
    const { put } = await createGuarded((upload) => void asked.push(upload));
    await put(brokenBody("ne"));
    await put("new", { "if-match": '"nothing"' });
    expect(asked).toEqual([]);
  });
});

describe("a guard that sees the content", () => {
  it("gets each chunk in turn, which waits for it, and the same upload in all calls", async () => {
    const steps: string[] = [];
    let known: Upload | undefined;
    const { put, stored } = await createGuarded({
      async receive(upload, chunk) {
        known ??= upload;
        const text = `${new TextDecoder().decode(chunk)[0]} ${chunk.byteLength}`;
        steps.push(`begin ${text} ${upload.size}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
        steps.push(`end ${text} ${upload === known}`);
      },
      decide: (upload) => void steps.push(`decide ${upload.size} ${upload === known}`),
      abandon: () => steps.push("abandon"),
    });
    const [one, other] = ["a".repeat(100_000), "b".repeat(50_000)];
    expect((await put(streamOf(one, other))).status).toBe(201);
    expect(steps).toEqual([
      "begin a 100000 100000",
      "end a 100000 true",
      "begin b 50000 150000",
      "end b 50000 true",
      "decide 150000 true",
    ]);
    expect(await stored("/alice/a.txt")).toBe(one + other);
  });

  it("can refuse at a chunk, and is told that it need not decide", async () => {
    const steps: string[] = [];
    const { put, stored } = await createGuarded({
      receive() {
        throw new HttpError("denied", "A virus.");
      },
      decide: () => void steps.push("decide"),
      abandon: ({ path }) => steps.push(`abandon ${path}`),
    });
    const answer = await put(streamOf("vi", "rus"));
    expect([answer.status, answer.json(), await stored("/alice/a.txt")]).toEqual([
      422,
      { errors: [{ message: "A virus." }] },
      "old",
    ]);
    expect(steps).toEqual(["abandon /a.txt"]);
  });

  it("is told of an upload that breaks off; what it throws then is logged", async () => {
    const { put, log } = await createGuarded({
      decide: () => undefined,
      abandon: () => {
        throw new Error("nothing to abandon");
      },
    });
    await put(brokenBody("ne"));
    await expect.poll(() => log.text()).toContain("nothing to abandon");
  });

  it("has its time, for each answer", async () => {
    const steps: string[] = [];
    const { put, stored, log, events } = await createGuarded({
      timeoutSeconds: 0.05,
      decide: () => new Promise<undefined>(() => undefined),
      abandon: ({ path }) => steps.push(`abandon ${path}`),
    });
    expect([(await put("new")).status, await stored("/alice/a.txt")]).toEqual([500, "old"]);
    expect(log.text()).toContain("no decision within 0.05 s");
    expect(events.at(-2)?.id).toBe(40022);
    expect(steps).toEqual([]);
  });

  it("is told where the client goes while it decides", async () => {
    const steps: string[] = [];
    const client = new AbortController();
    const { call, stored } = await createGuarded({
      decide: async (): Promise<undefined> => {
        client.abort();
        await new Promise((resolve) => setTimeout(resolve, 50));
        steps.push("decided");
        return undefined;
      },
      abandon: ({ path }) => steps.push(`abandon ${path}`),
    });
    await call("PUT", "/home/a.txt", { body: "new", signal: client.signal });
    expect([steps, await stored("/alice/a.txt")]).toEqual([["abandon /a.txt"], "old"]);
    await expect.poll(() => steps).toEqual(["abandon /a.txt", "decided"]);
  });

  it("is not called for a chunk after it was told that the upload has ended", async () => {
    const steps: string[] = [];
    const client = new AbortController();
    const first = {
      receive: async () => {
        client.abort();
        await new Promise((resolve) => setTimeout(resolve, 50));
        steps.push("first received");
      },
      decide: () => undefined,
    };
    const second = {
      receive: () => void steps.push("second received"),
      decide: () => undefined,
      abandon: () => void steps.push("second abandoned"),
    };
    const { call } = await createGuarded([first, second]);
    await call("PUT", "/home/a.txt", { body: "new", signal: client.signal });
    await expect.poll(() => steps).toEqual(["second abandoned", "first received"]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(steps).toHaveLength(2);
  });

  it.each([
    [{}],
    [{ decide: 1 }],
    [{ decide: (): undefined => undefined, timeoutSeconds: 0 }],
    [{ decide: (): undefined => undefined, timeoutSeconds: "1" }],
    [{ decide: (): undefined => undefined, timeoutSeconds: true }],
    [{ decide: (): undefined => undefined, receive: 1 }],
    ["text"],
  ])("is checked when the service is made: %j", async (guard) => {
    await expect(createTestService({ beforeCommit: guard as unknown as UploadGuard })).rejects.toThrow(
      "The option beforeCommit must",
    );
  });
});

describe("a list of guards", () => {
  function createGuards(...answers: readonly (string | Error | undefined)[]) {
    const steps: string[] = [];
    const guards = answers.map(
      (answer, index): UploadGuard => ({
        receive: (_, chunk) => void steps.push(`${index} ${new TextDecoder().decode(chunk.subarray(0, 3))}`),
        decide() {
          steps.push(`${index} decide`);
          if (answer instanceof Error) throw answer;
          return answer;
        },
        abandon: () => steps.push(`${index} abandon`),
      }),
    );
    return { steps, guards };
  }

  it("gives each one every chunk, and asks all in order", async () => {
    const { steps, guards } = createGuards(undefined, undefined);
    const { put, stored } = await createGuarded([...guards, ({ size }) => void steps.push(`function ${size}`)]);
    const [one, other] = ["a".repeat(100_000), "b".repeat(100_000)];
    expect((await put(streamOf(one, other))).status).toBe(201);
    expect(steps).toEqual(["0 aaa", "1 aaa", "0 bbb", "1 bbb", "0 decide", "1 decide", "function 200000"]);
    expect(await stored("/alice/a.txt")).toBe(one + other);
  });

  it("refuses with the first refusal, and does not ask the others", async () => {
    const { steps, guards } = createGuards(undefined, "No.", "Never.");
    const { put, stored } = await createGuarded(guards);
    const answer = await put("new");
    expect([answer.status, answer.json()]).toEqual([422, { errors: [{ message: "No." }] }]);
    expect(steps.slice(3)).toEqual(["0 decide", "1 decide", "2 abandon"]);
    expect(await stored("/alice/a.txt")).toBe("old");
  });

  it("abandons all of them once if one fails at a chunk", async () => {
    const { steps, guards } = createGuards(undefined, undefined);
    const failing: UploadGuard = {
      decide: () => undefined,
      receive() {
        throw new HttpError("denied", "A virus.");
      },
    };
    const { put } = await createGuarded([...guards, failing]);
    expect((await put("new")).status).toBe(422);
    expect(steps).toEqual(["0 new", "1 new", "0 abandon", "1 abandon"]);
  });

  it("does not ask the next one after the client has disconnected", async () => {
    const steps: string[] = [];
    const client = new AbortController();
    let decided: () => void = () => undefined;
    const isDecided = new Promise<void>((resolve) => {
      decided = resolve;
    });
    const { call, stored } = await createGuarded([
      {
        async decide() {
          client.abort();
          await new Promise((resolve) => setTimeout(resolve, 20));
          decided();
          return undefined;
        },
      },
      { decide: () => void steps.push("decide"), abandon: () => steps.push("abandon") },
    ]);
    await call("PUT", "/home/a.txt", { body: "new", signal: client.signal });
    await isDecided;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([steps, await stored("/alice/a.txt")]).toEqual([["abandon"], "old"]);
  });

  it("is nothing if it is empty", async () => {
    const { put } = await createGuarded([]);
    expect((await put("new")).status).toBe(201);
  });
});

describe("an HttpError of a guard", () => {
  it.each([
    ["unavailable", 503],
    ["too-large", 413],
  ] as const)("of the failure %s keeps its status, its code and its fields", async (failure, status) => {
    const { call, stored } = await createGuarded(() => {
      throw new HttpError(failure, "Not now.", { "Retry-After": "7" }, { code: "scanner" });
    });
    const undescribed = "the host has added a field";
    const answer = await call("PUT", "/home/a.txt", { body: "new", variant: "json", undescribed });
    expect([answer.status, answer.json()]).toEqual([status, { errors: [{ message: "Not now." }] }]);
    expect([answer.header("retry-after"), answer.header("error-code")]).toEqual(["7", "scanner"]);
    expect(await stored("/alice/a.txt")).toBe("old");
  });

  it("of any other failure does not", async () => {
    const { put } = await createGuarded(() => {
      throw new HttpError("unauthorized", "Who are you?", { "WWW-Authenticate": "Basic", "Retry-After": "7" });
    });
    const answer = await put("new");
    expect([answer.status, answer.header("retry-after"), answer.header("www-authenticate")]).toEqual([422, null, null]);
  });
});

describe("what a scanner has found", () => {
  it("is in the event of the upload", async () => {
    const { put, events } = await createGuarded((upload) => {
      upload.scan = "skipped";
      return undefined;
    });
    await put("new");
    expect(events.at(-1)).toMatchObject({ id: 40017, data: { scan: "skipped" } });
  });
});
