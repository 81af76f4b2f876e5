import type { AccountFiles } from "../account/files.ts";
import type { ByteSource } from "../contracts/byte-source.ts";
import { toBatches, toMembers } from "../contracts/member-batches.ts";
import type { StoredFile } from "../contracts/storage-adapter.ts";
import { toStoredFile } from "../contracts/stored-file.ts";
import { watchSteps } from "../contracts/watch-steps.ts";
import type { HttpError } from "../http/http-error.ts";

/**
 * How often a running transfer asks whether its login has ended, in milliseconds; at least three times an idle time.
 */
const CHECK_MS = 10_000;
/** An upload that took less than this does not ask again before it is stored. */
const RECENT_MS = 1000;

/** Returns whether a login has ended: by a logout, a new password, or a change or the removal of its account. */
export type IsLoginEnded = () => Promise<boolean>;

/** The login of a request. */
export interface WatchedLogin {
  /** When the request was identified, in milliseconds. */
  readonly since: number;
  readonly clock: () => number;
  /** After how many milliseconds without use a session expires. */
  readonly idle: number;
  /** Whether the request may upload: what ends the login counts from now on, also before the first file arrives. */
  readonly mayUpload: boolean;
  /** Why a transfer ends. */
  readonly toError: () => HttpError;
  /** Called once, at the latest when the first transfer of the request starts. Asking also keeps its session alive. */
  readonly watch: () => IsLoginEnded;
}

/** The files of an account, which end with its login. */
export interface WatchedFiles {
  readonly files: AccountFiles;
  /**
   * Asks whether the login has ended, for changes that are none of files; also if it has just asked if `isStrict`.
   * @throws HttpError `unauthorized` if it has, `unavailable` if that is not known.
   */
  readonly confirmLogin: (isStrict?: boolean) => Promise<void>;
}

/**
 * Adds to an account's files that transfers end with the login of their request: an upload fails with HttpError
 * `unauthorized` and stores nothing, a download or a listing breaks off. So does a change: a client may send the rest
 * of its request after a logout. Transfers also keep the session alive.
 */
export function endWithLogin(files: AccountFiles, login: WatchedLogin): WatchedFiles {
  let watch: LoginWatch | undefined;
  let reads = 0;

  function toWatch(): LoginWatch {
    watch ??= createLoginWatch(login);
    return watch;
  }

  if (login.mayUpload) toWatch();

  /** Runs a change unless the login has ended. */
  function confirmed<Args extends readonly unknown[], T>(change: (...args: Args) => Promise<T>) {
    return async (...args: Args): Promise<T> => {
      await toWatch().confirm();
      return change(...args);
    };
  }

  async function watchFile(open: () => Promise<StoredFile>): Promise<StoredFile> {
    reads += 1;
    // An archive reads many files, each of which may be read in one step.
    if (reads > 1) toWatch().step();
    const file = await open();
    const { entry, source } = file;
    if (source === undefined) return { entry, body: chunkwise(file.body, toWatch().step) };
    return "readInto" in source ? toStoredFile(entry, watchReads(source, toWatch().step)) : file;
  }

  function watchContent(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    const { step, confirm } = toWatch();
    return watchSteps(() => content, { onStep: step, onEnd: confirm });
  }

  const { uploads, trash, versions } = files;

  const watched: AccountFiles = {
    ...files,
    createFolder: confirmed(files.createFolder),
    createFolderIfMissing: confirmed(files.createFolderIfMissing),
    remove: confirmed(files.remove),
    copy: confirmed(files.copy),
    move: confirmed(files.move),
    setAttributes: confirmed(files.setAttributes),
    lock: confirmed(files.lock),
    ...(trash && {
      trash: { ...trash, restore: confirmed(trash.restore), purge: confirmed(trash.purge) },
    }),
    ...(versions && {
      versions: {
        ...versions,
        read: (...reading) => watchFile(() => versions.read(...reading)),
        restore: confirmed(versions.restore),
        purge: confirmed(versions.purge),
      },
    }),
    ...(uploads && {
      uploads: {
        ...uploads,
        create: confirmed(uploads.create),
        complete: confirmed(uploads.complete),
        join: confirmed(uploads.join),
        append: (upload, content, options) => uploads.append(upload, watchContent(content), options),
      },
    }),
    list: (...listing) =>
      toMembers(() => watchSteps(() => toBatches(files.list(...listing)), { onStep: toWatch().step })),
    read: (segments, range) => watchFile(() => files.read(segments, range)),
    write: (segments, content, options) => files.write(segments, watchContent(content), options),
  };
  return { files: watched, confirmLogin: (isStrict) => toWatch().confirm(isStrict) };
}

interface LoginWatch {
  /** Called at each step of a transfer: it asks now and then, and throws once the login has ended. */
  readonly step: () => void;
  /**
   * Asks unless it has just asked, or in any case if `isStrict`. @throws HttpError `unauthorized` if the login has
   * ended, `unavailable` if that is not known.
   */
  readonly confirm: (isStrict?: boolean) => Promise<void>;
}

function createLoginWatch({ since, clock, idle, toError, watch }: WatchedLogin): LoginWatch {
  const isEnded = watch();
  const every = Math.min(CHECK_MS, idle / 3);
  let askedAt = since;
  let knownAt = since;
  let hasEnded = false;

  async function check(): Promise<void> {
    const now = clock();
    askedAt = now;
    if (await isEnded()) hasEnded = true;
    knownAt = now;
  }

  function step(): void {
    if (hasEnded) throw toError();
    // A store that fails ends no transfer: the next check asks again.
    if (clock() - askedAt >= every) check().catch(() => undefined);
  }

  async function confirm(isStrict?: boolean): Promise<void> {
    if (isStrict || clock() - knownAt >= RECENT_MS) await check();
    if (hasEnded) throw toError();
  }

  return { step, confirm };
}

/** Calls `step` before each read. If that throws, the source is released. */
function watchReads(source: ByteSource, step: () => void): ByteSource {
  async function readInto(buffer: Uint8Array): Promise<number> {
    try {
      step();
    } catch (error) {
      await source.close();
      throw error;
    }
    return source.readInto(buffer);
  }

  return { readInto, close: () => source.close() };
}

/** Calls `step` for each chunk. Reads nothing ahead of the reader. */
function chunkwise(body: ReadableStream<Uint8Array>, step: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const { done, value } = await reader.read();
    if (done) {
      controller.close();
      return;
    }
    try {
      step();
    } catch (error) {
      await reader.cancel(error);
      throw error;
    }
    controller.enqueue(value);
  }

  return new ReadableStream({ pull, cancel: (reason) => reader.cancel(reason) }, { highWaterMark: 0 });
}
