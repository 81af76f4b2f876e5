import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ZipEntry } from "../../../src/archive/read-ahead.ts";
import { createZip } from "../../../src/archive/zip.ts";
import { toByteSource } from "../../../src/contracts/byte-source.ts";
import { checkArchive, isInstalled, namesByPython, readAll, readByJsZip, readers, readZip } from "./read-zip.ts";
import { bytesOf, entryOf, file, folder, listed, MODIFIED, streamZip, zeros, zip, zipInto } from "./zip-entries.ts";

const WHOLE = 131_072;
const GIB = 2 ** 30;
/** Java's. */
const [COMPILER, RUNTIME] = ["javac", "java"] as const;

/** Names that some reader or system has had trouble with. */
const NAMES = [
  "plain.txt",
  "reports/2018/a.csv",
  "😀 emoji.txt",
  "שלום עולם.txt",
  "漢字かな.txt",
  "Ελληνικά.txt",
  "الملفات.txt",
  "žluťoučký кůň.txt",
  "cafe\u0301 decomposed.txt",
  "quo\"te's & <tags>.txt",
  "a%2fb + c.txt",
  " leading and trailing ",
  `${"é".repeat(127)}x`,
  `deep/${"folder/".repeat(200)}file.txt`,
];

describe("createZip", () => {
  it("keeps names, times, sizes and contents, whether a member is small or large", async () => {
    const contents = [0, 1, 100, WHOLE - 1, WHOLE, WHOLE + 1, 65_535 * 3, 1_000_000].map((size) => bytesOf(size));
    const archive = await zip(contents.map((content, index) => file(`${index}.bin`, content)));
    const members = readZip(archive);
    expect(members.map(({ name }) => name)).toEqual(contents.map((_, index) => `${index}.bin`));
    for (const [index, member] of members.entries()) {
      expect(member.content().equals(contents[index] as Uint8Array)).toBe(true);
      expect(member.modified).toEqual(MODIFIED);
      expect(member.dosTime).toEqual(new Date("2018-05-04T12:34:56Z"));
      expect(member.mode).toBe(0o100644);
      expect(member.flags & 0x800).toBe(0x800);
    }
  });

  it("stores members of one chunk plainly, and larger ones as blocks that end by themselves", async () => {
    const members = readZip(await zip([file("small", bytesOf(WHOLE)), file("large", bytesOf(WHOLE + 1))]));
    expect(members.map(({ method, flags, version }) => [method, flags & 8, version])).toEqual([
      [0, 0, 10],
      [8, 8, 20],
    ]);
    expect(members.map(({ storedSize }) => storedSize)).toEqual([WHOLE, WHOLE + 1 + 3 * 5]);
  });

  it("writes folders as entries of their own", async () => {
    const [empty] = readZip(await zip([folder("empty/")]));
    expect(empty).toMatchObject({ name: "empty/", size: 0, method: 0, mode: 0o40755 });
  });

  it("needs no Zip64 below its limits", async () => {
    const members = readZip(await zip([file("a", bytesOf(WHOLE + 1)), file("b", bytesOf(1))]));
    expect(members.map(({ extras }) => extras)).toEqual([[0x5455], [0x5455]]);
  });

  it.each([
    [new Date("1970-01-01T00:00:00Z"), "1980-01-01T00:00:00Z", true],
    [new Date("1901-01-01T00:00:00Z"), "1980-01-01T00:00:00Z", false],
    [new Date("1979-12-31T23:59:59Z"), "1980-01-01T00:00:00Z", true],
    [new Date("2038-01-19T03:14:07Z"), "2038-01-19T03:14:06Z", true],
    [new Date("2038-01-19T03:14:08Z"), "2038-01-19T03:14:08Z", false],
    [new Date("2107-12-31T23:59:59Z"), "2107-12-31T23:59:58Z", false],
    [new Date("2345-01-01T00:00:00Z"), "2107-12-31T23:59:58Z", false],
    [new Date(Number.NaN), "1980-01-01T00:00:00Z", false],
  ])("writes the time %s as near as the format can", async (modified, dosTime, isExact) => {
    const [member] = readZip(await zip([file("a", bytesOf(1), 1, modified)]));
    expect(member?.dosTime).toEqual(new Date(dosTime));
    expect(member?.modified).toEqual(isExact ? modified : undefined);
  });

  it("gives the same bytes for the same entries, for all chunks of their contents", async () => {
    const content = bytesOf(300_000);
    const whole = await zip([file("a", content), file("b", content.subarray(0, 1000))]);
    const cut = await zip([file("a", content, 777), file("b", content.subarray(0, 1000), 1)]);
    expect(cut.equals(whole)).toBe(true);
  });

  it("gives the same bytes for all sizes of buffers", async () => {
    const sizes = [0, 1, 4000, WHOLE, WHOLE + 1, 65_535 * 4, 65_535 * 4 + 1, 400_000];
    const entries = [folder("a/"), ...sizes.map((size) => file(`a/${size}`, bytesOf(size)))];
    const whole = await zip(entries);
    for (const buffers of [[3, 5, 6, 20_000], [64, 70_000], [65_540, 65_541], [2 ** 20]]) {
      expect((await zipInto(createZip(listed(entries)), buffers)).equals(whole)).toBe(true);
    }
    const two = [file("a", bytesOf(10)), file("b", bytesOf(WHOLE + 1))];
    expect((await zipInto(createZip(listed(two)), [1])).equals(await zip(two))).toBe(true);
  });

  it("fills a buffer with many small members", async () => {
    const source = createZip(listed(Array.from({ length: 200 }, (_, index) => file(`${index}`, bytesOf(100)))));
    expect(await source.readInto(new Uint8Array(16_384))).toBe(16_384);
    await source.close();
  });

  it("rejects a name that is too long for an archive, and closes its content", async () => {
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      cancel() {
        isCancelled = true;
      },
    });
    const entry = entryOf("x/".repeat(40_000), { modified: MODIFIED, size: 1, source: toByteSource(body) });
    await expect(zip([entry])).rejects.toThrow(RangeError);
    expect(isCancelled).toBe(true);
  });
});

describe("an archive", () => {
  const mixed = () =>
    zip([
      folder("reports/"),
      ...NAMES.map((name, index) => file(name, bytesOf(index % 2 === 0 ? index : WHOLE + index))),
    ]);

  describe.each(readers)("read by %s", (reader) => {
    it.skipIf(!isInstalled(reader))(
      "is faultless with members of all kinds, and without any; its beginning is not",
      async () => {
        const archive = await mixed();
        const listing = checkArchive(reader, archive);
        if (reader === "jar") for (const name of NAMES) expect(listing).toContain(name);
        checkArchive(reader, await zip([]));
        // bsdtar reads on where it finds no end, as long as members are whole.
        const cut = reader === "bsdtar" ? archive.length / 2 : archive.length - 30;
        expect(() => checkArchive(reader, archive.subarray(0, cut))).toThrow();
      },
    );
  });

  it("is read by JSZip as it was meant: names in many scripts, contents, CRC", async () => {
    const found = await readByJsZip(await mixed());
    expect([...found.keys()]).toEqual(["reports/", ...NAMES]);
    for (const [index, name] of NAMES.entries()) {
      expect(found.get(name)?.equals(bytesOf(index % 2 === 0 ? index : WHOLE + index))).toBe(true);
    }
    expect((await readByJsZip(await zip([]))).size).toBe(0);
  });

  it.skipIf(!isInstalled("python3"))("has names that Python reads as they are", async () => {
    expect(namesByPython(await mixed())).toEqual(["reports/", ...NAMES]);
  });

  it.skipIf(!isInstalled(COMPILER))(
    "is read by Java's ZipInputStream, which sees nothing but the stream",
    async () => {
      const printed = await readByJava([await mixed()]);
      expect(printed.trim().split("\n")).toEqual([
        "reports/ 0",
        ...NAMES.map((name, index) => `${name} ${index % 2 === 0 ? index : WHOLE + index}`),
      ]);
    },
    60_000,
  );
});

describe("Zip64", () => {
  it("counts 70,000 members", async () => {
    const archive = await readAll(streamZip(many(70_000)));
    const members = readZip(archive);
    expect(members).toHaveLength(70_000);
    expect(members.at(-1)).toMatchObject({ name: "folder/member-69999.txt", size: 6 });
    expect(members.at(-1)?.content().toString()).toBe("069999");
    for (const reader of readers.filter(isInstalled)) checkArchive(reader, archive);
    expect((await readByJsZip(archive)).get("folder/member-69999.txt")?.toString()).toBe("069999");
  });

  it("is used from 65,535 members on", async () => {
    const signature = Buffer.from([0x50, 0x4b, 6, 6]);
    const [below, at] = [await readAll(streamZip(many(65_534))), await readAll(streamZip(many(65_535)))];
    expect(below.includes(signature)).toBe(false);
    expect(at.includes(signature)).toBe(true);
    expect(readZip(at)).toHaveLength(65_535);
  });

  it("gives the sizes of a member over 4 GiB and the offsets after it", async () => {
    const { tail, length } = await readEnds([zeros("large", 4 * GIB + 5), file("behind", bytesOf(10))], 1000);
    const base = length - tail.length;
    const [large, behind] = readZip(tail, base);
    const storedSize = 4 * GIB + 5 + Math.ceil((4 * GIB + 5) / 65_535) * 5;
    expect(large).toMatchObject({ size: 4 * GIB + 5, storedSize, offset: 0, version: 45, extras: [1, 0x5455] });
    expect(behind).toMatchObject({ size: 10, storedSize: 10, version: 45, extras: [1, 0x5455] });
    expect(behind?.content().equals(bytesOf(10))).toBe(true);
    // The wide descriptor: signature, CRC, and two sizes of 64 bits.
    const descriptor = tail.subarray((behind?.offset ?? 0) - base - 24);
    expect(descriptor.readUInt32LE(0)).toBe(0x08074b50);
    expect(descriptor.readUInt32LE(4)).toBe(large?.crc);
    expect(descriptor.readBigUInt64LE(8)).toBe(BigInt(storedSize));
    expect(descriptor.readBigUInt64LE(16)).toBe(BigInt(4 * GIB + 5));
  }, 120_000);
});

function* many(count: number): Generator<ZipEntry> {
  for (let index = 0; index < count; index++) {
    yield file(`folder/member-${index}.txt`, Buffer.from(String(index).padStart(6, "0")));
  }
}

/** The last bytes of an archive too large to be held, and its length. */
async function readEnds(entries: readonly ZipEntry[], kept: number): Promise<{ tail: Buffer; length: number }> {
  let tail: Buffer = Buffer.alloc(0);
  let length = 0;
  for await (const chunk of streamZip(entries) as unknown as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    tail = Buffer.concat([tail.subarray(-kept), chunk.subarray(-kept)]).subarray(-kept);
  }
  return { tail, length };
}

const JAVA = `
import java.util.zip.*;
public class Read {
  public static void main(String[] args) throws Exception {
    var out = new java.io.PrintStream(System.out, true, "UTF-8");
    var zip = new ZipInputStream(System.in);
    var buffer = new byte[1 << 16];
    for (var entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
      long size = 0;
      for (int count; (count = zip.read(buffer)) > 0;) size += count;
      out.println(entry.getName() + " " + size);
    }
  }
}`;

/** Names and sizes as a streaming reader in Java finds them; it checks each CRC. */
async function readByJava(chunks: Iterable<Uint8Array>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "fileferry-java-"));
  try {
    writeFileSync(join(folder, "Read.java"), JAVA);
    const compiled = spawnSync(COMPILER, ["-d", folder, join(folder, "Read.java")], { encoding: "utf8" });
    if (compiled.status !== 0) throw new Error(compiled.stderr);
    const java = spawn(RUNTIME, ["-cp", folder, "Read"], { stdio: ["pipe", "pipe", "pipe"] });
    for (const chunk of chunks) java.stdin.write(chunk);
    java.stdin.end();
    let printed = "";
    let errors = "";
    java.stdout.on("data", (text) => (printed += text));
    java.stderr.on("data", (text) => (errors += text));
    const status = await new Promise((resolve) => java.on("close", resolve));
    if (status !== 0) throw new Error(errors);
    return printed;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
