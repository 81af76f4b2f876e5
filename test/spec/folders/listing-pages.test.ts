import { describe, expect, it } from "vitest";
import { compareNames } from "../../../src/contracts/member-names.ts";
import type { StorageEntry } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { type Answer, type CallOptions, createTestService, type TestService } from "../../support/service.ts";
import { overrideStorage, withLargeFolder, withLinks } from "../../support/storage.ts";

interface Entry {
  readonly name: string;
  readonly is_directory: boolean;
}

const JSON_API = { variant: "json" } as const;

function entriesOf(answer: Answer): readonly Entry[] {
  return answer.json<{ content: Entry[] }>().content;
}

function namesOf(answer: Answer): readonly string[] {
  return entriesOf(answer).map(({ name }) => name);
}

/** The URL of the next page; `undefined` on the last one. */
function nextOf(answer: Answer): string | undefined {
  return /^<([^>]+)>; rel="next"$/.exec(answer.header("link") ?? "")?.[1];
}

/** Reads all pages of a folder. */
async function pagesOf({ call }: TestService, target: string, options: CallOptions = JSON_API): Promise<Entry[][]> {
  const pages: Entry[][] = [];
  for (let next: string | undefined = target; next !== undefined; ) {
    const answer: Answer = await call("GET", next, options);
    expect(answer.status).toBe(200);
    pages.push([...entriesOf(answer)]);
    next = nextOf(answer);
  }
  return pages;
}

/** Files in `/alice/f/`. The names of the last three differ in the order of UTF-16 and of code points. */
const NAMES = ["b", "a", "B", "a.txt", "a-b", "ä", "10", "9", "\u{1f600}", "\uff01", "\uffe6x"];
const SORTED = ["10", "9", "B", "a", "a-b", "a.txt", "b", "ä", "\uff01", "\uffe6x", "\u{1f600}"];

async function createFilled(names: readonly string[] = NAMES): Promise<TestService> {
  const files = Object.fromEntries(names.map((name) => [`/alice/f/${name}`, "x"]));
  return createTestService({ files: { "/alice/f/": "", ...files } });
}

describe("GET /home/<folder>/?limit=", () => {
  it("has the first members by name, and a link to the next page", async () => {
    const { call } = await createFilled();
    const first = await call("GET", "/home/f/?limit=4", JSON_API);
    expect([first.status, first.header("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
    expect(namesOf(first)).toEqual(SORTED.slice(0, 4));
    expect(nextOf(first)).toMatch(/^\/home\/f\/\?limit=4&cursor=[\w-]+$/);
    const second = await call("GET", nextOf(first) ?? "", JSON_API);
    expect(namesOf(second)).toEqual(SORTED.slice(4, 8));
  });

  it.each([1, 2, 10, 11, 12, 10_000])("has every member once in pages of %i, as the listing has it", async (limit) => {
    const service = await createFilled();
    const whole = entriesOf(await service.call("GET", "/home/f/", JSON_API));
    const pages = await pagesOf(service, `/home/f/?limit=${limit}`);
    expect(pages).toHaveLength(Math.ceil(NAMES.length / limit));
    expect(pages.flat()).toEqual([...whole].sort((one, other) => compareNames(one.name, other.name)));
    expect(pages.flat().map(({ name }) => name)).toEqual(SORTED);
  });

  it("has an empty page of an empty folder, and no link", async () => {
    const { call } = await createFilled([]);
    const answer = await call("GET", "/home/f/?limit=5", JSON_API);
    expect([namesOf(answer), answer.header("link")]).toEqual([[], null]);
  });

  it("keeps the base path of the service, and what else the query has", async () => {
    const { call } = await createTestService({ basePath: "/files", files: { "/alice/f/a": "", "/alice/f/b": "" } });
    const options = { ...JSON_API, undescribed: "a parameter of somebody else" };
    const answer = await call("GET", "/files/home/f/?x=%26&limit=1", options);
    expect(nextOf(answer)).toMatch(/^\/files\/home\/f\/\?x=%26&limit=1&cursor=[\w-]+$/);
    expect(namesOf(await call("GET", nextOf(answer) ?? "", options))).toEqual(["b"]);
  });

  it("neither loses nor repeats a member that stays while others come and go", async () => {
    const service = await createFilled(["a", "c", "e", "g", "i"]);
    const first = await service.call("GET", "/home/f/?limit=2", JSON_API);
    await service.call("PUT", "/home/f/b", { ...JSON_API, body: "new" });
    await service.call("DELETE", "/home/f/c", JSON_API);
    await service.call("DELETE", "/home/f/g", JSON_API);
    await service.call("PUT", "/home/f/h", { ...JSON_API, body: "new" });
    const rest = await pagesOf(service, nextOf(first) ?? "");
    expect([...namesOf(first), ...rest.flat().map(({ name }) => name)]).toEqual(["a", "c", "e", "h", "i"]);
  });

  it.each(["HEAD", "GET"])("is the same for %s", async (method) => {
    const { call } = await createFilled();
    const answer = await call(method, "/home/f/?limit=4", JSON_API);
    expect([answer.status, nextOf(answer)?.includes("cursor=")]).toEqual([200, true]);
    expect((await call(method, "/home/f/?limit=0", JSON_API)).status).toBe(400);
    expect((await call(method, "/home/none/?limit=1", JSON_API)).status).toBe(404);
  });

  it("is ignored on pages for browsers and in archives", async () => {
    const { call } = await createFilled(["a", "b"]);
    const page = await call("GET", "/home/f/?limit=1", { variant: "html" });
    expect([page.status, page.text.includes(">b<"), page.header("link")]).toEqual([200, true, null]);
    const archive = await call("GET", "/home/f/?limit=1", { headers: { accept: "application/zip" } });
    expect(archive.status).toBe(200);
  });

  it.each(["0", "-1", "10001", "1e3", "", "x", "1.0", "01", "99999999999", "1&limit=1"])(
    "is 400 with a limit of %j",
    async (limit) => {
      const { call } = await createFilled();
      const answer = await call("GET", `/home/f/?limit=${limit}`, { ...JSON_API, isProbe: true });
      expect([answer.status, answer.header("error-code")]).toEqual([400, "limit-invalid"]);
      const [error] = answer.json<{ errors: { message: string }[] }>().errors;
      expect(error?.message).toBe("The parameter limit is not a number from 1 to 10000.");
    },
  );
});

describe("GET /home/<folder>/?limit=&cursor=", () => {
  const probe = { ...JSON_API, isProbe: true };

  it.each([["", "x", "%00", "AAAA", "..", "%2Fetc%2Fpasswd", "W10", "a".repeat(4097), "eyJhIjoxfQ"]])(
    "is 400 with a cursor that the service has not made",
    async (...cursors) => {
      const { call } = await createFilled();
      for (const cursor of cursors) {
        const answer = await call("GET", `/home/f/?limit=1&cursor=${cursor}`, probe);
        expect([answer.status, answer.header("error-code")]).toEqual([400, "cursor-invalid"]);
      }
    },
  );

  it("is 400 without a limit", async () => {
    const { call } = await createFilled();
    const next = nextOf(await call("GET", "/home/f/?limit=1", JSON_API)) ?? "";
    const answer = await call("GET", next.replace("limit=1&", ""), probe);
    expect([answer.status, answer.header("error-code")]).toEqual([400, "limit-invalid"]);
  });

  it("may have another limit than the page before", async () => {
    const { call } = await createFilled();
    const next = nextOf(await call("GET", "/home/f/?limit=3", JSON_API)) ?? "";
    expect(namesOf(await call("GET", next.replace("limit=3", "limit=100"), JSON_API))).toEqual(SORTED.slice(3));
  });

  it("is 409 in another folder, for GET and HEAD", async () => {
    const { call } = await createTestService({ files: { "/alice/f/a": "", "/alice/f/b": "", "/alice/g/a": "" } });
    const next = nextOf(await call("GET", "/home/f/?limit=1", JSON_API)) ?? "";
    for (const method of ["GET", "HEAD"]) {
      const answer = await call(method, next.replace("/f/", "/g/"), JSON_API);
      expect([answer.status, answer.header("error-code")]).toEqual([409, "cursor-outdated"]);
    }
    await call("DELETE", "/home/f/", JSON_API);
    expect((await call("GET", next, JSON_API)).status).toBe(404);
  });

  it("is 409 if the account now sees other kinds of members than before", async () => {
    const files = { "/alice/a": "", "/alice/b/": "", "/alice/c/": "" };
    const storage = createMemoryStorage();
    const before = await createTestService({ storage, files });
    const after = await createTestService({ storage, ...traversing });
    const next = nextOf(await before.call("GET", "/home/?limit=1", JSON_API)) ?? "";
    const answer = await after.call("GET", next, JSON_API);
    expect([answer.status, answer.header("error-code")]).toEqual([409, "cursor-outdated"]);
  });

  it("works in another process, after a restart and for another account of the same folder", async () => {
    const storage = createMemoryStorage();
    const one = await createTestService({ storage, files: { "/a": "", "/b": "" } });
    const other = await createTestService({ storage });
    const next = nextOf(await one.call("GET", "/home/?limit=1", { ...JSON_API, as: "root" })) ?? "";
    expect(namesOf(await other.call("GET", next, { ...JSON_API, as: "root" }))).toEqual(["alice", "b"].slice(0, 1));
  });

  it("never has a path of the storage", async () => {
    const { call } = await createFilled();
    const next = nextOf(await call("GET", "/home/f/?limit=1", JSON_API)) ?? "";
    const cursor = new URLSearchParams(next.slice(next.indexOf("?"))).get("cursor") ?? "";
    expect(Buffer.from(cursor, "base64url").toString()).not.toContain("alice");
  });
});

const traversing = {
  groups: { DEFAULT_GROUP: { permissions: [["allow-traverse"]], home_folder_path: "/alice" } },
} as const;

describe("the pages of a listing", () => {
  it("have folders only, if the account may not list files", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`/alice/m${index}${index % 4 ? "" : "/"}`, ""]),
    );
    const service = await createTestService({ ...traversing, files });
    const pages = await pagesOf(service, "/home/?limit=3");
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 3, 1]);
    expect(pages.flat().every(({ is_directory }) => is_directory)).toBe(true);
  });

  it("leave out links and the reserved name, and count neither", async () => {
    const base = createMemoryStorage();
    const links = ["/alice/a", "/alice/c", "/alice/z"];
    const storage = withLinks(base, links);
    const files = { "/alice/b": "", "/alice/d": "", "/alice/__svc__/": "", "/alice/e": "" };
    const service = await createTestService({ storage, files });
    expect((await pagesOf(service, "/home/?limit=1")).flat().map(({ name }) => name)).toEqual(["b", "d", "e"]);
  });

  it("have the virtual folders of the account in their place", async () => {
    const service = await createTestService({
      groups: {
        DEFAULT_GROUP: {
          home_folder_path: "/alice",
          virtual_folders: [
            ["/m", "/shared"],
            ["/b/deep", "/shared"],
          ],
        },
      },
      files: { "/alice/a": "", "/alice/m/hidden": "", "/alice/n": "", "/shared/x": "" },
    });
    for (const limit of [1, 2, 3, 4]) {
      const pages = await pagesOf(service, `/home/?limit=${limit}`);
      expect(pages.flat().map(({ name }) => name)).toEqual(["a", "b", "m", "n"]);
    }
  });

  it("need no more of a storage than the six methods, and hold no more than a page of a huge folder", async () => {
    const storage = withLargeFolder(createMemoryStorage(), 30_000);
    const { call } = await createTestService({ storage });
    const first = await call("GET", "/home/?limit=2", JSON_API);
    expect(namesOf(first)).toEqual(["member-0.txt", "member-1.txt"]);
    expect(namesOf(await call("GET", nextOf(first) ?? "", JSON_API))).toEqual(["member-10.txt", "member-100.txt"]);
    expect(storage.folder.ended).toBe(true);
  });

  it("count towards the memory limit for pages, not as transfers", async () => {
    const storage = withLargeFolder(createMemoryStorage(), 5_000);
    const limits = { transfersPerAccount: 1, pageBytesPerAccount: 1_000_000, pageBytesPerAddress: 1_000_000 };
    const { open, call } = await createTestService({ storage, limits });
    const unread = await open("GET", "/home/?limit=3000", JSON_API);
    expect(unread.status).toBe(200);
    const refused = await call("GET", "/home/?limit=3000", JSON_API);
    expect([refused.status, refused.header("error-code")]).toEqual([503, "too-many-pages"]);
    await unread.body?.cancel();
    expect((await call("GET", "/home/?limit=3000", JSON_API)).status).toBe(200);
  });

  it("say that they are unavailable if the storage fails, and are never shorter than they should be", async () => {
    const base = createMemoryStorage();
    async function* list(): AsyncGenerator<StorageEntry> {
      yield { name: "a", kind: "file", size: 1, modified: new Date(0) };
      throw Object.assign(new Error("x"), { name: "StorageError", code: "unavailable" });
    }
    const { call } = await createTestService({ storage: overrideStorage(base, { list }) });
    expect((await call("GET", "/home/?limit=5", JSON_API)).status).toBe(503);
  });
});
