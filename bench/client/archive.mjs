/** How many bytes at the end of a ZIP archive are looked at: bsdtar fills its last block up with zeros. */
export const ARCHIVE_END = 16_384;

const SIGNATURE = Buffer.from("PK\x05\x06");

/** Throws unless the last bytes of an archive have its end with this number of entries; the folder may be one more. */
export function checkArchive(tail, entries) {
  const position = tail.lastIndexOf(SIGNATURE);
  if (position < 0) throw new Error("The archive is not whole.");
  const told = tail.readUInt16LE(position + 10);
  if (told !== entries && told !== entries + 1) throw new Error(`The archive has ${told} entries, not ${entries}.`);
}
