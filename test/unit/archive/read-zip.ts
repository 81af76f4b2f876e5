import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32, inflateRawSync } from "node:zlib";
import JSZip from "jszip";

/** A member as an archive's central directory shows it. */
export interface ReadMember {
  readonly name: string;
  readonly method: number;
  readonly flags: number;
  readonly version: number;
  readonly crc: number;
  readonly size: number;
  readonly storedSize: number;
  readonly offset: number;
  readonly mode: number;
  /** The format's own time, in seconds as UTC. */
  readonly dosTime: Date;
  /** The extended timestamp; `undefined` where there is none. */
  readonly modified: Date | undefined;
  /** IDs of the extra fields. */
  readonly extras: readonly number[];
  /** The content, checked against its local header, its sizes and its CRC. */
  content(): Buffer;
}

/**
 * A ZIP reader that shares no code with the writer: it reads the end, the central directory and the local headers.
 * `base` is the position of `archive` in the complete archive.
 */
export function readZip(archive: Uint8Array, base = 0): readonly ReadMember[] {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const end = bytes.length - 22;
  expectSignature(bytes, end, 0x06054b50);
  let count = bytes.readUInt16LE(end + 10);
  let length = bytes.readUInt32LE(end + 12);
  let start = bytes.readUInt32LE(end + 16);
  let limit = end;
  if (count === 0xffff || length === 0xffffffff || start === 0xffffffff) {
    expectSignature(bytes, end - 20, 0x07064b50);
    const wide = readSize(bytes, end - 12) - base;
    expectSignature(bytes, wide, 0x06064b50);
    count = readSize(bytes, wide + 32);
    length = readSize(bytes, wide + 40);
    start = readSize(bytes, wide + 48);
    limit = wide;
  }
  if (start - base + length !== limit) throw new Error("The directory does not end where the end begins.");
  const members: ReadMember[] = [];
  let at = start - base;
  for (let index = 0; index < count; index++) {
    expectSignature(bytes, at, 0x02014b50);
    const next = at + 46 + bytes.readUInt16LE(at + 28) + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    members.push(readMember(bytes, at, base));
    at = next;
  }
  if (at !== limit) throw new Error("The directory holds something else.");
  return members;
}

function readMember(bytes: Buffer, at: number, base: number): ReadMember {
  const nameEnd = at + 46 + bytes.readUInt16LE(at + 28);
  const name = new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(at + 46, nameEnd));
  const extras = readExtras(bytes.subarray(nameEnd, nameEnd + bytes.readUInt16LE(at + 30)));
  const wide = [...chunked(extras.get(1) ?? Buffer.alloc(0))];
  const narrow = (place: number) => {
    const value = bytes.readUInt32LE(at + place);
    return value === 0xffffffff ? (wide.shift() ?? Number.NaN) : value;
  };
  const size = narrow(24);
  const storedSize = narrow(20);
  const offset = narrow(42);
  if (wide.length > 0) throw new Error("The Zip64 field holds more than is needed.");
  const method = bytes.readUInt16LE(at + 10);
  const flags = bytes.readUInt16LE(at + 8);
  const crc = bytes.readUInt32LE(at + 16);
  const time = extras.get(0x5455);

  function content(): Buffer {
    const local = offset - base;
    expectSignature(bytes, local, 0x04034b50);
    const nameLength = bytes.readUInt16LE(local + 26);
    const localName = bytes.toString("utf8", local + 30, local + 30 + nameLength);
    if (localName !== name) throw new Error(`${localName} is not ${name}`);
    for (const [here, there] of [
      [6, 8],
      [8, 10],
      [10, 12],
    ] as const) {
      if (bytes.readUInt16LE(local + here) !== bytes.readUInt16LE(at + there))
        throw new Error(`${name}: field ${here}`);
    }
    // The place of a member can need a later version than the member itself.
    if (bytes.readUInt16LE(local + 4) > bytes.readUInt16LE(at + 6)) throw new Error(`${name}: version`);
    const dataStart = local + 30 + nameLength + bytes.readUInt16LE(local + 28);
    const data = bytes.subarray(dataStart, dataStart + storedSize);
    const described = (flags & 8) !== 0;
    const expected = [crc, storedSize, size].join();
    expectNumbers(bytes, local + 14, described ? "0,0,0" : expected);
    if (described) {
      expectSignature(bytes, dataStart + storedSize, 0x08074b50);
      expectNumbers(bytes, dataStart + storedSize + 4, expected);
    }
    const plain = method === 0 ? data : inflateRawSync(data);
    if (plain.length !== size || crc32(plain) !== crc) throw new Error(`${name}: content is damaged`);
    return plain;
  }

  return {
    name,
    method,
    flags,
    version: bytes.readUInt16LE(at + 6),
    crc,
    size,
    storedSize,
    offset,
    mode: bytes.readUInt16LE(at + 40),
    dosTime: readDosTime(bytes.readUInt16LE(at + 14), bytes.readUInt16LE(at + 12)),
    modified: time && new Date(time.readInt32LE(1) * 1000),
    extras: [...extras.keys()],
    content,
  };
}

function readExtras(bytes: Buffer): Map<number, Buffer> {
  const found = new Map<number, Buffer>();
  let at = 0;
  for (; at < bytes.length; at += 4 + bytes.readUInt16LE(at + 2)) {
    found.set(bytes.readUInt16LE(at), bytes.subarray(at + 4, at + 4 + bytes.readUInt16LE(at + 2)));
  }
  if (at !== bytes.length) throw new Error("The extra fields do not end.");
  return found;
}

function readDosTime(date: number, time: number): Date {
  const [hours, minutes, seconds] = [time >> 11, (time >> 5) & 63, (time & 31) * 2];
  return new Date(Date.UTC(1980 + (date >> 9), ((date >> 5) & 15) - 1, date & 31, hours, minutes, seconds));
}

function* chunked(field: Buffer): Generator<number> {
  for (let at = 0; at < field.length; at += 8) yield readSize(field, at);
}

function readSize(bytes: Buffer, at: number): number {
  return Number(bytes.readBigUInt64LE(at));
}

/** CRC and both sizes. */
function expectNumbers(bytes: Buffer, at: number, expected: string): void {
  const found = [0, 4, 8].map((place) => bytes.readUInt32LE(at + place)).join();
  if (found !== expected) throw new Error(`At ${at} stands ${found}, not ${expected}.`);
}

function expectSignature(bytes: Buffer, at: number, signature: number): void {
  if (bytes.readUInt32LE(at) !== signature) throw new Error(`At ${at} stands ${bytes.readUInt32LE(at).toString(16)}.`);
}

/** Other readers of ZIP, by what tests an archive or lists the names in it. */
const READERS = {
  unzip: (file: string) => ["unzip", "-tqq", file],
  python3: (file: string) => ["python3", "-m", "zipfile", "-t", file],
  jar: (file: string) => ["jar", "tf", file],
  "7z": (file: string) => ["7z", "t", file],
  bsdtar: (file: string) => ["bsdtar", "-xOf", file],
} as const;

export type Reader = keyof typeof READERS;

export const readers = Object.keys(READERS) as readonly Reader[];

export function isInstalled(command: string): boolean {
  return spawnSync("which", [command]).status === 0;
}

/** What another reader says of an archive; throws where it finds a fault. */
export function checkArchive(reader: Reader, archive: Uint8Array): string {
  return withFile(archive, (file) => {
    const [command = "", ...args] = READERS[reader](file);
    const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8", env: UTF8, maxBuffer: 1e8 });
    // Info-ZIP warns of an archive without members.
    const isFine = status === 0 || (reader === "unzip" && status === 1 && /zipfile is empty/.test(stdout + stderr));
    if (!isFine) throw new Error(`${reader}: ${stdout} ${stderr}`);
    return stdout;
  });
}

/** What JSZip makes of an archive, the CRC of each member checked: names and contents, which folders have none of. */
export async function readByJsZip(archive: Uint8Array): Promise<ReadonlyMap<string, Buffer>> {
  const { files } = await JSZip.loadAsync(archive, { checkCRC32: true });
  const contents = new Map<string, Buffer>();
  for (const [name, file] of Object.entries(files)) contents.set(name, await file.async("nodebuffer"));
  return contents;
}

/** The names in an archive as Python reads them. */
export function namesByPython(archive: Uint8Array): readonly string[] {
  const script = "import json, sys, zipfile; print(json.dumps(zipfile.ZipFile(sys.argv[1]).namelist()))";
  return withFile(archive, (file) =>
    JSON.parse(execFileSync("python3", ["-c", script, file], { encoding: "utf8", env: UTF8 })),
  );
}

const UTF8 = { ...process.env, LC_ALL: "C.UTF-8" };

function withFile<T>(archive: Uint8Array, use: (file: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "fileferry-zip-"));
  try {
    const file = join(folder, "archive.zip");
    writeFileSync(file, archive);
    return use(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A stream read to its end. */
export async function readAll(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
