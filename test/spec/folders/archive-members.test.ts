import { beforeEach, describe, expect, it } from "vitest";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { BROWSER_HEADERS, formOf } from "../../support/forms.ts";
import {
  type CallOptions,
  createTestService,
  type TestService,
  type TestServiceOptions,
} from "../../support/service.ts";
import { readZip } from "../../unit/archive/read-zip.ts";

const PEER = { address: "192.0.2.1", port: 4711, family: "IPv4", protocol: "TCP" } as const;
const ZIP = { accept: "application/zip" };

function filesIn(folder: string, count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`${folder}/${index}.txt`, ""]));
}

const FILES = {
  ...filesIn("/alice/small", 100),
  ...filesIn("/alice/large", 2500),
  ...filesIn("/bob/large", 2500),
  // A file that fills the first part of an archive, which is not compressed, and a folder that is listed after it.
  "/alice/tree/first.jpg": "x".repeat(100_000),
  ...filesIn("/alice/tree/rest", 2500),
};

/** What an archive of the large folder counts: 64 KiB, and for each member 400 bytes and three for each of its path. */
const LARGE = 65_536 + Object.keys(filesIn("/large", 2500)).reduce((sum, { length }) => sum + 397 + 3 * length, 0);

/** A service in which an account may have a large archive and a small one at a time. */
function createCounted(options: TestServiceOptions = {}): Promise<TestService> {
  const limits = { pageBytesPerAccount: LARGE + 200_000, ...options.limits };
  return createTestService({ files: FILES, ...options, limits });
}

/** Starts an archive of which nothing is read. */
async function begin({ open }: TestService, target = "/home/large/", options: CallOptions = {}): Promise<Response> {
  const response = await open("GET", target, { headers: ZIP, connection: { peer: PEER }, ...options });
  expect(response.status).toBe(200);
  return response;
}

async function statusOf({ open }: TestService, target = "/home/large/", options: CallOptions = {}): Promise<number> {
  const response = await open("GET", target, { headers: ZIP, connection: { peer: PEER }, ...options });
  await response.body?.cancel();
  return response.status;
}

describe("the memory for the members of an account's archives (limits.pageBytesPerAccount)", () => {
  let test: TestService;
  beforeEach(async () => {
    test = await createCounted();
  });

  it("is limited: one more archive of a large folder is 503 with Retry-After, and is logged once", async () => {
    await begin(test);
    for (const variant of ["json", "webdav", "html"] as const) {
      const headers = { ...ZIP, "accept-language": "de" };
      const refused = await test.call("GET", "/home/large/", { variant, headers });
      expect([refused.status, refused.header("retry-after")]).toEqual([503, "5"]);
      if (variant === "json") expect(refused.text).toContain("Too many concurrent archives of large folders.");
    }
    expect(test.log.entries.filter(({ level }) => level === "warn")).toEqual([
      expect.objectContaining({
        details: { account: "alice", pageBytesPerAccount: LARGE + 200_000 },
        message: "The memory limit for pages and archives is reached; further ones are rejected.",
      }),
    ]);
  });

  it.each<[string, (archive: Response) => Promise<unknown>]>([
    ["is read", (archive) => archive.arrayBuffer()],
    ["is cancelled", async (archive) => archive.body?.cancel()],
  ])("is free when the archive %s", async (_how, end) => {
    const archive = await begin(test);
    expect(await statusOf(test)).toBe(503);
    await end(archive);
    expect(await statusOf(test)).toBe(200);
  });

  it("may be more than the limit for a single archive", async () => {
    const limited = await createCounted({ limits: { pageBytesPerAccount: 1 } });
    const archive = await begin(limited);
    expect(readZip(Buffer.from(await archive.arrayBuffer()))).toHaveLength(2501);
    expect(await statusOf(limited)).toBe(200);
  });

  it("leaves archives of small folders, other responses and other accounts alone", async () => {
    await begin(test);
    expect(await statusOf(test, "/home/small/")).toBe(200);
    expect((await test.call("GET", "/home/large/", { variant: "json" })).status).toBe(200);
    expect((await test.call("GET", "/home/large/1.txt")).status).toBe(200);
    expect(await statusOf(test, "/home/large/", { as: "bob" })).toBe(200);
  });

  it("is shared with pages", async () => {
    const archive = await begin(test);
    expect((await test.call("GET", "/home/large/", { variant: "html" })).status).toBe(503);
    await archive.body?.cancel();
    expect((await test.call("GET", "/home/large/", { variant: "html" })).status).toBe(200);
  });

  it("counts the members of an address, too (limits.pageBytesPerAddress)", async () => {
    const limited = await createCounted({ limits: { pageBytesPerAccount: 0, pageBytesPerAddress: 2 * LARGE - 1 } });
    await begin(limited);
    expect(await statusOf(limited, "/home/large/", { as: "bob" })).toBe(503);
    const elsewhere = { as: "bob", connection: { peer: { ...PEER, address: "192.0.2.2" } } } as const;
    expect(await statusOf(limited, "/home/large/", elsewhere)).toBe(200);
  });

  it("is that of archives of selected members, too: the form is 503", async () => {
    const body = formOf(["action", "download-members"], ["selected-members", "large"]);
    const post = () => test.open("POST", "/home/", { headers: BROWSER_HEADERS, body });
    const archive = await post();
    expect(archive.headers.get("content-type")).toBe("application/zip");
    expect((await post()).status).toBe(503);
    await archive.body?.cancel();
    expect((await post()).status).toBe(200);
  });

  it("is free after HEAD, and after an archive that failed to list", async () => {
    for (let time = 0; time < 3; time++) {
      expect((await test.call("HEAD", "/home/large/", { headers: ZIP })).status).toBe(200);
      expect(await statusOf(test, "/home/none/")).toBe(404);
    }
    expect(await statusOf(test)).toBe(200);
  });

  it("emits the events of a failed archive (6)", async () => {
    const events: FileEvent[] = [];
    const heard = await createCounted({ onEvent: (event) => void events.push(event) });
    await begin(heard);
    events.length = 0;
    expect(await statusOf(heard)).toBe(503);
    const [started, ended] = events.filter(({ id }) => id === 40016 || id === 40041);
    expect([started?.id, ended?.id]).toEqual([40016, 40041]);
    expect(ended?.data).toMatchObject({ details: "Too many concurrent archives of large folders." });
  });

  it("lets one of several archives in that are each more than the limit", async () => {
    for (const clients of [2, 3, 8]) {
      const limited = await createCounted({ limits: { pageBytesPerAccount: LARGE - 100_000 } });
      const statuses = await Promise.all(Array.from({ length: clients }, () => statusOf(limited)));
      expect(statuses).toContain(200);
    }
  });

  it("breaks an archive off that reaches the limit after its start, and is free again", async () => {
    const compressed = await createCounted({ archive: { method: "deflate" } });
    const first = await begin(compressed);
    const late = await begin(compressed, "/home/tree/");
    await expect(late.arrayBuffer()).rejects.toThrow();
    expect(await statusOf(compressed), "of the same folder as the first").toBe(503);
    await first.body?.cancel();
    const again = await begin(compressed, "/home/tree/");
    expect(readZip(Buffer.from(await again.arrayBuffer()))).toHaveLength(2503);
    expect(await statusOf(compressed)).toBe(200);
  });

  it("is not counted if both limits are 0", async () => {
    const free = await createCounted({ limits: { pageBytesPerAccount: 0, pageBytesPerAddress: 0 } });
    for (let time = 0; time < 5; time++) await begin(free);
    expect(free.log.entries).toEqual([]);
  });
});
