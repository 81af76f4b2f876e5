import { describe, expect, it } from "vitest";
import { put, readFileText } from "../../../../src/testing/storage/content.ts";
import { createFake, refusal, type S3Call, type S3Fake, type S3Script } from "../../../support/s3/fake.ts";

const NAME = "{urn:example}name";
const PROPERTIES = { properties: new Map([[NAME, "x"]]) };

/** A store with the folder `tree`, whose members and itself have properties, and the file `file`. */
async function createTree(script?: S3Script): Promise<S3Fake> {
  let isReady = false;
  const fake = createFake((call, number, serve) => (isReady ? script?.(call, number, serve) : undefined));
  const { storage } = fake;
  await storage.createFolder("/tree");
  for (const path of ["/file", "/tree/1", "/tree/2", "/tree/3"]) await put(storage, path, path);
  for (const path of ["/file", "/tree", "/tree/2"]) await storage.attributes?.change(path, PROPERTIES);
  isReady = true;
  return fake;
}

const PROPERTY_FOLDER = ".fileferry-properties";
const TREE = ["tree/", `tree/${PROPERTY_FOLDER}/2`, "tree/1", "tree/2", "tree/3", `${PROPERTY_FOLDER}/tree`];
const FILE = ["file", `${PROPERTY_FOLDER}/file`];

function keysOf({ objects }: S3Fake): readonly string[] {
  return [...objects.keys()].sort();
}

/** The keys of a tree under another name. */
function renamed(keys: readonly string[], from: string, to: string): readonly string[] {
  return keys.map((key) => key.replace(new RegExp(`(^|/)${from}(?=/|$)`), `$1${to}`));
}

function sorted(...keys: readonly (readonly string[])[]): readonly string[] {
  return keys.flat().sort();
}

function isCopyTo({ method, key, headers }: S3Call, wanted: string): boolean {
  return method === "PUT" && key === wanted && headers.has("x-amz-copy-source");
}

function isRemoval({ method, query }: S3Call): boolean {
  return method === "DELETE" || query.has("delete");
}

describe("copies of folders in S3", () => {
  it("do not say that they read: the store copies", async () => {
    const { storage } = await createTree();
    const onRead = () => {
      throw new Error("not now");
    };
    expect(await storage.copy("/tree", "/copy", { onRead })).toBe("created");
    expect(await storage.move("/file", "/moved", { onRead })).toBe("created");
  });

  it("are taken back if a member cannot be copied, with the error of that member", async () => {
    for (const failing of ["copy/3", `${PROPERTY_FOLDER}/copy`]) {
      const fake = await createTree((call) => (isCopyTo(call, failing) ? refusal(403, "AccessDenied") : undefined));
      await expect(fake.storage.copy("/tree", "/copy")).rejects.toMatchObject({ code: "denied" });
      expect(keysOf(fake)).toEqual(sorted(TREE, FILE));
    }
  });

  it("are taken back if the signal aborts, with its reason", async () => {
    const controller = new AbortController();
    const fake = await createTree((call) => {
      if (isCopyTo(call, "copy/2")) controller.abort(new Error("gone"));
      return undefined;
    });
    const { signal } = controller;
    await expect(fake.storage.copy("/tree", "/copy", { signal })).rejects.toThrow("gone");
    expect(keysOf(fake)).toEqual(sorted(TREE, FILE));
  });

  it("that are taken back leave what others have put there meanwhile", async () => {
    const other = { body: "other", headers: new Headers({ etag: '"other"' }) };
    const fake = await createTree((call) => {
      if (!isCopyTo(call, "copy/3")) return undefined;
      for (const key of ["copy/1", "copy/mine", "copy/deep/mine"]) fake.objects.set(key, other);
      return refusal(403, "AccessDenied");
    });
    await expect(fake.storage.copy("/tree", "/copy")).rejects.toMatchObject({ code: "denied" });
    const own = ["copy/1", "copy/deep/mine", "copy/mine", `${PROPERTY_FOLDER}/copy`];
    expect(keysOf(fake)).toEqual(sorted(TREE, FILE, own));
    expect(fake.objects.get("copy/1")).toBe(other);
  });

  it("that other programs have created are taken back without a trace", async () => {
    const fake = await createTree((call) => (isCopyTo(call, "copy/3") ? refusal(403, "AccessDenied") : undefined));
    fake.objects.delete("tree/");
    const before = keysOf(fake);
    await expect(fake.storage.copy("/tree", "/copy")).rejects.toMatchObject({ code: "denied" });
    expect(keysOf(fake)).toEqual(before);
  });

  it("are refused if a member's new key would be too long, before anything is copied", async () => {
    const fake = createFake();
    const { storage } = fake;
    const long = "/x".repeat(300);
    for (let path = "/x"; path.length <= long.length; path += "/x") await storage.createFolder(path);
    const names = Array.from({ length: 3 }, (_, index) => "n".repeat(200 + index));
    let parent = "";
    for (const name of names) {
      parent += `/${name}`;
      await storage.createFolder(parent);
    }
    for (const verb of ["copy", "move"] as const) {
      const before = fake.calls.length;
      await expect(storage[verb]("/x", `${parent}/y`)).rejects.toMatchObject({ code: "bad-name" });
      expect(fake.calls.slice(before).filter(({ method }) => !/^(?:GET|HEAD)$/.test(method))).toEqual([]);
    }
    await storage.createFolder(`${parent}/y`);
    await put(storage, `${parent}/y/old`, "old");
    for (const verb of ["copy", "move"] as const) {
      const replacing = storage[verb]("/x", `${parent}/y`, { replace: true });
      await expect(replacing, verb).rejects.toMatchObject({ code: "bad-name" });
      expect(await readFileText(storage, `${parent}/y/old`)).toBe("old");
    }
  });
});

describe("copies and moves of folders in S3 to paths at which no properties fit", () => {
  it.each(["copy", "move"] as const)("leave those out, and take the members along: %s", async (verb) => {
    const fake = createFake();
    const { storage } = fake;
    const names = ["s", ...Array.from({ length: 4 }, () => "n".repeat(245))];
    const folders = names.slice(0, -1).map((_, index) => `/${names.slice(0, index + 1).join("/")}`);
    for (const folder of folders) await storage.createFolder(folder);
    for (const path of ["/s/short", `/${names.join("/")}`]) {
      await put(storage, path, "x");
      await storage.attributes?.change(path, PROPERTIES);
    }
    const before = keysOf(fake);
    const target = "t".repeat(20);
    await storage[verb]("/s", `/${target}`);
    const after = renamed(before, "s", target).filter((key) => key.length <= 1024);
    expect(after).toHaveLength(before.length - 1);
    expect(keysOf(fake)).toEqual(verb === "copy" ? sorted(before, after) : after);
  });
});

describe("copies of files in S3", () => {
  it("are removed again if their properties cannot be copied", async () => {
    const failing = `${PROPERTY_FOLDER}/copy`;
    const fake = await createTree((call) => (isCopyTo(call, failing) ? refusal(403, "AccessDenied") : undefined));
    await expect(fake.storage.copy("/file", "/copy")).rejects.toMatchObject({ code: "denied" });
    expect(keysOf(fake)).toEqual(sorted(TREE, FILE));
  });
});

describe("a copy over a file whose signal aborts while the store makes it", () => {
  it("resolves, as the file is there", async () => {
    const client = new AbortController();
    const fake = await createTree((call, _number, serve) => {
      if (!isCopyTo(call, "file")) return undefined;
      const made = serve();
      client.abort(new Error("gone"));
      return call.signal?.aborted ? Promise.reject(call.signal.reason) : made;
    });
    const { signal } = client;
    expect(await fake.storage.copy("/tree/1", "/file", { replace: true, signal })).toBe("replaced");
    expect(await readFileText(fake.storage, "/file")).toBe("/tree/1");
  });
});

describe("moves in S3", () => {
  it("take the properties of all members along, and leave nothing", async () => {
    const fake = await createTree();
    await fake.storage.move("/tree", "/new");
    await fake.storage.move("/file", "/other");
    expect(keysOf(fake)).toEqual(sorted(renamed(TREE, "tree", "new"), renamed(FILE, "file", "other")));
  });

  it.each(["tree", "file"])("of a %s leave both and are unavailable if the source cannot be removed", async (name) => {
    const fake = await createTree((call) => (isRemoval(call) ? refusal(403, "AccessDenied") : undefined));
    await expect(fake.storage.move(`/${name}`, "/new")).rejects.toMatchObject({ code: "unavailable" });
    expect(keysOf(fake)).toEqual(sorted(TREE, FILE, renamed(name === "tree" ? TREE : FILE, name, "new")));
    expect(fake.objects.get("new/3")?.body).toBe(name === "tree" ? "/tree/3" : undefined);
  });

  it("keep a member that was changed or created after it was copied, and are unavailable", async () => {
    let listings = 0;
    const fake = await createTree((call) => {
      if (call.query.get("prefix") === "tree/" && call.query.get("max-keys") === "1000") listings += 1;
      // The second one begins the removal.
      if (listings === 2) {
        fake.objects.set("tree/2", { body: "changed", headers: new Headers({ etag: '"other"' }) });
        fake.objects.set("tree/later", { body: "created", headers: new Headers({ etag: '"another"' }) });
      }
      return undefined;
    });
    await expect(fake.storage.move("/tree", "/new")).rejects.toMatchObject({ code: "unavailable" });
    expect(fake.objects.get("tree/2")?.body).toBe("changed");
    expect(fake.objects.get("tree/later")?.body).toBe("created");
    expect(fake.objects.get("new/2")?.body).toBe("/tree/2");
    expect(fake.objects.get("new/1")?.body).toBe("/tree/1");
    expect(fake.objects.has("tree/1")).toBe(false);
  });

  it("remove members whose copies have other entity-tags, as a store may give them", async () => {
    const fake = await createTree((call, _, serve) => {
      if (!isCopyTo(call, "new/2")) return undefined;
      const response = serve();
      fake.objects.get("new/2")?.headers.set("etag", '"of-parts-2"');
      return response;
    });
    await fake.storage.move("/tree", "/new");
    expect(keysOf(fake)).toEqual(sorted(renamed(TREE, "tree", "new"), FILE));
  });

  it("of a file that was changed after it was copied keep the new version, and are unavailable", async () => {
    const fake = await createTree((call, _, serve) => {
      if (!isCopyTo(call, "new")) return undefined;
      const response = serve();
      fake.objects.set("file", { body: "changed", headers: new Headers({ etag: '"other"' }) });
      return response;
    });
    await expect(fake.storage.move("/file", "/new")).rejects.toMatchObject({ code: "unavailable" });
    expect([fake.objects.get("file")?.body, fake.objects.get("new")?.body]).toEqual(["changed", "/file"]);
  });

  it("of a folder that another mover has moved are not-found, and remove nothing that others have put there", async () => {
    let listings = 0;
    const fake = await createTree((call) => {
      if (call.query.get("prefix") !== "tree/" || call.query.get("max-keys") !== "1000") return undefined;
      listings += 1;
      // The second one begins the removal.
      if (listings !== 2) return undefined;
      for (const key of TREE) fake.objects.delete(key);
      fake.objects.set("new/mine", { body: "mine", headers: new Headers({ etag: '"mine"' }) });
      return undefined;
    });
    await expect(fake.storage.move("/tree", "/new")).rejects.toMatchObject({ code: "not-found" });
    expect(fake.objects.get("new/mine")?.body).toBe("mine");
  });

  it("of one source by two movers: the second is not-found, and takes its copy back", async () => {
    const fake = await createTree((call, _, serve) => {
      if (!isCopyTo(call, "second")) return undefined;
      const response = serve();
      fake.objects.delete("file");
      return response;
    });
    await expect(fake.storage.move("/file", "/second")).rejects.toMatchObject({ code: "not-found" });
    expect(fake.objects.has("second")).toBe(false);
  });
});
