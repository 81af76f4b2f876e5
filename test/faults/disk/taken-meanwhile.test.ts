import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createDiskStorage } from "../../../src/storage/disk.ts";

/** What happens after a member has been renamed; by default nothing. */
const after = vi.hoisted(() => ({ rename: async (_to: string): Promise<void> => undefined }));
let root: string;

vi.mock("node:fs/promises", async (load) => {
  const real = await load<typeof import("node:fs/promises")>();
  async function rename(from: string, to: string): Promise<void> {
    await real.rename(from, to);
    await after.rename(to);
  }
  return { ...real, rename };
});

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "fileferry-taken-"));
  mkdirSync(join(root, "folder"));
  writeFileSync(join(root, "folder", "inside"), "old");
  writeFileSync(join(root, "file"), "new");
});
afterEach(() => {
  after.rename = async () => undefined;
  rmSync(root, { recursive: true });
});

/** Has something happen each time when the name of the folder is free, as often as said. */
function whenFree(take: () => unknown, times = Number.POSITIVE_INFINITY): () => number {
  let taken = 0;
  after.rename = async (to) => {
    if (!to.includes(".fileferry-") || taken === times) return;
    taken += 1;
    await take();
  };
  return () => taken;
}

describe.each(["move", "copy"] as const)("a %s over a folder, whose name is free for a moment", (verb) => {
  const replace = () => createDiskStorage({ root, durability: "rename" })[verb]("/file", "/folder", { replace: true });

  it("has others of the process wait who create a folder there", async () => {
    const storage = createDiskStorage({ root, durability: "rename" });
    let creating: Promise<unknown> = Promise.resolve();
    const taken = whenFree(() => {
      creating = storage.createFolder("/folder").then(
        () => "created",
        () => "refused",
      );
      return Promise.race([creating, setTimeout(100)]);
    }, 1);
    expect(await replace()).toBe("replaced");
    expect(await creating).toBe("refused");
    expect(taken()).toBe(1);
    expect(readFileSync(join(root, "folder"), "utf8")).toBe("new");
  });

  it("replaces what another process puts there", async () => {
    const taken = whenFree(() => mkdirSync(join(root, "folder")), 3);
    expect(await replace()).toBe("replaced");
    expect(taken()).toBe(3);
    expect(readFileSync(join(root, "folder"), "utf8")).toBe("new");
    expect(readdirSync(root)).toEqual(verb === "move" ? ["folder"] : ["file", "folder"]);
  });

  it("gives the folder back if others take its name again and again", async () => {
    const taken = whenFree(() => mkdirSync(join(root, "folder"), { recursive: true }));
    await expect(replace()).rejects.toMatchObject({ code: "already-exists" });
    expect(taken()).toBeGreaterThan(10);
    expect(readFileSync(join(root, "folder", "inside"), "utf8")).toBe("old");
    expect(readFileSync(join(root, "file"), "utf8")).toBe("new");
  });

  it("replaces what another process has filled meanwhile", async () => {
    const taken = whenFree(makeFull, 1);
    expect(await replace()).toBe("replaced");
    expect(taken()).toBe(1);
    expect(readFileSync(join(root, "folder"), "utf8")).toBe("new");
  });

  it("replaces nothing of others if what was to take the place is gone, and gives the folder back", async () => {
    whenFree(() => {
      makeFull();
      for (const name of readdirSync(root)) if (isMoved(name)) rmSync(join(root, name));
    }, 1);
    await expect(replace()).rejects.toMatchObject({ code: "unavailable" });
    expect(readdirSync(join(root, "folder"))).toEqual(["other"]);
    rmSync(join(root, "folder"), { recursive: true });
    expect(await listNames()).toContain("folder");
    expect(readFileSync(join(root, "folder", "inside"), "utf8")).toBe("old");
  });

  it("says that something changed if the folder cannot come back, and gives it back when it can", async () => {
    whenFree(makeFull);
    await expect(replace()).rejects.toMatchObject({ code: "unavailable" });
    after.rename = async () => undefined;
    await listNames();
    expect(readdirSync(join(root, "folder"))).toEqual(["other"]);
    rmSync(join(root, "folder"), { recursive: true });
    expect(await listNames()).toEqual(["file", "folder"]);
    expect(readFileSync(join(root, "folder", "inside"), "utf8")).toBe("old");
  });

  it("gives the folder back also if an earlier one, which could not come back either, was removed", async () => {
    whenFree(makeFull);
    await expect(replace()).rejects.toMatchObject({ code: "unavailable" });
    for (const name of readdirSync(root)) if (name !== "file") rmSync(join(root, name), { recursive: true });
    mkdirSync(join(root, "folder"));
    writeFileSync(join(root, "folder", "inside"), "later");
    await expect(replace()).rejects.toMatchObject({ code: "unavailable" });
    after.rename = async () => undefined;
    rmSync(join(root, "folder"), { recursive: true });
    expect(await listNames()).toEqual(["file", "folder"]);
    expect(readFileSync(join(root, "folder", "inside"), "utf8")).toBe("later");
  });

  it("does not give back what a later one has replaced", async () => {
    whenFree(makeFull);
    await expect(replace()).rejects.toMatchObject({ code: "unavailable" });
    after.rename = async () => undefined;
    expect(await replace()).toBe("replaced");
    rmSync(join(root, "folder"));
    expect(await listNames()).not.toContain("folder");
  });

  /** Lists twice: the first listing gives names back. */
  async function listNames(): Promise<readonly string[]> {
    const storage = createDiskStorage({ root });
    for await (const _ of storage.list("/"));
    const names: string[] = [];
    for await (const { name } of storage.list("/")) names.push(name);
    return names.sort();
  }

  function makeFull(): void {
    mkdirSync(join(root, "folder"), { recursive: true });
    writeFileSync(join(root, "folder", "other"), "");
  }

  /** Whether a name is that of the file that takes the place: a copy has a temporary one. */
  function isMoved(name: string): boolean {
    return verb === "move" ? name === "file" : name.startsWith(".fileferry-") && statSync(join(root, name)).isFile();
  }
});
