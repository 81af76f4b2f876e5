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
}

/** The name of a member as bytes. @throws RangeError when it does not fit into an archive. */
export function encodeName(name: string): Uint8Array {
  const bytes = new TextEncoder().encode(name);
  if (bytes.byteLength > MAX_NAME_BYTES) throw new RangeError("A member's path is too long for a ZIP archive.");
  return bytes;
}

/** What stands before a member's content (4.3.7). */
export function toLocalHeader(member: Member, crc: number = 0): Uint8Array {
  const isDescribed = member.method === "deflated";
  const isLarge = isZip64(member);
  // With a descriptor behind the content, the sizes here are 0 (4.4.4, bit 3), in the wide field where it exists.
  const wide = isLarge ? toZip64Field(isDescribed ? [0, 0] : [member.size, member.storedSize]) : NOTHING;
  const time = toTimeField(member.modified);
  const { bytes, view } = createRecord(30, 0x04034b50, member.name, wide, time);
  setCommon(view, 4, member);
  const narrow = (size: number) => (isLarge ? MAX_32 : isDescribed ? 0 : size);
  view.setUint32(14, crc, true);
  view.setUint32(18, narrow(member.storedSize), true);
  view.setUint32(22, narrow(member.size), true);
  view.setUint16(26, member.name.byteLength, true);
  view.setUint16(28, wide.byteLength + time.byteLength, true);
  return bytes;
}

/** What stands behind the content of a deflated member, whose header did not know the CRC (4.3.9). */
export function toDescriptor(member: Member, crc: number): Uint8Array {
  const isLarge = isZip64(member);
  const { bytes, view } = createRecord(isLarge ? 24 : 16, 0x08074b50);
  view.setUint32(4, crc, true);
  if (isLarge) {
    setUint64(view, 8, member.storedSize);
    setUint64(view, 16, member.size);
  } else {
    view.setUint32(8, member.storedSize, true);
    view.setUint32(12, member.size, true);
  }
  return bytes;
}

/** A member's record in the central directory (4.3.12); `offset` is where its local header stands. */
export function toCentralRecord(member: Member, crc: number, offset: number): Uint8Array {
  const isLarge = isZip64(member);
  const isFar = offset >= MAX_32;
  const values = [...(isLarge ? [member.size, member.storedSize] : []), ...(isFar ? [offset] : [])];
  const wide = values.length > 0 ? toZip64Field(values) : NOTHING;
  const time = toTimeField(member.modified);
  const { bytes, view } = createRecord(46, 0x02014b50, member.name, wide, time);
  view.setUint16(4, MADE_BY, true);
  setCommon(view, 6, member, isFar);
  view.setUint32(16, crc, true);
  view.setUint32(20, isLarge ? MAX_32 : member.storedSize, true);
  view.setUint32(24, isLarge ? MAX_32 : member.size, true);
  view.setUint16(28, member.name.byteLength, true);
  view.setUint16(30, wide.byteLength + time.byteLength, true);
  view.setUint16(38, member.isFolder ? DOS_FOLDER : 0, true);
  view.setUint16(40, member.isFolder ? FOLDER_MODE : FILE_MODE, true);
  view.setUint32(42, isFar ? MAX_32 : offset, true);
  return bytes;
}

/** The end of an archive (4.3.14-16), whose central directory has `count` records and `length` bytes from `offset` on. */
export function toEnd(count: number, offset: number, length: number): Uint8Array {
  const isLarge = count >= MAX_16 || offset >= MAX_32 || length >= MAX_32;
  const { bytes, view } = createRecord(22, 0x06054b50);
  view.setUint16(8, Math.min(count, MAX_16), true);
  view.setUint16(10, Math.min(count, MAX_16), true);
  view.setUint32(12, Math.min(length, MAX_32), true);
  view.setUint32(16, Math.min(offset, MAX_32), true);
  return isLarge ? concatenate([toZip64End(count, offset, length), bytes]) : bytes;
}

function toZip64End(count: number, offset: number, length: number): Uint8Array {
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
  return concatenate([end.bytes, locator.bytes]);
}

/** Bytes behind one another. */
export function concatenate(parts: readonly Uint8Array[]): Uint8Array {
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
  view.setUint16(at, isFar || isZip64(member) ? 45 : isDeflated || member.isFolder ? 20 : 10, true);
  view.setUint16(at + 2, UTF8_FLAG | (isDeflated ? DESCRIPTOR_FLAG : 0), true);
  view.setUint16(at + 4, isDeflated ? 8 : 0, true);
  view.setUint32(at + 6, toDosTime(member.modified), true);
}

/** Whether the sizes need the wide field. Both go there together, and into all records of the member. */
function isZip64({ size, storedSize }: Member): boolean {
  return Math.max(size, storedSize) >= MAX_32;
}

const NOTHING = new Uint8Array(0);

/** The Zip64 extra field (4.5.3). */
function toZip64Field(values: readonly number[]): Uint8Array {
  const field = new Uint8Array(4 + values.length * 8);
  const view = new DataView(field.buffer);
  view.setUint16(0, 0x0001, true);
  view.setUint16(2, values.length * 8, true);
  values.forEach((value, index) => {
    setUint64(view, 4 + index * 8, value);
  });
  return field;
}

/** The extended timestamp of Info-ZIP: seconds since 1970, signed 32 bits; left out where they do not fit. */
function toTimeField(modified: Date): Uint8Array {
  const seconds = Math.floor(modified.getTime() / 1000);
  if (seconds !== (seconds | 0)) return NOTHING;
  const field = new Uint8Array(9);
  const view = new DataView(field.buffer);
  view.setUint16(0, 0x5455, true);
  view.setUint16(2, 5, true);
  view.setUint8(4, 1);
  view.setInt32(5, seconds, true);
  return field;
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

/** A record of `length` bytes that begins with a signature, and the variable parts behind it. */
function createRecord(
  length: number,
  signature: number,
  ...parts: readonly Uint8Array[]
): { readonly bytes: Uint8Array; readonly view: DataView } {
  const bytes = concatenate([new Uint8Array(length), ...parts]);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, signature, true);
  return { bytes, view };
}

function setUint64(view: DataView, at: number, value: number): void {
  view.setBigUint64(at, BigInt(value), true);
}
