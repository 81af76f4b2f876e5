import { describe, expect, it } from "vitest";
import { createPatience, runUpload, type UploadRequests } from "../../../../src/browser/uploads/resuming.ts";
import type { Answer } from "../../../../src/browser/uploads/send.ts";

type Headers = Readonly<Record<string, string>>;

function answer(status: number, headers: Headers = {}): Answer {
  return { status, body: "", header: (name) => headers[name] ?? null };
}

const BROKEN = answer(0);
const CREATED = answer(201, { Location: "/u/1", "Upload-Complete": "?0" });
const DONE = answer(201, { "Upload-Complete": "?1", "Upload-Offset": "100" });
const has = (offset: number): Answer => answer(204, { "Upload-Offset": `${offset}`, "Upload-Complete": "?0" });

/** Runs an upload against these responses, one after the other; the last one repeats. */
async function run(answers: readonly Answer[], options: { url?: string; offline?: number; abortAt?: number } = {}) {
  const { url, offline = 0, abortAt } = options;
  const sent: string[] = [];
  const told: string[] = [];
  const waits: number[] = [];
  const controller = new AbortController();
  let time = 0;

  function next(request: string): Promise<Answer> {
    sent.push(request);
    if (sent.length - 1 === abortAt) controller.abort();
    return Promise.resolve(answers[Math.min(sent.length, answers.length) - 1] ?? BROKEN);
  }

  const requests: UploadRequests = {
    create: () => next("create"),
    find: (at) => next(`find ${at}`),
    append: (at, offset) => next(`append ${at} ${offset}`),
    isComplete: ({ header }) => header("Upload-Complete") === "?1",
  };
  async function pause(milliseconds: number): Promise<boolean> {
    waits.push(milliseconds / 1000);
    time += milliseconds;
    return waits.length <= offline;
  }
  const last = await runUpload(requests, {
    ...{ url, signal: controller.signal, patience: createPatience({ pause, now: () => time }) },
    onCreated: (at) => told.push(`created ${at}`),
    onFound: (offset) => told.push(`found ${offset}`),
    onInterrupted: () => told.push("interrupted"),
  });
  return { status: last.status, sent, told, waits };
}

describe("an upload in several requests", () => {
  it("is created, and sent at one go", async () => {
    const { status, sent, waits } = await run([CREATED, DONE]);
    expect(status).toBe(201);
    expect(sent).toEqual(["create", "append /u/1 0"]);
    expect(waits).toEqual([]);
  });

  it("waits after a broken connection, asks how much arrived, and goes on from there (R 11.3)", async () => {
    const { sent, told, waits } = await run([CREATED, BROKEN, has(40), BROKEN, has(70), DONE]);
    expect(sent).toEqual(["create", "append /u/1 0", "find /u/1", "append /u/1 40", "find /u/1", "append /u/1 70"]);
    expect(told).toEqual(["created /u/1", "interrupted", "found 40", "interrupted", "found 70"]);
    // More bytes have arrived: the second interruption is as the first one.
    expect(waits).toEqual([1, 1]);
  });

  it("goes on with an upload that was begun earlier", async () => {
    expect((await run([has(43), DONE], { url: "/u/7" })).sent).toEqual(["find /u/7", "append /u/7 43"]);
  });

  it("sends what fits into one request after the other", async () => {
    const { sent } = await run([CREATED, has(40), has(80), DONE]);
    expect(sent).toEqual(["create", "append /u/1 0", "append /u/1 40", "append /u/1 80"]);
  });

  it("waits 1, 2, 4, 8, 15, 15, ... seconds, and gives up after five minutes without a byte more (R 11.3)", async () => {
    const { status, waits } = await run([CREATED, BROKEN]);
    expect(status).toBe(0);
    expect(waits.slice(0, 7)).toEqual([1, 2, 4, 8, 15, 15, 15]);
    const sum = waits.reduce((total, seconds) => total + seconds, 0);
    expect(sum).toBeGreaterThanOrEqual(300);
    expect(sum).toBeLessThan(315);
  });

  it("gives up as well if the service responds, but keeps nothing", async () => {
    const answers = [CREATED, ...Array.from({ length: 200 }, () => [BROKEN, has(0)]).flat()];
    const { status, waits } = await run(answers);
    expect(status).toBe(0);
    expect(waits.slice(0, 4)).toEqual([1, 2, 4, 8]);
    expect(waits.length).toBeLessThan(30);
  });

  it("does not count the time without a network (R 11.3)", async () => {
    const { waits } = await run([CREATED, BROKEN], { offline: 50 });
    expect(waits.slice(0, 50)).toEqual(Array(50).fill(1));
    expect(waits.slice(50, 54)).toEqual([1, 2, 4, 8]);
  });

  it.each([408, 423, 429, 500, 502, 503, 504])("tries again after %i, also to create", async (status) => {
    const { sent, waits } = await run([answer(status), CREATED, answer(status), has(10), DONE]);
    expect(sent).toEqual(["create", "create", "append /u/1 0", "find /u/1", "append /u/1 10"]);
    expect(waits).toEqual([1, 1]);
  });

  it("asks and goes on at once after 409, and waits if it comes again at the same place (R 11.3)", async () => {
    const { sent, waits } = await run([
      CREATED,
      answer(409),
      has(40),
      answer(409),
      has(40),
      answer(409),
      has(40),
      DONE,
    ]);
    expect(sent.filter((request) => request.startsWith("append"))).toEqual([
      "append /u/1 0",
      "append /u/1 40",
      "append /u/1 40",
      "append /u/1 40",
    ]);
    expect(waits).toEqual([1]);
  });

  it.each([404, 410])("starts from the beginning after %i, once (R 11.3)", async (status) => {
    const again = await run([answer(status), CREATED, DONE], { url: "/u/7" });
    expect(again.sent).toEqual(["find /u/7", "create", "append /u/1 0"]);
    expect(again.waits).toEqual([]);
    const lost = await run([answer(status), CREATED, answer(status)], { url: "/u/7" });
    expect(lost.status).toBe(status);
    expect(lost.sent).toEqual(["find /u/7", "create", "append /u/1 0"]);
  });

  it.each([400, 401, 403, 409, 412, 413, 422, 501, 507])(
    "ends with the refusal of its creation: %i",
    async (status) => {
      const { sent, waits, ...last } = await run([answer(status)]);
      expect(last.status).toBe(status);
      expect(sent).toEqual(["create"]);
      expect(waits).toEqual([]);
    },
  );

  it.each([401, 403, 412, 413, 422, 507])("ends with the refusal of its content: %i", async (status) => {
    const { sent, ...last } = await run([CREATED, answer(status)]);
    expect(last.status).toBe(status);
    expect(sent).toEqual(["create", "append /u/1 0"]);
  });

  it("is done if only the last response was lost", async () => {
    const { status, sent } = await run([CREATED, BROKEN, DONE]);
    expect(status).toBe(201);
    expect(sent).toEqual(["create", "append /u/1 0", "find /u/1"]);
  });

  it("asks for the file again if all bytes are there and no file", async () => {
    expect((await run([CREATED, BROKEN, has(100), DONE])).sent.at(-1)).toBe("append /u/1 100");
  });

  it("does not take the success of another server for progress", async () => {
    const { sent, waits } = await run([CREATED, answer(200), answer(200), has(5), DONE]);
    expect(sent).toEqual(["create", "append /u/1 0", "find /u/1", "find /u/1", "append /u/1 5"]);
    expect(waits).toEqual([1, 2]);
  });

  it("stops when it is cancelled: at its creation, of which it tells, and at any other request", async () => {
    const created = await run([CREATED, DONE], { abortAt: 0 });
    expect(created.sent).toEqual(["create"]);
    expect(created.told).toEqual(["created /u/1"]);
    const appended = await run([CREATED, BROKEN, has(1), DONE], { abortAt: 1 });
    expect(appended.sent).toEqual(["create", "append /u/1 0"]);
    expect(appended.waits).toEqual([]);
  });
});
