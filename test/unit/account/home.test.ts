import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { prepareHome, toAccount } from "../../../src/account/home.ts";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { isMemberName } from "../../../src/http/segment.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { fillStorage } from "../../support/storage.ts";

// biome-ignore lint/suspicious/noTemplateCurlyInString: that is how the configuration spells it.
const USER = "${USER}";

describe("an account's home", () => {
  it.each([
    [undefined, "alice", "/alice"],
    ["/", "alice", "/"],
    ["/srv/data", "alice", "/srv/data"],
    [`/homes/${USER}`, "alice", "/homes/alice"],
    [`/homes/${USER}/files`, "alice", "/homes/alice/files"],
    [undefined, "a/b", "/a%2Fb"],
    [undefined, 'a\\b:c*d?e"f<g>h|i%j', "/a%5Cb%3Ac%2Ad%3Fe%22f%3Cg%3Eh%7Ci%25j"],
    [undefined, "a\nb\u007f", "/a%0Ab%7F"],
    [undefined, "zo\u00eb $& $1", "/zo\u00eb $& $1"],
    [undefined, USER, `/${USER}`],
  ])("of the path %j and the name %j is %s (2.4, CONTRACT 7.1)", (home_folder_path, name, home) => {
    const settings = home_folder_path === undefined ? {} : { home_folder_path };
    expect(toAccount(name, settings).home).toBe(home);
  });

  it.each([".", "..", ""])("is refused for the name %j (CONTRACT 7.1)", (name) => {
    expect(() => toAccount(name, { home_folder_path: `/homes/${USER}` })).toThrow();
  });

  it("is one of its own for every name, and one segment (SECURITY 4)", () => {
    const name = fc
      .string({ unit: "binary", minLength: 1 })
      .filter((text) => !/\p{Cs}/u.test(text) && !/^\.{1,2}$/.test(text));
    fc.assert(
      fc.property(name, name, (one, other) => {
        const [first, second] = [toAccount(one, {}).home, toAccount(other, {}).home];
        expect(isMemberName(first.slice(1))).toBe(true);
        expect(first === second).toBe(one === other);
      }),
    );
  });

  it("fills in what the account leaves out (2.4)", () => {
    expect(toAccount("alice", {})).toEqual({
      name: "alice",
      uuid: "alice",
      email: "",
      home: "/alice",
      createHome: true,
    });
  });
});

describe("the preparation of a home", () => {
  const kindOf = async (storage: StorageAdapter, path: string) => (await storage.stat(path))?.kind;

  it("makes it with its parents (CONTRACT 7.1)", async () => {
    const storage = createMemoryStorage();
    await prepareHome(toAccount("alice", { home_folder_path: "/a/b/c" }), storage);
    expect(await kindOf(storage, "/a/b/c")).toBe("folder");
  });

  it("may be done by several logins at once (SECURITY 11)", async () => {
    const storage = createMemoryStorage();
    const account = toAccount("alice", { home_folder_path: "/a/b" });
    await Promise.all([1, 2, 3].map(() => prepareHome(account, storage)));
    expect(await kindOf(storage, "/a/b")).toBe("folder");
  });

  it("is refused where it is missing and not to be made (CONTRACT 7.3)", async () => {
    const storage = createMemoryStorage();
    const account = toAccount("alice", { home_folder_path: "/a", create_home_folder: false });
    await expect(prepareHome(account, storage)).rejects.toMatchObject({ failure: "denied" });
    expect(await kindOf(storage, "/a")).toBeUndefined();
  });

  it("is refused where a file stands in its place (CONTRACT 7.3)", async () => {
    const storage = createMemoryStorage();
    await fillStorage(storage, { "/alice": "a file" });
    await expect(prepareHome(toAccount("alice", {}), storage)).rejects.toMatchObject({ failure: "denied" });
  });
});
