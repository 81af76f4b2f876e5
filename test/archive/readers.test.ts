import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkArchive, isInstalled, namesByPython, readByJsZip, readers } from "../unit/archive/read-zip.ts";
import { bytesOf, file, folder, zip } from "../unit/archive/zip-entries.ts";

const WHOLE = 131_072;
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
