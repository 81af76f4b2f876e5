import type { FileClient } from "../../../src/client/file-client.ts";
import type { PutOptions } from "../../../src/client/options.ts";
import type { Entry, PutResult } from "../../../src/client/results.ts";

/** One call of `list`, which the test answers. */
export interface ListCall {
  readonly path: string;
  readonly signal: AbortSignal | undefined;
  /** Lets members arrive. */
  send(...names: readonly string[]): Promise<void>;
  end(): Promise<void>;
  fail(cause: unknown): Promise<void>;
}

/** A client whose listings are answered by the test. Unlike the real one, it does not end a listing that is aborted. */
export function createListClient(): { readonly client: Pick<FileClient, "list">; readonly calls: readonly ListCall[] } {
  const calls: ListCall[] = [];
  async function* list(path: string, { signal }: { signal?: AbortSignal | undefined } = {}) {
    const { readable, writable } = new TransformStream<Entry, Entry>(undefined, { highWaterMark: 100 });
    const writer = writable.getWriter();
    calls.push({
      path,
      signal,
      async send(...names) {
        for (const name of names) await writer.write({ name, is_directory: false, size: 1, modified: 0 });
        await settle();
      },
      end: () => writer.close().then(settle, settle),
      fail: (cause) => writer.abort(cause).then(settle, settle),
    });
    yield* readable;
  }
  return { client: { list: list as FileClient["list"] }, calls };
}

/** One call of `put`, which the test answers. */
export interface PutCall {
  readonly path: string;
  readonly options: PutOptions;
  report(sent: number): void;
  succeed(): Promise<void>;
  fail(cause: unknown): Promise<void>;
}

/** A client whose uploads are answered by the test. An aborted signal rejects them, as by the real client. */
export function createPutClient(): { readonly client: Pick<FileClient, "put">; readonly calls: readonly PutCall[] } {
  const calls: PutCall[] = [];
  const put: FileClient["put"] = (path, content, options = {}) =>
    new Promise<PutResult>((resolve, reject) => {
      const total = (content as File).size;
      options.signal?.addEventListener("abort", () => reject(options.signal?.reason));
      calls.push({
        path,
        options,
        report: (sent) => options.onProgress?.(sent, total),
        async succeed() {
          resolve({ etag: undefined, modified: null });
          await settle();
        },
        async fail(cause) {
          reject(cause);
          await settle();
        },
      });
    });
  return { client: { put }, calls };
}

/** Lets everything run that waits for a promise; timers do not run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}
