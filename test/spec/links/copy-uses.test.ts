import { describe, expect, it } from "vitest";
import { StorageError } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { openVisits, type VisitOptions } from "./visits.ts";

const ALL = ["allow-read", "allow-list", "allow-write", "allow-create-folder"] as const;
const inside = { "inbox/a.txt": "a", "inbox/sub/b.txt": "b", "inbox/sub/deeper/c.txt": "c", "inbox/empty/": "" };

async function open(maxUses: number, options: VisitOptions = {}) {
  const visits = await openVisits({ inside, webdav: {}, ...options });
  const url = await visits.link({ path: "/vault/inbox", permissions: ALL, maxUses });
  return {
    ...visits,
    url,
    copy: async (from: string, to: string, headers: Record<string, string> = {}) => {
      const destination = `http://files.example${url}${to}`;
      return (await visits.visit("COPY", url + from, { headers: { destination, ...headers } })).status;
    },
    uses: async () => (await visits.service.links.list("hildegard"))[0]?.uses,
  };
}

describe("copies by a link with a number of uses (SHARING 7.1)", () => {
  it("take one use for each file that is stored, and none for folders alone", async () => {
    const { copy, uses, files } = await open(5);
    expect([await copy("a.txt", "copy.txt"), await uses()]).toEqual([201, 1]);
    expect([await copy("empty/", "empty2/"), await uses()]).toEqual([201, 1]);
    expect([await copy("sub/", "sub2/", { depth: "0" }), await uses()]).toEqual([201, 1]);
    expect([await copy("sub/", "sub3/"), await uses()]).toEqual([201, 3]);
    expect(Object.keys(await files()).filter((path) => path.startsWith("inbox/sub3/"))).toHaveLength(2);
  });

  it("of more files than uses are left store nothing, and take none", async () => {
    const { copy, uses, files, visit, url } = await open(1);
    expect([await copy("sub/", "sub2/"), await uses()]).toEqual([410, 0]);
    expect(Object.keys(await files()).filter((path) => path.startsWith("inbox/sub2"))).toEqual([]);
    const commands = [{ command: "copy", target: "sub", destination: "sub2" }];
    const headers = { "content-type": "application/json" };
    const answer = await visit("POST", url, { variant: "json", headers, body: JSON.stringify({ commands }) });
    expect([answer.status, answer.header("error-code"), await uses()]).toEqual([422, "link-used-up", 0]);
    expect(await copy("a.txt", "copy.txt")).toBe(201);
  });

  it("that fail give all of their uses back", async () => {
    const storage = createMemoryStorage();
    const { copy, uses } = await open(5, {
      storage: {
        ...storage,
        copy: async () => {
          throw new StorageError("no-space");
        },
      },
    });
    expect([await copy("sub/", "sub2/"), await uses()]).toEqual([507, 0]);
    expect([await copy("never", "copy.txt"), await uses()]).toEqual([404, 0]);
    expect([await copy("sub/", "a.txt", { overwrite: "F" }), await uses()]).toEqual([412, 0]);
  });
});
