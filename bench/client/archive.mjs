/** How many bytes the record at the end of a ZIP archive has. */
export const ARCHIVE_END = 22;

/** Throws unless the last bytes of an archive are its end, and tell of so many entries. */
export function checkArchive(tail, entries) {
  if (tail.readUInt32LE(0) !== 0x06054b50) throw new Error("The archive is not whole.");
  const told = tail.readUInt16LE(10);
  if (told !== entries) throw new Error(`The archive has ${told} entries, not ${entries}.`);
}
