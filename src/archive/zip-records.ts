/**
 * The records of a ZIP archive, byte for byte. Section numbers in this file are those of PKWARE's APPNOTE 6.3. If a
 * value is too large for its field, the field has all bits set, and a Zip64 extra field has the value.
 */

/** The largest value of a 16-bit field. It means "see the Zip64 record". */
const MAX_16 = 0xffff;
/** The largest value of a 32-bit field. It means "see the Zip64 record". */
const MAX_32 = 0xffffffff;
/** Java requires that a central record, with its name and extra field, is at most 65,535 bytes long. */
const MAX_NAME_BYTES = 65_000;

/** Made on a system with Unix modes, by version 4.5 of the format (4.4.2). */
const MADE_BY = (3 << 8) | 45;
/** Names are UTF-8 (4.4.4, bit 11). */
const UTF8_FLAG = 0x0800;
/** CRC and sizes follow the content (4.4.4, bit 3). */
const DESCRIPTOR_FLAG = 0x0008;
const FOLDER_MODE = 0o40755;
const FILE_MODE = 0o100644;
/** The folder attribute for systems without Unix modes. */
const DOS_FOLDER = 0x10;

/** The data in the records of a member, except its CRC-32. */
export interface Member {
  readonly name: string;
  /** The length of its name, in bytes. */
  readonly nameLength: number;
  readonly isFolder: boolean;
  readonly modified: Date;
  /** How the content is encoded (4.4.5). Deflated members have their CRC and sizes in a descriptor. */
  readonly method: "stored" | "deflated";
  /** The size of the content, in bytes. */
  readonly size: number;
  /** The size of the encoded content, in bytes. */
  readonly storedSize: number;
  /** Whether a size needs, or might need, the Zip64 field. Then both sizes use it, in all records of the member. */
  readonly isLarge: boolean;
}

const encoder = new TextEncoder();
/** Names are encoded here to measure them. */
const scratch = new Uint8Array(MAX_NAME_BYTES);

/** Returns the length of a member's name in bytes. @throws RangeError when it is too long for an archive. */
export function toNameLength(name: string): number {
  const { read, written } = encoder.encodeInto(name, scratch);
  if (read < name.length) throw new RangeError("A member's path is too long for a ZIP archive.");
  return written;
}

/** Returns whether a size needs the Zip64 field. */
export function isLargeSize(size: number): boolean {
  return size >= MAX_32;
}

/** Returns how many bytes {@link setLocalHeader} writes. */
export function toLocalLength({ nameLength, isLarge, modified }: Member): number {
  return 30 + nameLength + toWideLength(isLarge ? 2 : 0) + toTimeLength(modified);
}

/** Writes the header before a member's content (4.3.7). */
export function setLocalHeader(bytes: Uint8Array, member: Member, crc: number = 0): void {
  const { name, nameLength, isLarge, size, storedSize, modified } = member;
  const isDescribed = member.method === "deflated";
  // If a descriptor follows the content, the sizes in the header are 0 (4.4.4, bit 3), also in the Zip64 field.
  const narrow = (value: number) => (isLarge ? MAX_32 : isDescribed ? 0 : value);
  set32(bytes, 0, 0x04034b50);
  setCommon(bytes, 4, member, false);
  set32(bytes, 14, crc);
  set32(bytes, 18, narrow(storedSize));
  set32(bytes, 22, narrow(size));
  set16(bytes, 26, nameLength);
  set16(bytes, 28, toLocalLength(member) - 30 - nameLength);
  encoder.encodeInto(name, bytes.subarray(30));
  const values = isDescribed ? [0, 0] : [size, storedSize];
  const at = 30 + nameLength;
  setTimeField(bytes, isLarge ? setWideField(bytes, at, values) : at, modified);
}

/** Returns how many bytes {@link setDescriptor} writes; 0 for members without a descriptor. */
export function toDescriptorLength({ method, isLarge }: Member): number {
  return method === "stored" ? 0 : isLarge ? 24 : 16;
}

/** Writes the descriptor after the content of a deflated member, whose CRC was not known in its header (4.3.9). */
export function setDescriptor(bytes: Uint8Array, { isLarge, size, storedSize }: Member, crc: number): void {
  const set = isLarge ? set64 : set32;
  set32(bytes, 0, 0x08074b50);
  set32(bytes, 4, crc);
  set(bytes, 8, storedSize);
  set(bytes, isLarge ? 16 : 12, size);
}

/** Returns how many bytes {@link setCentralRecord} writes. */
export function toCentralLength({ nameLength, isLarge, modified }: Member, offset: number): number {
  return 46 + nameLength + toWideLength((isLarge ? 2 : 0) + (offset >= MAX_32 ? 1 : 0)) + toTimeLength(modified);
}

/** Writes a member's record in the central directory (4.3.12). `offset` is the position of its local header. */
export function setCentralRecord(bytes: Uint8Array, member: Member, crc: number, offset: number): void {
  const { name, nameLength, isLarge, size, storedSize, isFolder, modified } = member;
  const isFar = offset >= MAX_32;
  set32(bytes, 0, 0x02014b50);
  set16(bytes, 4, MADE_BY);
  setCommon(bytes, 6, member, isFar);
  set32(bytes, 16, crc);
  set32(bytes, 20, isLarge ? MAX_32 : storedSize);
  set32(bytes, 24, isLarge ? MAX_32 : size);
  set16(bytes, 28, nameLength);
  set16(bytes, 30, toCentralLength(member, offset) - 46 - nameLength);
  // Comment, disk and internal attributes are 0.
  set32(bytes, 32, 0);
  set16(bytes, 36, 0);
  set16(bytes, 38, isFolder ? DOS_FOLDER : 0);
  set16(bytes, 40, isFolder ? FOLDER_MODE : FILE_MODE);
  set32(bytes, 42, isFar ? MAX_32 : offset);
  encoder.encodeInto(name, bytes.subarray(46));
  const values = [...(isLarge ? [size, storedSize] : []), ...(isFar ? [offset] : [])];
  const at = 46 + nameLength;
  setTimeField(bytes, values.length > 0 ? setWideField(bytes, at, values) : at, modified);
}

/** Returns the length of {@link toEnd} in bytes. */
export function toEndLength(count: number, offset: number, length: number): number {
  return isLargeArchive(count, offset, length) ? ZIP64_END_BYTES + 22 : 22;
}

/** The length of the Zip64 end record and its locator. */
const ZIP64_END_BYTES = 56 + 20;

/**
 * Returns the end of an archive whose central directory has `count` records and `length` bytes at `offset` (4.3.14-16).
 */
export function toEnd(count: number, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(toEndLength(count, offset, length));
  const at = bytes.byteLength - 22;
  if (at > 0) setZip64End(bytes, count, offset, length);
  set32(bytes, at, 0x06054b50);
  set16(bytes, at + 8, Math.min(count, MAX_16));
  set16(bytes, at + 10, Math.min(count, MAX_16));
  set32(bytes, at + 12, Math.min(length, MAX_32));
  set32(bytes, at + 16, Math.min(offset, MAX_32));
  return bytes;
}

function isLargeArchive(count: number, offset: number, length: number): boolean {
  return count >= MAX_16 || offset >= MAX_32 || length >= MAX_32;
}

function setZip64End(bytes: Uint8Array, count: number, offset: number, length: number): void {
  set32(bytes, 0, 0x06064b50);
  set64(bytes, 4, 44);
  set16(bytes, 12, MADE_BY);
  set16(bytes, 14, 45);
  set64(bytes, 24, count);
  set64(bytes, 32, count);
  set64(bytes, 40, length);
  set64(bytes, 48, offset);
  set32(bytes, 56, 0x07064b50);
  set64(bytes, 64, offset + length);
  set32(bytes, 72, 1);
}

/** Writes the fields that local header and central record share: version, flags, method and time (4.4.3-6). */
function setCommon(bytes: Uint8Array, at: number, member: Member, isFar: boolean): void {
  const isDeflated = member.method === "deflated";
  set16(bytes, at, isFar || member.isLarge ? 45 : isDeflated || member.isFolder ? 20 : 10);
  set16(bytes, at + 2, UTF8_FLAG | (isDeflated ? DESCRIPTOR_FLAG : 0));
  set16(bytes, at + 4, isDeflated ? 8 : 0);
  set32(bytes, at + 6, toDosTime(member.modified));
}

function toWideLength(count: number): number {
  return count === 0 ? 0 : 4 + count * 8;
}

/** Writes the Zip64 extra field (4.5.3). Returns the position after it. */
function setWideField(bytes: Uint8Array, at: number, values: readonly number[]): number {
  set16(bytes, at, 0x0001);
  set16(bytes, at + 2, values.length * 8);
  values.forEach((value, index) => {
    set64(bytes, at + 4 + index * 8, value);
  });
  return at + toWideLength(values.length);
}

/**
 * Returns how many bytes a member's exact time takes in each of its headers: 0 if it does not fit (before 1901, after
 * 2038).
 */
export function toTimeLength(modified: Date): number {
  const seconds = toSeconds(modified);
  return seconds === (seconds | 0) ? 9 : 0;
}

/** Writes the extended timestamp of Info-ZIP: seconds since 1970, signed 32 bits. */
function setTimeField(bytes: Uint8Array, at: number, modified: Date): void {
  if (toTimeLength(modified) === 0) return;
  set16(bytes, at, 0x5455);
  set16(bytes, at + 2, 5);
  bytes[at + 4] = 1;
  set32(bytes, at + 5, toSeconds(modified));
}

function toSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}

/**
 * Returns the time in the format of DOS (4.4.6), in steps of 2 s from 1980 to 2107. It is in UTC, so that equal trees
 * give equal archives in every time zone.
 */
function toDosTime(modified: Date): number {
  const year = modified.getUTCFullYear();
  if (!(year >= 1980)) return 0x0021_0000;
  if (year > 2107) return 0xff9f_bf7d;
  const date = ((year - 1980) << 9) | ((modified.getUTCMonth() + 1) << 5) | modified.getUTCDate();
  const time = (modified.getUTCHours() << 11) | (modified.getUTCMinutes() << 5) | (modified.getUTCSeconds() >> 1);
  return date * 0x1_0000 + time;
}

function set16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
}

function set32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
}

function set64(bytes: Uint8Array, at: number, value: number): void {
  set32(bytes, at, value % 0x1_0000_0000);
  set32(bytes, at + 4, Math.floor(value / 0x1_0000_0000));
}
