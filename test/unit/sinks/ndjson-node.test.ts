import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { createNdjsonSink } from "../../../src/sinks/ndjson-node.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { mountSmallDisk, unmount } from "../../support/small-disk.ts";

const smallDisk = mountSmallDisk();
afterAll(() => unmount(smallDisk));

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fileferry-events-"));
  file = join(folder, "events.ndjson");
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

const event = (number: number): FileEvent => ({ id: 40010, data: { path: `/${number}\n` } }) as unknown as FileEvent;
const count = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);

async function numbersIn(path: string): Promise<number[]> {
  const lines = (await readFile(path, "utf8")).split("\n");
  expect(lines.pop()).toBe("");
  return lines.map((line) => Number(JSON.parse(line).data.path.trim().slice(1)));
}

describe("createNdjsonSink", () => {
  it("appends one event per line, in order, to a file that only its owner can read (CONTRACT 8)", async () => {
    for (const [from, to] of [
      [0, 1200],
      [1200, 1300],
    ] as const) {
      const sink = createNdjsonSink({ file });
      for (const number of count(from, to)) sink(event(number));
      await sink.close();
      expect(sink.dropped()).toBe(0);
    }
    expect(await numbersIn(file)).toEqual(count(0, 1300));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it("starts a new file at the size limit, and keeps maxFiles of the old ones", async () => {
    const sink = createNdjsonSink({ file, maxBytes: 100, maxFiles: 2 });
    for (const number of count(0, 5)) {
      sink(event(number));
      sink(event(number));
      sink(event(number));
      await expect.poll(() => numbersIn(file).catch(() => [])).toEqual([number, number, number]);
    }
    await sink.close();
    expect((await readdir(folder)).sort()).toEqual(["events.ndjson", "events.ndjson.1", "events.ndjson.2"]);
    expect(await numbersIn(file)).toEqual([4, 4, 4]);
    expect(await numbersIn(`${file}.1`)).toEqual([3, 3, 3]);
    expect(await numbersIn(`${file}.2`)).toEqual([2, 2, 2]);
  });

  it("continues in a new file after another program moved the old one away", async () => {
    const sink = createNdjsonSink({ file });
    sink(event(1));
    await expect.poll(() => stat(file).catch(() => undefined)).toBeDefined();
    await rename(file, `${file}.moved`);
    sink(event(2));
    await sink.close();
    expect(await numbersIn(`${file}.moved`)).toEqual([1]);
    expect(await numbersIn(file)).toEqual([2]);
  });

  it("deletes a full file if none is to be kept", async () => {
    const sink = createNdjsonSink({ file, maxBytes: 1, maxFiles: 0 });
    for (const number of count(0, 3)) {
      sink(event(number));
      await expect.poll(() => numbersIn(file).catch(() => [])).toEqual([number]);
    }
    await sink.close();
    expect(await readdir(folder)).toEqual(["events.ndjson"]);
  });

  it("drops and logs an event that JSON cannot hold", async () => {
    const logger = createRecordingLogger();
    const sink = createNdjsonSink({ file, logger });
    sink({ ...event(1), data: { audit: 1n } } as unknown as FileEvent);
    sink(event(2));
    await sink.close();
    expect(sink.dropped()).toBe(1);
    expect(await numbersIn(file)).toEqual([2]);
    expect(logger.entries.map(({ message }) => message)).toEqual(["An event could not be accepted."]);
  });

  it.skipIf(smallDisk === undefined)("leaves no partial line on a full disk, and continues after it", async () => {
    const disk = smallDisk as string;
    const path = join(disk, "events.ndjson");
    const rest = join(disk, "rest.bin");
    const sink = createNdjsonSink({ file: path, logger: createRecordingLogger() });
    sink(event(1));
    await expect.poll(() => numbersIn(path).catch(() => [])).toEqual([1]);
    await writeFile(rest, new Uint8Array(1024 * 1024)).catch(() => undefined);
    for (const number of count(2, 2000)) sink(event(number));
    await expect.poll(() => sink.dropped()).toBe(1998);
    expect(await numbersIn(path)).toEqual([1]);
    await rm(rest);
    sink(event(2000));
    await sink.close();
    expect(await numbersIn(path)).toEqual([1, 2000]);
  });

  it("starts a new line after a partial line of a killed process", async () => {
    await writeFile(file, '{"id":1,"half');
    const sink = createNdjsonSink({ file });
    sink(event(1));
    await expect.poll(() => readFile(file, "utf8")).toMatch(/half\n\{.*\n$/);
    sink(event(2));
    await sink.close();
    expect((await readFile(file, "utf8")).split("\n").length).toBe(4);
  });

  it("does not wait for the reader of a pipe", async () => {
    const logger = createRecordingLogger();
    execFileSync("mkfifo", [file]);
    const sink = createNdjsonSink({ file, logger });
    sink(event(1));
    await sink.close();
    expect(sink.dropped()).toBe(1);
    expect(logger.text()).toContain("not a regular file");
  });

  it("bounds the memory of long events", async () => {
    const sink = createNdjsonSink({ file, logger: createRecordingLogger() });
    const long = { ...event(1), data: { path: "x".repeat(1_000_000) } } as unknown as FileEvent;
    for (let number = 0; number < 40; number += 1) sink({ ...long });
    expect(sink.dropped()).toBe(23);
    await sink.close();
  });

  it("logs failed writes once in a row, and continues", async () => {
    const logger = createRecordingLogger();
    const missing = join(folder, "missing", "events.ndjson");
    const sink = createNdjsonSink({ file: missing, logger });
    sink(event(1));
    await expect.poll(() => sink.dropped()).toBe(1);
    sink(event(2));
    await sink.close();
    expect(sink.dropped()).toBe(2);
    expect(logger.entries.map(({ message }) => message)).toEqual(["Events could not be written to the file."]);
  });

  it("bounds the number of events that wait for the disk", async () => {
    const logger = createRecordingLogger();
    const sink = createNdjsonSink({ file, capacity: 10, logger });
    for (const number of count(0, 100)) sink(event(number));
    expect(sink.dropped()).toBe(90);
    await sink.close();
    expect(await numbersIn(file)).toEqual(count(0, 10));
    expect(logger.entries.length).toBe(1);
  });

  it.each<[string, object]>([
    ["file", { file: "" }],
    ["maxBytes", { file: "a", maxBytes: -1 }],
    ["maxFiles", { file: "a", maxFiles: 1.5 }],
    ["capacity", { file: "a", capacity: 0 }],
  ])("refuses a wrong %s", (option, options) => {
    expect(() => createNdjsonSink(options as Parameters<typeof createNdjsonSink>[0])).toThrow(
      new RegExp(`^The option ${option} `),
    );
  });
});
