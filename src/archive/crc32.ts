import { findRuntimeFunction } from "../platform/builtin-module.ts";

/** The CRC-32 of bytes, or of all that came before with these behind it where `former` is its CRC. */
export type Crc32 = (bytes: Uint8Array, former: number) => number;

/** How many bytes one step of {@link crc32Portable} takes. */
const SLICES = 16;
/** The reversed polynomial of ZIP (APPNOTE 4.4.7). */
const POLYNOMIAL = 0xedb88320;

let tables: Int32Array | undefined;

/** The runtime's own CRC-32 where it has one, ten times as fast or more, else {@link crc32Portable}. */
export const crc32: Crc32 =
  findRuntimeFunction<Crc32>("node:zlib", "crc32", (native) => native(Uint8Array.of(97), 0) === 0xe8b7be43) ??
  crc32Portable;

/** CRC-32 in JavaScript, sixteen bytes a step ("slicing-by-16"). */
export function crc32Portable(bytes: Uint8Array, former: number): number {
  tables ??= createTables();
  const t = tables;
  const end = bytes.length - (bytes.length % SLICES);
  let crc = ~former;
  let at = 0;
  for (; at < end; at += SLICES) {
    const head = crc ^ word(bytes, at);
    crc =
      lookUp(t, 15, head) ^
      lookUp(t, 14, head >>> 8) ^
      lookUp(t, 13, head >>> 16) ^
      lookUp(t, 12, head >>> 24) ^
      lookUpWord(t, 8, word(bytes, at + 4)) ^
      lookUpWord(t, 4, word(bytes, at + 8)) ^
      lookUpWord(t, 0, word(bytes, at + 12));
  }
  for (; at < bytes.length; at++) crc = lookUp(t, 0, crc ^ (bytes[at] as number)) ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** The four bytes at a place, the first one lowest. */
function word(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  );
}

/** What four bytes come to, the last of which has `behind` bytes of the step behind it. */
function lookUpWord(t: Int32Array, behind: number, value: number): number {
  return (
    lookUp(t, behind + 3, value) ^
    lookUp(t, behind + 2, value >>> 8) ^
    lookUp(t, behind + 1, value >>> 16) ^
    lookUp(t, behind, value >>> 24)
  );
}

/** What a byte, the lowest of `value`, comes to with `behind` bytes of the step behind it. */
function lookUp(t: Int32Array, behind: number, value: number): number {
  return t[behind * 256 + (value & 0xff)] as number;
}

/** One table for each place in a step; 16 KiB. */
function createTables(): Int32Array {
  const made = new Int32Array(SLICES * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    made[byte] = crc;
  }
  for (let index = 256; index < made.length; index++) {
    const former = made[index - 256] as number;
    made[index] = lookUp(made, 0, former) ^ (former >>> 8);
  }
  return made;
}
