import { HttpError } from "../http/http-error.ts";
import type { FormPart } from "../http/multipart.ts";
import { isMemberName } from "../http/path-segment.ts";
import { yieldToEventLoop } from "../platform/event-loop.ts";

/** A file of a form, and what became of it. */
export interface FormUpload {
  /** Its name, without the path that some browsers send. */
  readonly name: string;
  /** Why it was not stored. */
  readonly error?: unknown;
}

/** What stores the files of a form. */
export interface FormFilesOptions {
  /** Stores a file under its name, all of it or nothing. */
  write(name: string, content: AsyncIterable<Uint8Array>): Promise<unknown>;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal | undefined;
}

/**
 * The files of a form on their way to the storage (CONTRACT 4.6). One that comes before the form has said what it wants is written as well, but the end of
 * its content is held back, so that it does not become visible before {@link FormFiles.decide}.
 */
export interface FormFiles {
  /**
   * Takes a file, and is done when its content is. A failure is that file's own.
   * @throws HttpError `malformed` when too many wait, and the signal's reason when it has aborted.
   */
  receive(part: FormPart): Promise<void>;
  /**
   * Stores what has waited and what is still to come, in the order of the form; or gives it all up.
   * @throws the signal's reason when it has aborted meanwhile.
   */
  decide(isUpload: boolean): Promise<void>;
  /** What became of each file, in the order of the form, where they were to be stored. */
  outcomes(): readonly FormUpload[];
}

/** A file whose content has come, or has been refused, while nobody knew what for. */
interface WaitingFile {
  readonly index: number;
  /** Lets its content end, or break. */
  release(isUpload: boolean): void;
  readonly writing: Promise<FormUpload>;
}

/** How many files may come before the form has said what it wants: each keeps a file of the storage open, and listens to the signal. */
const MAX_WAITING = 8;
/** After so many files others have their turn. */
const FILES_PER_YIELD = 100;

/** Makes what stores the files of one form. */
export function createFormFiles({ write, signal }: FormFilesOptions): FormFiles {
  const outcomes: FormUpload[] = [];
  const waiting: WaitingFile[] = [];
  const names = new Set<string>();
  let decision: "store" | "give-up" | undefined;

  async function receive(part: FormPart): Promise<void> {
    if (decision === "give-up") return;
    const name = toLastSegment(part.filename ?? "");
    const refusal = refuse(name);
    if (refusal !== undefined) {
      if (!(await isEmptyInput(part))) outcomes.push({ name, error: refusal });
      return;
    }
    names.add(name);
    if (decision === "store") outcomes.push(await store(name, part.body));
    else await hold(name, part.body);
    // A thousand small files may come in few chunks, and a storage may take them at once.
    if (outcomes.length % FILES_PER_YIELD === 0) await yieldToEventLoop();
    // The rest of its form may never come.
    signal?.throwIfAborted();
  }

  /** Checked before any file is made (SECURITY 5). */
  function refuse(name: string): HttpError | undefined {
    if (!isMemberName(name)) return new HttpError("malformed", "This is not a valid name.");
    // Members of several folders, sent with their last names alone, would replace one another unnoticed.
    return names.has(name) ? new HttpError("malformed", "The form has another file with this name.") : undefined;
  }

  async function store(name: string, content: AsyncIterable<Uint8Array>): Promise<FormUpload> {
    try {
      await write(name, content);
      return { name };
    } catch (error) {
      return { name, error };
    }
  }

  async function hold(name: string, body: AsyncIterable<Uint8Array>): Promise<void> {
    if (waiting.length >= MAX_WAITING) {
      throw new HttpError("malformed", `The form has more than ${MAX_WAITING} files before its action.`);
    }
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
    // Nobody is left to hear of what became of them: it is no failure of the files.
    if (isUpload) signal?.throwIfAborted();
  }

  return { receive, decide, outcomes: () => outcomes };
}

/** A content whose end is held back until it is released; `isRead` resolves when all before the end has been taken, or the taker has given up. */
function holdBack(body: AsyncIterable<Uint8Array>) {
  let release: (isUpload: boolean) => void = () => undefined;
  let tellRead: () => void = () => undefined;
  const isReleased = new Promise<boolean>((resolve) => {
    release = resolve;
  });
  const isRead = new Promise<void>((resolve) => {
    tellRead = resolve;
  });

  async function* hold(): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } finally {
      tellRead();
    }
    if (!(await isReleased)) throw new HttpError("malformed", "The form's action is not an upload.");
  }

  return { content: hold(), isRead, release };
}

/** Some browsers send a path, by the separators of their system (CONTRACT 2.2). */
function toLastSegment(filename: string): string {
  return filename.slice(Math.max(filename.lastIndexOf("/"), filename.lastIndexOf("\\")) + 1);
}

/** Whether a part is what browsers send of a file input that nothing was chosen for. */
export async function isEmptyInput({ filename, body }: FormPart): Promise<boolean> {
  if (filename !== "") return false;
  for await (const chunk of body) if (chunk.byteLength > 0) return false;
  return true;
}
