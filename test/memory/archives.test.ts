import { once } from "node:events";
import { mkdir, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type Command, startCommand } from "../support/command.ts";
import { amount } from "../support/trust.ts";

/** More than 1 GiB, or 256 MiB in the everyday tests: what grows with the size shows there too. */
const FILES = amount({ short: 525, long: 2100 });
const FILE_BYTES = 512 * 1024;
const MAX_RSS_MEGABYTES = 120;
const CONFIG = {
  listen: { port: 0 },
  authentication: [{ type: "accounts", accounts: [{ username: "demo", password: "demo", home_folder_path: "/" }] }],
};

describe.skipIf(process.platform !== "linux")("memory of the command that sends an archive (needs /proc)", () => {
  let folder: string;
  let service: Command;

  afterEach(async () => {
    await service.stop();
    await rm(folder, { recursive: true });
  });

  it.each([
    ["stored", FILES * FILE_BYTES],
    ["deflate", FILES * 490],
  ])(
    `stays under ${MAX_RSS_MEGABYTES} MB while ${FILES} files of 512 KiB go in, %s`,
    async (method, least) => {
      folder = await mkdtemp(join(tmpdir(), "fileferry-memory-"));
      await mkdir(join(folder, "files"));
      await writeFile(join(folder, "fileferry.json"), JSON.stringify({ ...CONFIG, archive: { method } }));
      for (let index = 0; index < FILES; index++) {
        const file = await open(join(folder, `files/member-${index}.txt`), "w");
        await file.truncate(FILE_BYTES);
        await file.close();
      }
      service = await startCommand(["serve", "--config", join(folder, "fileferry.json"), "--quiet"]);
      const { length, bytes } = await download(`${service.origin}/home/`);
      expect(bytes).toBeGreaterThan(least);
      expect(length).toBe(method === "stored" ? `${bytes}` : undefined);
      expect(await service.peakMegabytes()).toBeLessThan(MAX_RSS_MEGABYTES);
    },
    120_000,
  );
});

/** Fetches an archive. Returns its announced length and its number of bytes. */
async function download(url: string): Promise<{ length: string | undefined; bytes: number }> {
  const sent = request(url, { auth: "demo:demo", headers: { accept: "application/zip" } });
  sent.end();
  const [response] = await once(sent, "response");
  let bytes = 0;
  for await (const chunk of response) bytes += chunk.length;
  return { length: response.headers["content-length"], bytes };
}
