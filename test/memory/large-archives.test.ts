import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeSync } from "node:fs";
import { mkdir, mkdtemp, open, rm, stat, statfs, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Command, startCommand } from "../support/command.ts";
import { amount } from "../support/trust.ts";
import { isInstalled } from "../unit/archive/read-zip.ts";

const GIB = 1024 ** 3;
/** GiB. By `npm run trust` more than 4, where ZIP needs other fields: `zip64.test.ts` has these in every run. */
const LARGE = amount({ short: 0.25, long: 5 });
/** By `npm run trust` more than 16 bits count; `zip64.test.ts` has these in every run, too. */
const MANY = amount({ short: 12_000, long: 70_000 });
const MAX_RSS_MEGABYTES = 120;
const auth = "demo:demo";
const run = promisify(execFile);
/** What reads each member and checks its CRC; the quickest first. */
const READERS: readonly (readonly [command: string, ...args: string[]])[] = [
  ["7z", "t"],
  ["python3", "-m", "zipfile", "-t"],
  ["unzip", "-tqq"],
];
const readers = READERS.filter(([command]) => isInstalled(command)).slice(0, 2);
const PAGE = 4096;
const ZEROS = Buffer.alloc(PAGE);
const { bavail, bsize } = await statfs(tmpdir());
/** A file system that cannot hold the archive is no fault of it. */
const hasRoom = bavail * bsize > LARGE * GIB;

describe.skipIf(process.platform !== "linux" || !hasRoom || readers.length < 2)(
  "archives from the command (need /proc, room for the archive below the temporary folder, and two of 7z, python3, unzip)",
  () => {
    let folder: string;
    let service: Command;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "fileferry-archive-"));
      await mkdir(join(folder, "files"));
      service = await startCommand(["serve", join(folder, "files"), "--account", auth, "--port", "0", "--quiet"]);
    });

    afterAll(async () => {
      await service.stop();
      await rm(folder, { recursive: true });
    });

    /** Fetches a folder's archive into a file. */
    async function fetchArchive(name: string): Promise<{ file: string; length: string | undefined }> {
      const file = join(folder, `${name}.zip`);
      const sent = request(`${service.origin}/home/${name}/`, { auth, headers: { accept: "application/zip" } });
      sent.end();
      const [response] = await once(sent, "response");
      await save(response, file);
      return { file, length: response.headers["content-length"] };
    }

    async function judgeByAll(file: string): Promise<void> {
      await Promise.all(readers.map(([command, ...args]) => run(command, [...args, file], { maxBuffer: 1e8 })));
    }

    it("hold a large member, for two independent readers", async () => {
      const files = join(folder, "files/large");
      await mkdir(files);
      const sparse = await open(join(files, "a sparse one.bin"), "w");
      await sparse.truncate(LARGE * GIB);
      await sparse.close();
      await writeFile(join(files, "behind it.txt"), "behind");
      const { file, length } = await fetchArchive("large");
      expect(length).toBe(`${(await stat(file)).size}`);
      await judgeByAll(file);
      await rm(file);
      expect(await service.peakMegabytes()).toBeLessThan(MAX_RSS_MEGABYTES);
    }, 240_000);

    it(`hold ${MANY} members, for two independent readers`, async () => {
      const files = join(folder, "files/many");
      await mkdir(files);
      for (let index = 0; index < MANY; index += 1000) {
        const some = Array.from({ length: 1000 }, (_, place) => `member-${index + place}.txt`);
        await Promise.all(some.map((name) => writeFile(join(files, name), name)));
      }
      const { file, length } = await fetchArchive("many");
      expect(length).toBeUndefined();
      await judgeByAll(file);
      const script = "import sys, zipfile; print(len(zipfile.ZipFile(sys.argv[1]).namelist()))";
      if (isInstalled("python3"))
        expect((await run("python3", ["-c", script, file])).stdout.trim()).toBe(`${MANY + 1}`);
      expect(await service.peakMegabytes()).toBeLessThan(MAX_RSS_MEGABYTES);
    }, 240_000);
  },
);

/** Writes a stream to a file that has holes where its pages hold nothing: zeros take no time and no room. */
async function save(stream: AsyncIterable<Buffer>, file: string): Promise<void> {
  const handle = await open(file, "w");
  let at = 0;
  for await (const chunk of stream) {
    for (let from = 0; from < chunk.length; ) {
      const part = chunk.subarray(from, from + PAGE - ((at + from) % PAGE));
      if (!part.equals(ZEROS.subarray(0, part.length))) writeSync(handle.fd, part, 0, part.length, at + from);
      from += part.length;
    }
    at += chunk.length;
  }
  await handle.truncate(at);
  await handle.close();
}
