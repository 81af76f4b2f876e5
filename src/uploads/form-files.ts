import { digestExpected } from "../http/digests/digest-content.ts";
import { readExpectedDigests } from "../http/digests/digest-headers.ts";
import { createError } from "../http/errors.ts";
import type { HttpError } from "../http/http-error.ts";
import type { FormPart } from "../http/multipart.ts";
import { isMemberName } from "../http/path-segment.ts";
import { cutText } from "../platform/cut-text.ts";
import { yieldToEventLoop } from "../platform/event-loop.ts";

/** A file of a form, with its result. */
export interface FormUpload {
  /** Its name, without the path that some browsers send. */
  readonly name: string;
  /** Why it was not stored. Absent on success. */
  readonly error?: unknown;
}

/** Counts what a form holds in memory and in the storage until its response. A function throws to refuse the form. */
export interface FormPermits {
  /** Sets the number of files that wait for the action. */
  holdFiles(count: number): void;
  /** Adds bytes of fields, names and failures. */
  holdBytes(bytes: number): void;
}

/** See {@link FormFilesOptions.repeated}. */
export type RepeatedFiles = "same-name" | "none" | "all";

/** Options of {@link createFormFiles}. */
export interface FormFilesOptions {
  /** Stores a file under its name completely or not at all. */
  write(name: string, content: AsyncIterable<Uint8Array>): Promise<unknown>;
  /**
   * Which files are refused because of an earlier one: those with the same name (`same-name`), none because each gets
   * a name of its own (`none`), or all because they would become one file (`all`). Default: `same-name`.
   */
  readonly repeated?: RepeatedFiles;
  readonly permits: FormPermits;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Stores the files of a form while it is read (CONTRACT 4.6). A file that arrives before the form's action is written
 * as well, but the end of its content is held back, so that it does not become visible before {@link FormFiles.decide}.
 */
export interface FormFiles {
  /**
   * Reads and stores a file. Resolves when its content is read. A failure becomes the file's result.
   * @throws HttpError `malformed` if too many files wait for the action; what `permits` throw; the signal's reason if
   * it is aborted.
   */
  receive(part: FormPart): Promise<void>;
  /**
   * Sets whether the form's action stores files. If so, stores the waiting and the following files in the order of the
   * form. Otherwise, discards them.
   * @throws the signal's reason if it is aborted meanwhile.
   */
  decide(isUpload: boolean): Promise<void>;
  /** The result of each file, in the order of the form. Only meaningful if the action stores files. */
  outcomes(): readonly FormUpload[];
}

/** A file whose content was read, or whose write has failed, before the action of the form was known. */
interface WaitingFile {
  readonly index: number;
  /** Ends its content, or makes it fail. */
  release(isUpload: boolean): void;
  readonly writing: Promise<FormUpload>;
}

/**
 * How many files may arrive before the form's action. Each keeps a file of the storage open, and listens to the signal.
 */
const MAX_WAITING = 8;
/** No valid name is longer: the name of a refused file is cut. */
const MAX_NAME_CHARACTERS = 255;
/** After how many files the event loop may serve other requests. */
const FILES_PER_YIELD = 100;

/** Makes the store for the files of one form. */
export function createFormFiles({ write, repeated = "same-name", permits, signal }: FormFilesOptions): FormFiles {
  const outcomes: FormUpload[] = [];
  const waiting: WaitingFile[] = [];
  const names = new Set<string>();
  let decision: "store" | "give-up" | undefined;

  async function receive(part: FormPart): Promise<void> {
    if (decision === "give-up") return;
    const name = toLastSegment(part.filename ?? "");
    const refusal = refuse(name);
    if (refusal !== undefined) {
      if (!(await isEmptyInput(part))) add(toFailed(name, refusal));
      return;
    }
    names.add(name);
    const content = verified(part);
    if (decision === "store") add(await store(name, content));
    else await holdFile(name, content);
    // A thousand small files may arrive in a few chunks, and a storage may write them synchronously.
    if (outcomes.length % FILES_PER_YIELD === 0) await yieldToEventLoop();
    // The rest of its form may never come.
    signal?.throwIfAborted();
  }

  function add(outcome: FormUpload): void {
    outcomes.push(outcome);
    permits.holdBytes(toBytes(outcome));
  }

  /** Returns why a file is refused, before anything of it is written (SECURITY 5). */
  function refuse(name: string): HttpError | undefined {
    if (!isMemberName(name)) return createError("name-invalid");
    if (repeated === "all" && names.size > 0) return createError("link-one-file");
    // Files of several folders, sent with their last names only, would replace one another without notice.
    return repeated === "same-name" && names.has(name) ? createError("form-file-repeated") : undefined;
  }

  async function store(name: string, content: AsyncIterable<Uint8Array>): Promise<FormUpload> {
    try {
      await write(name, content);
      return { name };
    } catch (error) {
      return toFailed(name, error);
    }
  }

  function toFailed(name: string, error: unknown): FormUpload {
    if (name.length <= MAX_NAME_CHARACTERS) return { name, error };
    names.delete(name);
    return { name: cutText(name, MAX_NAME_CHARACTERS), error };
  }

  async function holdFile(name: string, body: AsyncIterable<Uint8Array>): Promise<void> {
    if (waiting.length >= MAX_WAITING) {
      throw createError("form-too-many-files", { values: { max: MAX_WAITING } });
    }
    permits.holdFiles(waiting.length + 1);
    permits.holdBytes(toBytes({ name }));
    const { content, isRead, release } = holdBack(body);
    const writing = store(name, content);
    waiting.push({ index: outcomes.push({ name }) - 1, release, writing });
    await Promise.race([isRead, writing]);
  }

  async function decide(isUpload: boolean): Promise<void> {
    decision = isUpload ? "store" : "give-up";
    for (const { index, release, writing } of waiting.splice(0)) {
      release(isUpload);
      outcomes[index] = await writing;
    }
    // After a disconnect the results of the files do not matter: the request fails as a whole.
    if (isUpload) signal?.throwIfAborted();
  }

  return { receive, decide, outcomes: () => outcomes };
}

/**
 * The content of a part, which fails if it does not have the digests of the part's headers, or if these are malformed.
 */
function verified({ digestFields, body }: FormPart): AsyncIterable<Uint8Array> {
  return digestFields === undefined ? body : verify(body, digestFields);
}

async function* verify(body: AsyncIterable<Uint8Array>, headers: Headers): AsyncGenerator<Uint8Array> {
  yield* digestExpected(body, readExpectedDigests(headers)).content;
}

/** The bytes of a result in memory, with the stack of its error. */
function toBytes({ name, error }: FormUpload): number {
  return 2 * name.length + (error === undefined ? 100 : 1500);
}

/**
 * Content whose end is held back until its release. `isRead` resolves when the writer has read everything, or has
 * stopped.
 */
function holdBack(body: AsyncIterable<Uint8Array>) {
  let release: (isUpload: boolean) => void = () => undefined;
  let resolveRead: () => void = () => undefined;
  const isReleased = new Promise<boolean>((resolve) => {
    release = resolve;
  });
  const isRead = new Promise<void>((resolve) => {
    resolveRead = resolve;
  });

  async function* untilRelease(): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } finally {
      resolveRead();
    }
    if (!(await isReleased)) throw createError("form-action-not-upload");
  }

  return { content: untilRelease(), isRead, release };
}

/** The last name of a path: some browsers send a path, with the separators of their system (CONTRACT 2.2). */
function toLastSegment(filename: string): string {
  return filename.slice(Math.max(filename.lastIndexOf("/"), filename.lastIndexOf("\\")) + 1);
}

/** Whether a part is what browsers send for a file input without a file. Reads the body of a part without a name. */
export async function isEmptyInput({ filename, body }: FormPart): Promise<boolean> {
  if (filename !== "") return false;
  for await (const chunk of body) if (chunk.byteLength > 0) return false;
  return true;
}
