import { toFramedSize } from "./stored-blocks.ts";
import {
  isLargeSize,
  type Member,
  toCentralLength,
  toDescriptorLength,
  toEndLength,
  toLocalLength,
  toNameLength,
} from "./zip-records.ts";

/** What is known about a member before its file is opened. */
export interface MemberHead {
  /** Separated by `/`, and safe to unpack on every system. A folder's name ends in `/`. */
  readonly name: string;
  readonly modified: Date;
  /** Bytes of the content; 0 for folders. */
  readonly size: number;
}

/**
 * How a content is written to the archive. `whole`: as it is, after all of it has been read. `blocks`: as stored blocks
 * of DEFLATE. `compressed`: compressed with DEFLATE.
 */
export type Encoding = "whole" | "blocks" | "compressed";

/** Members up to this size are read completely before their header is written. */
export const WHOLE_BYTES = 131_072;

/**
 * Returns the encoding of a content without compression. It depends only on the size, so the archive's length does too.
 */
export function toEncoding(size: number): Exclude<Encoding, "compressed"> {
  return size <= WHOLE_BYTES ? "whole" : "blocks";
}

/**
 * Returns the data of a member's records. For a compressed member, `storedSize` is an upper limit until the size is
 * known.
 * @throws RangeError when the name is too long for an archive.
 */
export function toMember({ name, modified, size }: MemberHead, encoding: Encoding): Member {
  const storedSize = toStoredSize(size, encoding);
  return {
    name,
    nameLength: toNameLength(name),
    isFolder: name.endsWith("/"),
    modified,
    method: encoding === "whole" ? "stored" : "deflated",
    size,
    storedSize,
    isLarge: isLargeSize(storedSize),
  };
}

/**
 * Content that cannot be compressed grows by less than a thousandth, because a compressor stores it in blocks as well.
 */
function toStoredSize(size: number, encoding: Encoding): number {
  if (encoding === "whole") return size;
  return encoding === "blocks" ? toFramedSize(size) : size + Math.ceil(size / 1000) + 1024;
}

/** Returns how many bytes a member takes before the central directory. */
export function toMemberLength(member: Member): number {
  return toLocalLength(member) + member.storedSize + toDescriptorLength(member);
}

/** Computes the length of an archive without compression from the sizes, names and times of its members. */
export interface LengthSum {
  /** @throws RangeError when the name is too long for an archive. */
  add(head: MemberHead): void;
  total(): number;
}

export function createLengthSum(): LengthSum {
  let count = 0;
  let offset = 0;
  let directory = 0;

  function add(head: MemberHead): void {
    const member = toMember(head, toEncoding(head.size));
    count++;
    directory += toCentralLength(member, offset);
    offset += toMemberLength(member);
  }

  return { add, total: () => offset + directory + toEndLength(count, offset, directory) };
}
