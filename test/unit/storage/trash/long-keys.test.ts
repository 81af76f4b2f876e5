import { describe, expect, it } from "vitest";
import { put, readFileText } from "../../../../src/testing/storage/content.ts";
import { createFake } from "../../../support/s3/fake.ts";
import { codeOf, entriesOf, openTrash, pathsIn } from "./setup.ts";

describe("a trash in a bucket, whose keys have at most 1,024 bytes", () => {
  it("takes a file with a long key, and refuses for good a folder that has one", async () => {
    const { storage: inner, objects } = createFake();
    const { storage } = openTrash({}, inner);
    const names = Array.from({ length: 4 }, (_, index) => "n".repeat(240 + index));
    let folder = "/folder";
    await storage.createFolder(folder);
    await put(storage, "/folder/short", "short");
    for (const name of names) {
      folder += `/${name}`;
      await storage.createFolder(folder);
    }
    const path = `${folder}/file`;
    await put(storage, path, "long");
    const before = [...objects.keys()].sort();

    expect(await codeOf(storage.remove("/folder"))).toBe("unsupported");
    expect([...objects.keys()].filter((key) => !key.startsWith("__svc__/")).sort()).toEqual(before);
    expect((await pathsIn(inner, "/__svc__")).filter((kept) => kept.endsWith(".json"))).toEqual([]);
    expect(await readFileText(storage, path)).toBe("long");

    const deep = `/folder/${names.slice(0, 3).join("/")}`;
    for (const removed of [path, deep, "/folder"]) await storage.remove(removed);
    expect((await entriesOf(storage)).map((entry) => entry.path).sort()).toEqual(["/folder", deep, path]);
  });
});
