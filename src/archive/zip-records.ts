/**
 * The records of a ZIP archive, byte for byte (PKWARE's APPNOTE 6.3; section numbers below are its). A field too narrow for its
 * value holds all ones, and a Zip64 extra field has the value.
 */

/** The largest value of a field of 16 bits, which stands for "see the Zip64 record". */
const MAX_16 = 0xffff;
/** The same of 32 bits. */
const MAX_32 = 0xffffffff;
/** Name, extra field and head of a central record have to fit into 16 bits together for Java. */
const MAX_NAME_BYTES = 65_000;

/** Made on a system with Unix modes, by version 4.5 of the format (4.4.2). */
const MADE_BY = (3 << 8) | 45;
/** Names are UTF-8 (4.4.4, bit 11). */
const UTF8_FLAG = 0x0800;
/** CRC and sizes stand behind the content (4.4.4, bit 3). */
const DESCRIPTOR_FLAG = 0x0008;
const FOLDER_MODE = 0o40755;
const FILE_MODE = 0o100644;
/** What systems without Unix modes look at. */
const DOS_FOLDER = 0x10;

/** What the records of a member say, beside its CRC-32. */
export interface Member {
  readonly name: Uint8Array;
  readonly isFolder: boolean;
  readonly modified: Date;
  /** How the content stands in the archive (4.4.5). Deflated ones have their CRC and sizes in a descriptor. */
  readonly method: "stored" | "deflated";
  /** Bytes of the content. */
  readonly size: number;
  /** Bytes of the content as it stands in the archive. */
  readonly storedSize: number;
  /** Whether a size needs the wide field, or might: both go there together then, and into all records of the member. */
  readonly isLarge: boolean;
}

const encoder = new TextEncoder();

/** The name of a member as bytes. @throws RangeError when it does not fit into an archive. */
export function encodeName(name: string): Uint8Array {
  const bytes = encoder.encode(name);
  if (bytes.byteLength > MAX_NAME_BYTES) throw new RangeError("A member's path is too long for a ZIP archive.");
  return bytes;
}

/** Whether a size goes into the wide field. */
export function isLargeSize(size: number): boolean {
  return size >= MAX_32;
}

/** The bytes of {@link toLocalHeader}. */
export function toLocalLength({ name, isLarge, modified }: Member): number {
  return 30 + name.byteLength + toWideLength(isLarge ? 2 : 0) + toTimeLength(modified);
}

/** What stands before a member's content (4.3.7). */
export function toLocalHeader(member: Member, crc: number = 0): Uint8Array {
  const { name, isLarge, size, storedSize, modified } = member;
  const isDescribed = member.method === "deflated";
  const { bytes, view } = createRecord(toLocalLength(member), 0x04034b50);
  setCommon(view, 4, member);
  // With a descriptor behind the content, the sizes here are 0 (4.4.4, bit 3), in the wide field where it exists.
  const narrow = (value: number) => (isLarge ? MAX_32 : isDescribed ? 0 : value);
  view.setUint32(14, crc, true);
  view.setUint32(18, narrow(storedSize), true);
  view.setUint32(22, narrow(size), true);
  view.setUint16(26, name.byteLength, true);
  view.setUint16(28, bytes.byteLength - 30 - name.byteLength, true);
  bytes.set(name, 30);
  const at = isLarge ? setWideField(view, 30 + name.byteLength, isDescribed ? [0, 0] : [size, storedSize]) : undefined;
  setTimeField(view, at ?? 30 + name.byteLength, modified);
  return bytes;
}

/** The bytes of {@link toDescriptor}, where a member has one. */
export function toDescriptorLength({ method, isLarge }: Member): number {
  return method === "stored" ? 0 : isLarge ? 24 : 16;
}

/** What stands behind the content of a deflated member, whose header did not know the CRC (4.3.9). */
export function toDescriptor(member: Member, crc: number): Uint8Array {
  const { bytes, view } = createRecord(toDescriptorLength(member), 0x08074b50);
  view.setUint32(4, crc, true);
  if (member.isLarge) {
    setUint64(view, 8, member.storedSize);
    setUint64(view, 16, member.size);
  } else {
    view.setUint32(8, member.storedSize, true);
    view.setUint32(12, member.size, true);
  }
  return bytes;
}

/** The bytes of {@link toCentralRecord}. */
export function toCentralLength({ name, isLarge, modified }: Member, offset: number): number {
  return 46 + name.byteLength + toWideLength((isLarge ? 2 : 0) + (offset >= MAX_32 ? 1 : 0)) + toTimeLength(modified);
}

/** A member's record in the central directory (4.3.12); `offset` is where its local header stands. */
export function toCentralRecord(member: Member, crc: number, offset: number): Uint8Array {
  const { name, isLarge, size, storedSize, isFolder, modified } = member;
  const isFar = offset >= MAX_32;
  const { bytes, view } = createRecord(toCentralLength(member, offset), 0x02014b50);
  view.setUint16(4, MADE_BY, true);
  setCommon(view, 6, member, isFar);
  view.setUint32(16, crc, true);
  view.setUint32(20, isLarge ? MAX_32 : storedSize, true);
  view.setUint32(24, isLarge ? MAX_32 : size, true);
  view.setUint16(28, name.byteLength, true);
  view.setUint16(30, bytes.byteLength - 46 - name.byteLength, true);
  view.setUint16(38, isFolder ? DOS_FOLDER : 0, true);
  view.setUint16(40, isFolder ? FOLDER_MODE : FILE_MODE, true);
  view.setUint32(42, isFar ? MAX_32 : offset, true);
  bytes.set(name, 46);
  const values = [...(isLarge ? [size, storedSize] : []), ...(isFar ? [offset] : [])];
  const at = values.length > 0 ? setWideField(view, 46 + name.byteLength, values) : undefined;
  setTimeField(view, at ?? 46 + name.byteLength, modified);
  return bytes;
}

/** The bytes of {@link toEnd}. */
export function toEndLength(count: number, offset: number, length: number): number {
  return isLargeArchive(count, offset, length) ? 56 + 20 + 22 : 22;
}

/** The end of an archive (4.3.14-16), whose central directory has `count` records and `length` bytes from `offset` on. */
export function toEnd(count: number, offset: number, length: number): Uint8Array {
  const isLarge = isLargeArchive(count, offset, length);
  const { bytes, view } = createRecord(22, 0x06054b50);
  view.setUint16(8, Math.min(count, MAX_16), true);
  view.setUint16(10, Math.min(count, MAX_16), true);
  view.setUint32(12, Math.min(length, MAX_32), true);
  view.setUint32(16, Math.min(offset, MAX_32), true);
  return isLarge ? concatenate([...toZip64End(count, offset, length), bytes]) : bytes;
}

function isLargeArchive(count: number, offset: number, length: number): boolean {
  return count >= MAX_16 || offset >= MAX_32 || length >= MAX_32;
}

/** The record and its locator. */
function toZip64End(count: number, offset: number, length: number): readonly Uint8Array[] {
  const end = createRecord(56, 0x06064b50);
  setUint64(end.view, 4, 44);
  end.view.setUint16(12, MADE_BY, true);
  end.view.setUint16(14, 45, true);
  setUint64(end.view, 24, count);
  setUint64(end.view, 32, count);
  setUint64(end.view, 40, length);
  setUint64(end.view, 48, offset);
  const locator = createRecord(20, 0x07064b50);
  setUint64(locator.view, 8, offset + length);
  locator.view.setUint32(16, 1, true);
  return [end.bytes, locator.bytes];
}

function concatenate(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}

/** What local header and central record have in common: version, flags, method and time (4.4.3-6). */
function setCommon(view: DataView, at: number, member: Member, isFar = false): void {
  const isDeflated = member.method === "deflated";
  view.setUint16(at, isFar || member.isLarge ? 45 : isDeflated || member.isFolder ? 20 : 10, true);
  view.setUint16(at + 2, UTF8_FLAG | (isDeflated ? DESCRIPTOR_FLAG : 0), true);
  view.setUint16(at + 4, isDeflated ? 8 : 0, true);
  view.setUint32(at + 6, toDosTime(member.modified), true);
}

function toWideLength(count: number): number {
  return count === 0 ? 0 : 4 + count * 8;
}

/** The Zip64 extra field (4.5.3). Returns where the next one begins. */
function setWideField(view: DataView, at: number, values: readonly number[]): number {
  view.setUint16(at, 0x0001, true);
  view.setUint16(at + 2, values.length * 8, true);
  values.forEach((value, index) => {
    setUint64(view, at + 4 + index * 8, value);
  });
  return at + toWideLength(values.length);
}

/** The bytes that a member's exact time takes in each of its two headers: none where it does not fit (before 1901, after 2038). */
export function toTimeLength(modified: Date): number {
  const seconds = toSeconds(modified);
  return seconds === (seconds | 0) ? 9 : 0;
}

/** The extended timestamp of Info-ZIP: seconds since 1970, signed 32 bits. */
function setTimeField(view: DataView, at: number, modified: Date): void {
  if (toTimeLength(modified) === 0) return;
  view.setUint16(at, 0x5455, true);
  view.setUint16(at + 2, 5, true);
  view.setUint8(at + 4, 1);
  view.setInt32(at + 5, toSeconds(modified), true);
}

function toSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}

/** The format's own time (4.4.6), in UTC: the same for the same tree, wherever it is made. Steps of 2 s, 1980 to 2107. */
function toDosTime(modified: Date): number {
  const year = modified.getUTCFullYear();
  if (!(year >= 1980)) return 0x0021_0000;
  if (year > 2107) return 0xff9f_bf7d;
  const date = ((year - 1980) << 9) | ((modified.getUTCMonth() + 1) << 5) | modified.getUTCDate();
  const time = (modified.getUTCHours() << 11) | (modified.getUTCMinutes() << 5) | (modified.getUTCSeconds() >> 1);
  return date * 0x1_0000 + time;
}

/** A record of `length` bytes that begins with a signature, and is 0 behind it. */
function createRecord(length: number, signature: number): { readonly bytes: Uint8Array; readonly view: DataView } {
  const bytes = new Uint8Array(length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, signature, true);
  return { bytes, view };
}

function setUint64(view: DataView, at: number, value: number): void {
  view.setBigUint64(at, BigInt(value), true);
}
