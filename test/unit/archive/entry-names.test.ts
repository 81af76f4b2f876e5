import { describe, expect, it } from "vitest";
import { renameMembers, toSafeName } from "../../../src/archive/entry-names.ts";
import { startProcessorTime } from "../../support/processor-time.ts";

describe("toSafeName (SECURITY 22)", () => {
  it.each([
    ["..\\..\\evil.exe", ".._.._evil.exe"],
    ["../../etc/passwd", ".._.._etc_passwd"],
    ["/etc/passwd", "_etc_passwd"],
    ["C:\\evil", "C__evil"],
    ["file.txt:stream", "file.txt_stream"],
    ["a\u0000b\u001f\u007f\u009fc\n", "a_b___c_"],
    ["half \ud83d", "half _"],
    ["..", "_"],
    [".", "_"],
    ["", "_"],
  ])("makes %j harmless: %j", (name, safe) => {
    expect(toSafeName(name)).toBe(safe);
  });

  it.each(["...", ".hidden", "a b", "quo\"te's", "😀", "שלום", "%2e%2e", "a_b", "~", "x".repeat(255)])(
    "keeps %j",
    (name) => {
      expect(toSafeName(name)).toBe(name);
    },
  );
});

describe("renameMembers", () => {
  async function rename(...names: string[]): Promise<string[]> {
    const renamed = await renameMembers(names);
    return names.map((name) => renamed.get(name) ?? name);
  }

  it("says nothing of names that stay", async () => {
    expect((await renameMembers(["a", "b"])).size).toBe(0);
  });

  it("leaves a name to the member whose own it is, wherever that comes", async () => {
    expect(await rename("a:b", "a\\b", "a_b")).toEqual(["a_b (2)", "a_b (3)", "a_b"]);
    expect(await rename("a:b.txt", "a_b.txt", "a_b (2).txt")).toEqual(["a_b (3).txt", "a_b.txt", "a_b (2).txt"]);
  });

  it("keeps numbered names within 255 bytes, for all characters (SECURITY 22)", async () => {
    const long = [`${"L".repeat(250)}:.txt`, `${"L".repeat(250)}_.txt`, `${"é".repeat(125)}:`, `${"é".repeat(125)}_`];
    for (const extension of ["x".repeat(253), "é".repeat(126), "😀".repeat(62)]) {
      const [name = ""] = await rename(`:.${extension}`, `_.${extension}`);
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
      expect(name).toMatch(/^_\..+ \(2\)$/u);
    }
    const renamed = [...(await renameMembers(long)).values()];
    expect(new Set([...renamed, long[1], long[3]]).size).toBe(4);
    for (const name of renamed) expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
    expect([...(await renameMembers(["x\u2028:y", "x\u2028_y"])).values()]).toEqual(["x\u2028_y (2)"]);
  });

  it("numbers before the extension, and does not take a leading dot for one", async () => {
    expect(await rename(".:b", "._b", "x:y.tar.gz", "x_y.tar.gz", ":", "_")).toEqual([
      "._b (2)",
      "._b",
      "x_y.tar (2).gz",
      "x_y.tar.gz",
      "_ (2)",
      "_",
    ]);
  });

  it("finds a name for each of thousands that would be called the same, in time that grows as their number does", async () => {
    const names = Array.from({ length: 4096 }, (_, index) =>
      [...index.toString(2).padStart(12, "0")].map((bit) => (bit === "1" ? ":" : "\\")).join(""),
    );

    /** The fastest of several runs, in milliseconds, as other tests run at the same time. */
    async function timeOf(count: number, tries: number): Promise<number> {
      const times: number[] = [];
      while (times.length < tries) {
        const elapsed = startProcessorTime();
        expect(new Set(await rename(...names.slice(0, count))).size).toBe(count);
        times.push(elapsed());
      }
      return Math.min(...times);
    }

    // 8 times as many: by the number of pairs it would be 64 times as long.
    const some = await timeOf(512, 9);
    expect(await timeOf(4096, 5)).toBeLessThan(32 * some);
  });

  it("lets other requests continue while long names are numbered", async () => {
    const names = Array.from({ length: 5000 }, (_, index) =>
      [...index.toString(2).padStart(255, "0")].map((bit) => (bit === "1" ? ":" : "\\")).join(""),
    );
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 0);
    const renamed = await rename(...names).finally(() => clearInterval(timer));
    expect(new Set(renamed).size).toBe(5000);
    expect(turns).toBeGreaterThan(5);
  });
});
