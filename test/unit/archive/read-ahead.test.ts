import { describe, expect, it } from "vitest";
import { createReadAhead, type ZipEntry } from "../../../src/archive/read-ahead.ts";
import { bytesOf, file, listed } from "./zip-entries.ts";

describe("members read ahead", () => {
  it("are eight at most behind the one that is asked for, opened at the same time, and come in their order", async () => {
    const opening: string[] = [];
    const gates = new Map<string, () => void>();
    const entries = Array.from({ length: 20 }, (_, index): ZipEntry => {
      const entry = file(`${index}`, bytesOf(index));
      const open = async () => {
        opening.push(entry.name);
        await new Promise<void>((resolve) => gates.set(entry.name, resolve));
        return entry.open?.();
      };
      return { ...entry, open };
    });
    const ahead = createReadAhead(listed(entries), {});
    const first = ahead.next();
    await expect.poll(() => opening.length).toBe(9);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(opening).toHaveLength(9);
    for (const name of [...opening].reverse()) gates.get(name)?.();
    expect((await first)?.member.name).toBe("0");
    for (let index = 1; index < 20; index++) {
      const next = ahead.next();
      await expect.poll(() => gates.has(`${index}`)).toBe(true);
      for (const open of gates.values()) open();
      const prepared = await next;
      expect(prepared?.member.name).toBe(`${index}`);
      expect(prepared?.content).toMatchObject({ bytes: bytesOf(index) });
    }
    expect(await ahead.next()).toBeUndefined();
  });

  it("tell of a failure when its turn comes, and of what stands before it first", async () => {
    const failing: ZipEntry = { ...file("bad", bytesOf(1)), open: () => Promise.reject(new Error("no")) };
    const ahead = createReadAhead(listed([file("a", bytesOf(1)), failing, file("b", bytesOf(1))]), {});
    expect((await ahead.next())?.member.name).toBe("a");
    await expect(ahead.next()).rejects.toThrow("no");
    await ahead.close();
  });
});
