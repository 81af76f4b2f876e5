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

/** What is known of a member before it is opened. */
export interface MemberHead {
  /** `/`-separated and safe as it is; a folder's ends in `/`. */
  readonly name: string;
  readonly modified: Date;
  /** Bytes of the content; 0 for folders. */
  readonly size: number;
}

/** How a content goes into the archive: plainly, once all of it has been read; as stored blocks of DEFLATE; compressed. */
export type Encoding = "whole" | "blocks" | "compressed";

/** Up to this size a member is read before its header is written. */
export const WHOLE_BYTES = 131_072;

/** The encoding of a content that is not to be compressed follows from its size alone, and with it all framing. */
export function toEncoding(size: number): Exclude<Encoding, "compressed"> {
  return size <= WHOLE_BYTES ? "whole" : "blocks";
}

/**
 * What a member's records say. The `storedSize` of a compressed one is the most that it can come to, until it is known.
 * @throws RangeError when the name does not fit into an archive.
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

/** What cannot be compressed grows by less than a thousandth: a compressor stores it in blocks as well. */
function toStoredSize(size: number, encoding: Encoding): number {
  if (encoding === "whole") return size;
  return encoding === "blocks" ? toFramedSize(size) : size + Math.ceil(size / 1000) + 1024;
}

/** The bytes that a member takes before the central directory. */
export function toMemberLength(member: Member): number {
  return toLocalLength(member) + member.storedSize + toDescriptorLength(member);
}

/** Adds up how long the archive of members becomes, none of which is compressed: only their sizes and names count. */
export interface LengthSum {
  /** @throws RangeError when the name does not fit into an archive. */
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
