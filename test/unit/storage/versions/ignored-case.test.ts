import { expect, it } from "vitest";
import { createQuotaStorage } from "../../../../src/storage/quota.ts";
import { createTrashStorage } from "../../../../src/storage/trash.ts";
import { createFaultyStorage } from "../../../../src/testing/faulty-storage.ts";
import { put, readFileText } from "../../../../src/testing/storage/content.ts";
import { createIgnoringCase } from "../ignoring-case.ts";
import { pathsIn } from "../trash/setup.ts";
import { openVersions, textsOf } from "./setup.ts";

const MOVES = [
  { from: "/a.txt", to: "/A.txt", file: "/A.txt" },
  { from: "/folder", to: "/Folder", file: "/Folder/below/a.txt" },
] as const;
const CASES = MOVES.flatMap((move) => [
  { ...move, options: {} },
  { ...move, options: { replace: true } },
]);

async function open(inner = createIgnoringCase()) {
  const quotas = createQuotaStorage(inner, { folders: [{ path: "/", bytes: 1000 }] });
  const { storage, pass } = openVersions({}, quotas);
  for (const path of ["/folder", "/folder/below"]) await storage.createFolder(path);
  for (const path of ["/a.txt", "/folder/below/a.txt"]) {
    for (const text of ["1", "22", "333"]) await put(storage, path, text);
  }
  return { inner, quota: quotas.quota, storage, pass };
}

it.each(CASES)("versions stay with what gets another case where case is ignored ($from, $options)", async (row) => {
  const { from, to, file, options } = row;
  for (const hasTrash of [false, true]) {
    const { inner, quota, storage } = await open();
    const outer = hasTrash ? createTrashStorage(storage) : storage;
    const before = await quota.usage("/");
    expect(await outer.move(from, to, options)).toBe("created");
    const paths = await pathsIn(inner);
    expect(paths).toContain(file);
    expect(paths.filter((path) => path.startsWith("/__svc__/trash/"))).toEqual([]);
    expect(await readFileText(outer, file)).toBe("333");
    expect(await textsOf(storage, file)).toEqual(["22", "1"]);
    expect(await quota.usage("/")).toEqual(before);
    expect(await quota.recount("/")).toEqual(before);
  }
});

it("a file stays if a crash comes before it gets another case", async () => {
  let hasCrashed = false;
  const inner = createFaultyStorage(createIgnoringCase(), ({ verb, path, step }) => {
    hasCrashed ||= verb === "move" && path === "/a.txt" && step === "call";
    return hasCrashed ? { fault: "error" } : undefined;
  });
  const { storage, pass } = await open(inner);
  await expect(storage.move("/a.txt", "/A.txt", { replace: true })).rejects.toMatchObject({ code: "unavailable" });
  hasCrashed = false;
  pass(10_000);
  await storage.versions.sweep();
  expect(await readFileText(storage, "/a.txt")).toBe("333");
  expect(await textsOf(storage, "/a.txt")).toEqual(["22", "1"]);
});
