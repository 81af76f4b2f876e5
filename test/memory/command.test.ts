import { mkdtemp, rm, stat } from "node:fs/promises";
import { Agent, type OutgoingHttpHeaders, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type Command, startCommand } from "../support/command.ts";
import { amount } from "../support/trust.ts";

/** The size of each file: a service that held it would need more memory than the bound. */
const MEBIBYTES = amount({ short: 256, long: 1024 });
const SIZE = MEBIBYTES * 1024 ** 2;
const MAX_RSS_MEGABYTES = 120;
const SMALL_FILES = amount({ short: 3000, long: 30_000 });
const CLIENTS = 64;
const auth = "demo:demo";

describe.skipIf(process.platform !== "linux")("memory of the serving process (needs /proc)", () => {
  let folder: string;
  let service: Command;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fileferry-memory-"));
    service = await startCommand(["serve", folder, "--account", auth, "--port", "0", "--quiet"]);
  });

  afterAll(async () => {
    await service.stop();
    await rm(folder, { recursive: true });
  });

  /** Sends a file, between a beginning and an end. */
  function send(
    url: string,
    options: { method: string; headers: OutgoingHttpHeaders; begin?: string; end?: string },
  ): Promise<number | undefined> {
    const { method, headers, begin = "", end = "" } = options;
    return new Promise((resolve, reject) => {
      const upload = request(url, { method, auth, headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      upload.on("error", reject);
      const chunk = Buffer.alloc(1024 * 1024, "fileferry");
      let left = MEBIBYTES;
      function sendOn(): void {
        while (left > 0) {
          left -= 1;
          if (!upload.write(chunk)) {
            upload.once("drain", sendOn);
            return;
          }
        }
        upload.end(end);
      }
      if (begin !== "") upload.write(begin);
      sendOn();
    });
  }

  function put(url: string, headers: OutgoingHttpHeaders): Promise<number | undefined> {
    return send(url, { method: "PUT", headers });
  }

  function get(url: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const download = request(url, { auth }, (response) => {
        let bytes = 0;
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
        });
        response.on("end", () => resolve(bytes));
        response.on("error", reject);
      });
      download.on("error", reject);
      download.end();
    });
  }

  it(`stays under ${MAX_RSS_MEGABYTES} MB while ${MEBIBYTES} MiB go up and come down`, async () => {
    expect(await put(`${service.origin}/home/big.bin`, { "Content-Length": SIZE })).toBe(201);
    expect(await put(`${service.origin}/home/big.bin`, { "Transfer-Encoding": "chunked" })).toBe(201);
    expect((await stat(join(folder, "big.bin"))).size).toBe(SIZE);
    expect(await get(`${service.origin}/home/big.bin`)).toBe(SIZE);
    expect(await service.peakMegabytes()).toBeLessThan(MAX_RSS_MEGABYTES);
  }, 120_000);

  it(`stays under ${MAX_RSS_MEGABYTES} MB while a form brings a file of ${MEBIBYTES} MiB (4.6)`, async () => {
    const part = (head: string) => `--boundary\r\nContent-Disposition: form-data; ${head}\r\n\r\n`;
    const status = await send(`${service.origin}/home/`, {
      method: "POST",
      headers: { "Content-Type": "multipart/form-data; boundary=boundary", "Transfer-Encoding": "chunked" },
      begin: `${part('name="action"')}upload-file\r\n${part('name="upload-file"; filename="form.bin"')}`,
      end: "\r\n--boundary--\r\n",
    });
    expect(status).toBe(303);
    expect((await stat(join(folder, "form.bin"))).size).toBe(SIZE);
    expect(await service.peakMegabytes()).toBeLessThan(MAX_RSS_MEGABYTES);
  }, 120_000);

  it(`stays under ${MAX_RSS_MEGABYTES} MB while 64 clients at once upload ${SMALL_FILES} files of 1 KiB`, async () => {
    // In memory, where an upload is acknowledged at once.
    const quickFolder = await mkdtemp("/dev/shm/fileferry-memory-");
    const quick = await startCommand(["serve", quickFolder, "--account", auth, "--port", "0", "--quiet"]);
    onTestFinished(async () => {
      await quick.stop();
      await rm(quickFolder, { recursive: true });
    });
    const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
    const body = Buffer.alloc(1024, "fileferry");
    const names = Array.from({ length: SMALL_FILES }, (_, index) => `${index % 1024}.bin`).values();
    const statuses = new Set<number | undefined>();

    function putSmall(name: string): Promise<number | undefined> {
      return new Promise((resolve, reject) => {
        const upload = request(`${quick.origin}/home/${name}`, { method: "PUT", auth, agent }, (response) => {
          response.resume().on("end", () => resolve(response.statusCode));
        });
        upload.on("error", reject);
        upload.end(body);
      });
    }

    /** One client takes the next name as soon as its last upload is acknowledged. */
    async function uploadAll(): Promise<void> {
      for (const name of names) statuses.add(await putSmall(name));
    }

    await Promise.all(Array.from({ length: CLIENTS }, uploadAll));
    agent.destroy();
    expect([...statuses]).toEqual([201]);
    expect(await quick.peakMegabytes()).toBeLessThan(MAX_RSS_MEGABYTES);
  }, 120_000);
});
