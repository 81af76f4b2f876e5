/** After so many bytes of chunks that came from sockets they are looked through. */
const DUE_BYTES = 4_194_304;

let collect: (() => void) | undefined;
let received = 0;

/**
 * Has something called after every 4 MiB of chunks, each of which is memory beside the heap that is free only when its chunk is collected
 * (docs/decisions/0007-memory.md). For a process of our own: a host's is its own.
 */
export function onChunkGarbage(collector: () => void): void {
  collect = collector;
}

/** Counts a chunk of so many bytes that came from a socket. */
export function countChunk(byteLength: number): void {
  if (collect === undefined) return;
  received += byteLength;
  if (received < DUE_BYTES) return;
  received = 0;
  collect();
}
