import { beforeEach, describe, expect, it } from "vitest";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { BROWSER_HEADERS, formOf } from "../../support/forms.ts";
import type { TestService, TestServiceOptions } from "../../support/service.ts";
import { ARCHIVE, begin, createCounted, statusOf } from "./large-folders.ts";

const ZIP = { accept: "application/zip" };

const createArchives = (options?: TestServiceOptions) => createCounted(ARCHIVE, options);

describe("the memory for the members of an account's archives (limits.pageBytesPerAccount)", () => {
  let test: TestService;
  beforeEach(async () => {
    test = await createArchives();
  });

  it("is limited: one more archive of a large folder is 503 with Retry-After, and is logged once", async () => {
    await begin(ARCHIVE, test);
    for (const variant of ["json", "webdav", "html"] as const) {
      const headers = { ...ZIP, "accept-language": "de" };
      const refused = await test.call("GET", "/home/large/", { variant, headers });
      expect([refused.status, refused.header("retry-after")]).toEqual([503, "5"]);
      if (variant === "json") expect(refused.text).toContain("Too many concurrent archives of large folders.");
    }
    expect(test.log.entries.filter(({ level }) => level === "warn")).toEqual([
      expect.objectContaining({
        details: { account: "alice", pageBytesPerAccount: ARCHIVE.limit },
        message: "The memory limit for pages and archives is reached; further ones are rejected.",
      }),
    ]);
  });

  it("is shared with pages", async () => {
    const archive = await begin(ARCHIVE, test);
    expect((await test.call("GET", "/home/large/", { variant: "html" })).status).toBe(503);
    await archive.body?.cancel();
    expect((await test.call("GET", "/home/large/", { variant: "html" })).status).toBe(200);
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
      expect(await statusOf(ARCHIVE, test, "/home/none/")).toBe(404);
    }
    expect(await statusOf(ARCHIVE, test)).toBe(200);
  });

  it("emits the events of a failed archive (6)", async () => {
    const events: FileEvent[] = [];
    const heard = await createArchives({ onEvent: (event) => void events.push(event) });
    await begin(ARCHIVE, heard);
    events.length = 0;
    expect(await statusOf(ARCHIVE, heard)).toBe(503);
    const [started, ended] = events.filter(({ id }) => id === 40016 || id === 40041);
    expect([started?.id, ended?.id]).toEqual([40016, 40041]);
    expect(ended?.data).toMatchObject({ details: "Too many concurrent archives of large folders." });
  });

  it("breaks an archive off that reaches the limit after its start, and is free again", async () => {
    const compressed = await createArchives({ archive: { method: "deflate" } });
    const first = await begin(ARCHIVE, compressed);
    const late = await begin(ARCHIVE, compressed, "/home/tree/");
    await expect(late.arrayBuffer()).rejects.toThrow();
    expect(await statusOf(ARCHIVE, compressed), "of the same folder as the first").toBe(503);
    await first.body?.cancel();
    const again = await begin(ARCHIVE, compressed, "/home/tree/");
    expect(await ARCHIVE.countMembers(again)).toBe(2502);
    expect(await statusOf(ARCHIVE, compressed)).toBe(200);
  });
});
