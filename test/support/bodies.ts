/** A request's body that records whether something has read from it. */
export interface RecordedBody {
  readonly stream: ReadableStream<Uint8Array>;
  /** How often a chunk was asked for. */
  pulls(): number;
}

/** A body that hands out its chunks only when asked. */
export function recordedBody(...chunks: readonly string[]): RecordedBody {
  const left = chunks.map((chunk) => new TextEncoder().encode(chunk));
  let pulls = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulls++;
        const chunk = left.shift();
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, pulls: () => pulls };
}

/** A body of these chunks, of unknown length. */
export function streamOf(...chunks: readonly string[]): ReadableStream<Uint8Array> {
  return recordedBody(...chunks).stream;
}

/** A body that breaks off after its chunks. */
export function brokenBody(...chunks: readonly string[]): ReadableStream<Uint8Array> {
  const left = chunks.map((chunk) => new TextEncoder().encode(chunk));
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = left.shift();
        if (chunk === undefined) controller.error(new Error("the client went away"));
        else controller.enqueue(chunk);
      },
    },
    { highWaterMark: 0 },
  );
}
