/** Reads a body in chunks, from any kind of source. */
export interface ChunkReader {
  /** Reads the next chunk. Rejects if the source fails. */
  read(): Promise<{ readonly done?: boolean; readonly value?: unknown }>;
  /** Releases the source, also while a `read` is pending. */
  cancel(reason?: unknown): Promise<unknown>;
}

/** The bytes of any view of a buffer. */
export function toBytes(view: ArrayBufferView): Uint8Array {
  return view instanceof Uint8Array ? view : new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}
