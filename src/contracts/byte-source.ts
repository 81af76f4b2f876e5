/**
 * Bytes that a reader reads part by part into its own buffers. A `ReadableStream` allocates a new buffer for each part
 * instead.
 */
export interface ByteSource {
  /**
   * Writes the next bytes to the start of `buffer`, which must not be empty, and returns their number: at least 1, or 0
   * at the end. Only one call may run at a time. Rejects when the rest of the bytes cannot be delivered. The source is
   * released when this rejects, and at the end.
   */
  readInto(buffer: Uint8Array): Promise<number>;
  /**
   * Releases what the source holds, after a running `readInto` has returned. It may be called more than once, and after
   * the end.
   */
  close(): Promise<void>;
}

/** The maximum number of bytes in a chunk of {@link toByteStream}. */
const CHUNK_BYTES = 131_072;

/**
 * The bytes of a source as a stream, for readers that need one. The stream does not read ahead; cancelling it closes
 * the source.
 */
export function toByteStream(source: ByteSource): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const buffer = new Uint8Array(CHUNK_BYTES);
        const count = await source.readInto(buffer);
        if (count === 0) controller.close();
        else controller.enqueue(count < buffer.byteLength / 2 ? buffer.slice(0, count) : buffer.subarray(0, count));
      },
      cancel: () => source.close(),
    },
    { highWaterMark: 0 },
  );
}

/** A source of bytes that are in memory. */
export function sourceOfBytes(bytes: Uint8Array): ByteSource {
  let rest = bytes;
  return {
    async readInto(buffer) {
      const part = rest.subarray(0, buffer.byteLength);
      buffer.set(part);
      rest = rest.subarray(part.byteLength);
      return part.byteLength;
    },
    async close() {
      rest = new Uint8Array(0);
    },
  };
}

/** A source of the remaining bytes of a stream. */
export function toByteSource(stream: ReadableStream<Uint8Array>): ByteSource {
  const reader = stream.getReader();
  let rest: Uint8Array = new Uint8Array(0);

  async function readInto(buffer: Uint8Array): Promise<number> {
    while (rest.byteLength === 0) {
      const { done, value } = await reader.read();
      if (done) return 0;
      rest = value;
    }
    const part = rest.subarray(0, buffer.byteLength);
    buffer.set(part);
    rest = rest.subarray(part.byteLength);
    return part.byteLength;
  }

  return { readInto, close: () => reader.cancel() };
}

/**
 * What {@link tap} calls while a source is read. With all three given, exactly one of `onEnd`, `onError` and `onClose`
 * is called, and once.
 */
export interface SourceTap {
  /** A read starts. */
  readonly onRead?: () => void;
  /** A read has returned `count` bytes, at least one. */
  readonly onBytes?: (count: number) => void;
  /** The source has ended. */
  readonly onEnd?: () => void;
  /** A read has failed. Not called after `onClose`: closing a source makes a pending read fail. */
  readonly onError?: (error: unknown) => void;
  /** The reader closes the source before its end. The source closes afterwards. */
  readonly onClose?: () => void;
}

/**
 * A source with the same bytes that reports how it is read. With only `onRead` or `onClose`, it adds no promise per
 * read.
 */
export function tap(source: ByteSource, { onRead, onBytes, onEnd, onError, onClose }: SourceTap): ByteSource {
  let isOver = false;

  function finish(report: (() => void) | undefined): void {
    if (isOver) return;
    isOver = true;
    report?.();
  }

  async function readAndReport(buffer: Uint8Array): Promise<number> {
    try {
      const count = await source.readInto(buffer);
      if (count > 0) onBytes?.(count);
      else finish(onEnd);
      return count;
    } catch (error) {
      finish(() => onError?.(error));
      throw error;
    }
  }

  function readInto(buffer: Uint8Array): Promise<number> {
    onRead?.();
    return onBytes || onEnd || onError ? readAndReport(buffer) : source.readInto(buffer);
  }

  async function close(): Promise<void> {
    finish(onClose);
    await source.close();
  }

  return { readInto, close };
}
