/** A body in chunks, whatever it comes from: the one thing that a writer needs of a source. */
export interface ChunkReader {
  /** The next chunk; rejects where the source fails. */
  read(): Promise<{ readonly done?: boolean; readonly value?: unknown }>;
  /** Lets go of the source, also while a `read` is pending. */
  cancel(reason?: unknown): Promise<unknown>;
}

/** The bytes under any view of a buffer. */
export function toBytes(view: ArrayBufferView): Uint8Array {
  return view instanceof Uint8Array ? view : new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}
