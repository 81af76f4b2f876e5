// Reads a named pipe to its end: node bench/client/drain.mjs <pipe>. Prints "ready", then what came: the number of
// bytes, and the last ones.
import { openSync, readSync } from "node:fs";
import { ARCHIVE_END } from "./archive.mjs";

const buffer = Buffer.allocUnsafeSlow(262_144);
process.stdout.write("ready\n");
const pipe = openSync(process.argv[2], "r");
let bytes = 0;
let tail = Buffer.alloc(0);
for (;;) {
  const length = readSync(pipe, buffer);
  if (length === 0) break;
  bytes += length;
  const last = buffer.subarray(Math.max(0, length - ARCHIVE_END), length);
  tail = last.length === ARCHIVE_END ? Buffer.from(last) : Buffer.concat([tail, last]).subarray(-ARCHIVE_END);
}
process.stdout.write(`${JSON.stringify({ bytes, tail: tail.toString("base64") })}\n`);
