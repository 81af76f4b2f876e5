import { findRuntimeFunction } from "../platform/builtin-module.ts";

/** Computes the CRC-32 of bytes. `previous` is the CRC of the bytes before them; 0 at the start. */
export type Crc32 = (bytes: Uint8Array, previous: number) => number;

/** How many bytes one step of {@link crc32Portable} processes. */
const SLICES = 16;
/** The reversed polynomial of ZIP (APPNOTE 4.4.7). */
const POLYNOMIAL = 0xedb88320;

let tables: Int32Array | undefined;

/** The runtime's own CRC-32, which is at least ten times as fast; {@link crc32Portable} if the runtime has none. */
export const crc32: Crc32 =
  findRuntimeFunction<Crc32>("node:zlib", "crc32", (native) => native(Uint8Array.of(97), 0) === 0xe8b7be43) ??
  crc32Portable;

/** Computes the CRC-32 in JavaScript, sixteen bytes per step ("slicing-by-16"). */
export function crc32Portable(bytes: Uint8Array, previous: number): number {
  tables ??= createTables();
  const t = tables;
  const end = bytes.length - (bytes.length % SLICES);
  let crc = ~previous;
  let at = 0;
  for (; at < end; at += SLICES) {
    const head = crc ^ readWord(bytes, at);
    crc =
      lookUp(t, 15, head) ^
      lookUp(t, 14, head >>> 8) ^
      lookUp(t, 13, head >>> 16) ^
      lookUp(t, 12, head >>> 24) ^
      lookUpWord(t, 8, readWord(bytes, at + 4)) ^
      lookUpWord(t, 4, readWord(bytes, at + 8)) ^
      lookUpWord(t, 0, readWord(bytes, at + 12));
  }
  for (; at < bytes.length; at++) crc = lookUp(t, 0, crc ^ (bytes[at] as number)) ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** Reads four bytes in little-endian order. */
function readWord(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  );
}

/** Returns what four bytes contribute to the CRC of a step, if `remaining` bytes of the step follow them. */
function lookUpWord(t: Int32Array, remaining: number, value: number): number {
  return (
    lookUp(t, remaining + 3, value) ^
    lookUp(t, remaining + 2, value >>> 8) ^
    lookUp(t, remaining + 1, value >>> 16) ^
    lookUp(t, remaining, value >>> 24)
  );
}

/**
 * Returns what the lowest byte of `value` contributes to the CRC of a step, if `remaining` bytes of the step follow it.
 */
function lookUp(t: Int32Array, remaining: number, value: number): number {
  return t[remaining * 256 + (value & 0xff)] as number;
}

/** Creates one table for each position in a step, 16 KiB in total. */
function createTables(): Int32Array {
  const created = new Int32Array(SLICES * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    created[byte] = crc;
  }
  for (let index = 256; index < created.length; index++) {
    const previous = created[index - 256] as number;
    created[index] = lookUp(created, 0, previous) ^ (previous >>> 8);
  }
  return created;
}
