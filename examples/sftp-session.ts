import { type AccountFiles, HttpError, isHttpError, isStorageError, StorageError } from "fileferry";
import ssh2, { type Attributes, type SFTPWrapper } from "ssh2";
import { type Described, toAttributes, toMember, toSegments, toStatusOrReport } from "./sftp-answers.ts";
import type { Allowance, Flow } from "./sftp-flow.ts";
import { type Handle, openDownload, openListing, openUpload, setTimeIfPossible, type Upload } from "./sftp-handles.ts";

const { OPEN_MODE, STATUS_CODE } = ssh2.utils.sftp;

/** What a session needs. */
export interface SessionOptions {
  readonly files: AccountFiles;
  readonly username: string;
  readonly flow: Flow;
  /** Gets the errors that clients do not get. */
  readonly report: (error: unknown) => void;
}

/**
 * Serves one SFTP session (draft-ietf-secsh-filexfer-02, version 3) from an account's files.
 *
 * Requests are handled one after the other, in their order, so those for one handle cannot overlap, and memory is
 * limited. Links and extensions have no listener: ssh2 responds with OP_UNSUPPORTED.
 */
export function serveSession(sftp: SFTPWrapper, { files, username, flow, report }: SessionOptions): void {
  const handles = new Map<number, Handle>();
  let lastHandle = 0;
  let isOver = false;
  let queue = Promise.resolve();

  function answer(id: number, work: () => unknown, bytes = 0): void {
    flow.enter(bytes);
    const answered = queue.then(async () => {
      try {
        await flow.room(sftp, () => isOver);
        if (!isOver) await work();
      } catch (error) {
        const { code, message } = toStatusOrReport(error, report);
        if (!isOver) sftp.status(id, code, message);
      } finally {
        flow.leave(bytes);
      }
    });
    // If the logger throws, the next request still gets its response.
    queue = answered.catch(() => undefined);
  }

  /** Runs work, and responds with the status OK. */
  function perform(id: number, work: () => Promise<unknown>, bytes = 0): void {
    const answerOk = async () => {
      await work();
      sftp.status(id, STATUS_CODE.OK);
    };
    answer(id, answerOk, bytes);
  }

  /** Closes all handles. An upload that the client has not closed is incomplete, and is discarded. */
  async function dropAll(): Promise<void> {
    const open = [...handles.values()];
    handles.clear();
    await Promise.all(open.map(drop));
  }

  async function drop(handle: Handle): Promise<void> {
    flow.handles.give(1);
    await handle.close();
  }

  async function open(id: number, make: () => Promise<Handle>): Promise<void> {
    if (!flow.handles.take(1)) throw new HttpError("unavailable", "Too many files are open.");
    const handle = await make().catch((error: unknown) => {
      flow.handles.give(1);
      throw error;
    });
    // The client may have disconnected meanwhile.
    if (isOver) return drop(handle);
    lastHandle += 1;
    handles.set(lastHandle, handle);
    const name = Buffer.alloc(4);
    name.writeUInt32BE(lastHandle);
    sftp.handle(id, name);
  }

  function handleOf<K extends Handle["kind"]>(name: Buffer, ...kinds: readonly K[]): Extract<Handle, { kind: K }> {
    const handle = name.length === 4 ? handles.get(name.readUInt32BE()) : undefined;
    if (handle === undefined || !kinds.some((kind) => kind === handle.kind)) {
      throw new HttpError("malformed", "There is no such handle.");
    }
    return handle as Extract<Handle, { kind: K }>;
  }

  function describeOpen(name: Buffer): Described {
    const handle = handleOf(name, "download", "upload", "listing");
    if (handle.kind === "listing") return { kind: "folder" };
    return handle.kind === "upload" ? { kind: "file", size: handle.size() } : handle.entry;
  }

  async function close(name: Buffer): Promise<void> {
    const handle = handleOf(name, "download", "upload", "listing");
    handles.delete(name.readUInt32BE());
    try {
      if (handle.kind === "upload") await handle.commit();
    } finally {
      await drop(handle);
    }
  }

  function answerPaths(): void {
    sftp.on("REALPATH", (id, path) => answer(id, () => sftp.name(id, [toRealPath(path)])));
    for (const stat of ["STAT", "LSTAT"] as const) {
      sftp.on(stat as "STAT", (id, path) =>
        answer(id, async () => sftp.attrs(id, toAttributes(await describe(files, path)))),
      );
    }
    sftp.on("SETSTAT", (id, path, attributes) =>
      perform(id, async () => {
        refuseSize(attributes, (await describe(files, path)).size);
        const modified = toModified(attributes);
        if (modified !== undefined) await setTimeIfPossible(files, toSegments(path), modified);
      }),
    );
    // Version 3 replaces nothing: a client removes the existing file first.
    sftp.on("RENAME", (id, from, to) => perform(id, () => files.move(toSegments(from), toSegments(to))));
    sftp.on("MKDIR", (id, path) => perform(id, () => files.createFolder(toSegments(path))));
    sftp.on("RMDIR", (id, path) => perform(id, () => files.remove(toSegments(path), "empty-folder")));
    sftp.on("REMOVE", (id, path) => perform(id, () => files.remove(toSegments(path), "file")));
  }

  function answerFiles(): void {
    sftp.on("OPEN", (id, path, flags) =>
      answer(id, () =>
        open(id, async () => {
          const isUpload = (flags & OPEN_MODE.WRITE) !== 0;
          return isUpload
            ? openForWriting(files, toSegments(path), flags, flow.ahead)
            : openDownload(files, toSegments(path));
        }),
      ),
    );
    sftp.on("READ", (id, name, offset, length) =>
      answer(id, async () => {
        const bytes = await handleOf(name, "download").read(offset, length);
        if (bytes === undefined) sftp.status(id, STATUS_CODE.EOF);
        else sftp.data(id, bytes);
      }),
    );
    sftp.on("WRITE", (id, name, offset, bytes) =>
      perform(id, async () => handleOf(name, "upload").write(offset, bytes), bytes.length),
    );
    sftp.on("FSTAT", (id, name) => answer(id, () => sftp.attrs(id, toAttributes(describeOpen(name)))));
    sftp.on("FSETSTAT", (id, name, attributes) =>
      perform(id, async () => {
        refuseSize(attributes, describeOpen(name).size);
        if (attributes.size !== undefined) handleOf(name, "upload").endHere();
        const modified = toModified(attributes);
        const handle = handleOf(name, "download", "upload", "listing");
        if (modified !== undefined && handle.kind === "upload") handle.setTime(modified);
      }),
    );
    sftp.on("CLOSE", (id, name) => perform(id, () => close(name)));
  }

  function answerFolders(): void {
    sftp.on("OPENDIR", (id, path) => answer(id, () => open(id, async () => openListing(files, toSegments(path)))));
    sftp.on("READDIR", (id, name) =>
      answer(id, async () => {
        const members = await handleOf(name, "listing").next();
        if (members.length === 0) return sftp.status(id, STATUS_CODE.EOF);
        const listed = members.map((entry) => toMember(entry, username));
        sftp.name(id, listed);
      }),
    );
  }

  answerPaths();
  answerFiles();
  answerFolders();
  sftp.on("error", report);
  // The client has sent its last request: earlier ones still get their responses.
  sftp.on("end", () => {
    queue = queue.then(dropAll).then(() => {
      if (!isOver) sendExitStatus(sftp);
      sftp.end();
    }, report);
  });
  sftp.on("close", () => {
    isOver = true;
    dropAll().catch(report);
  });
}

/** Sends the exit status 0 (RFC 4254 6.10), which `scp` needs and ssh2 only has for other channels. */
function sendExitStatus(sftp: SFTPWrapper): void {
  const { _protocol: protocol, outgoing } = sftp as unknown as {
    readonly _protocol?: { exitStatus?(channel: number, status: number): void };
    readonly outgoing?: { readonly id: number };
  };
  if (outgoing !== undefined) protocol?.exitStatus?.(outgoing.id, 0);
}

/** The path as in the HTTP header `Server-Path`, without the percent-encoding. */
function toRealPath(path: string): { filename: string; longname: string; attrs: Attributes } {
  const filename = `/${toSegments(path).join("/")}`;
  return { filename, longname: filename, attrs: {} as Attributes };
}

/** What is at a path. Of a file that the account may not read only the kind: `put` checks whether it is a folder. */
async function describe(files: AccountFiles, path: string): Promise<Described> {
  const segments = toSegments(path);
  const kind = await files.kindOf(segments);
  if (kind === undefined) throw new StorageError("not-found");
  if (kind === "folder") return { kind };
  try {
    const entry = await files.stat(segments, "read");
    if (entry === undefined) throw new StorageError("not-found");
    return entry;
  } catch (error) {
    if (isStorageError(error) || !isHttpError(error) || error.failure !== "denied") throw error;
    return { kind };
  }
}

/**
 * Opens a file for writing, from its start. The bytes go into a new file even without TRUNC, as from `scp`: then the
 * new file must be at least as long as the previous one, or the client must set its size.
 */
async function openForWriting(
  files: AccountFiles,
  segments: readonly string[],
  flags: number,
  ahead: Allowance,
): Promise<Upload> {
  const has = (flag: number) => (flags & flag) !== 0;
  if (has(OPEN_MODE.READ) || has(OPEN_MODE.APPEND)) {
    throw new HttpError("method-not-implemented", "Files are written completely, and not read meanwhile.");
  }
  const isCreating = has(OPEN_MODE.CREAT);
  if (isCreating && has(OPEN_MODE.EXCL)) return openUpload(files, segments, { ifNoneMatch: "*" }, 0, ahead);
  const previous = has(OPEN_MODE.TRUNC) ? undefined : await files.stat(segments, "write");
  return openUpload(files, segments, isCreating ? {} : { ifMatch: "*" }, previous?.size ?? 0, ahead);
}

/**
 * Throws if a client sets another size than the file has. Owners and modes are ignored: otherwise `put -p` and `scp -p`
 * would fail, and some clients always set them.
 */
function refuseSize({ size }: Attributes, actual: number | undefined): void {
  if (size === undefined || size === actual) return;
  throw new HttpError("method-not-implemented", "Files cannot be cut or extended.");
}

/** The time that a client sets. ssh2 passes seconds or a date. */
function toModified({ mtime }: { readonly mtime?: number | Date }): Date | undefined {
  return typeof mtime === "number" ? new Date(mtime * 1000) : mtime;
}
