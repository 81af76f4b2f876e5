import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { canClone, type FileCall, isWatched, kindOf, meet, note, toError } from "./failing-calls.ts";

/*
 * Puts `failing-calls.ts` between `node:fs` and its users in this process. Import it before any module that keeps a
 * function of `node:fs`.
 */

type Plain = (...args: unknown[]) => unknown;
type Room = Record<string, Plain | undefined>;
/** What one of Node's calls is to the system; `undefined` for what does not concern the watched folder. */
type ToCall = (args: readonly unknown[]) => FileCall | undefined;
/** Handles the result of a call: the caller gets it, unless the call is made to fail; then it is closed here. */
type Outcome = (call: FileCall, result: unknown) => unknown;

const { O_CREAT, O_DIRECTORY } = fs.constants;
const real = { ...fs, closeDirectory: fs.Dir.prototype.closeSync };
/** The open directories below the watched folder. */
const directories = new WeakSet<object>();

function ofPath(call: FileCall): ToCall {
  return ([path]) => (isWatched(path) ? call : undefined);
}

function ofDescriptor(file: FileCall, folder: FileCall = file): ToCall {
  return ([descriptor]) => {
    const kind = kindOf(descriptor);
    return kind && (kind === "file" ? file : folder);
  };
}

const toOpen: ToCall = ([path, flags]) => {
  if (!isWatched(path)) return undefined;
  if (flags === "wx" || (Number(flags) & O_CREAT) !== 0) return "open new file";
  if (flags === undefined) return real.statSync(String(path)).isDirectory() ? "open folder" : "open file";
  return (Number(flags) & O_DIRECTORY) === 0 ? "open file" : "open folder";
};

const CALLS: Readonly<Record<string, ToCall>> = {
  open: toOpen,
  close: ofDescriptor("close file", "close folder"),
  opendir: ofPath("opendir"),
  readdir: ofPath("readdir"),
  lstat: ofPath("lstat"),
  stat: ofPath("stat"),
  fstat: ofDescriptor("fstat"),
  readlink: ofPath("readlink"),
  realpath: ofPath("realpath"),
  read: ofDescriptor("read"),
  write: ofDescriptor("write"),
  futimes: ofDescriptor("futimes"),
  fchmod: ofDescriptor("fchmod"),
  fchown: ofDescriptor("fchown"),
  lchown: ofPath("lchown"),
  fsync: ofDescriptor("fsync file", "fsync folder"),
  rename: ofPath("rename"),
  link: ofPath("link"),
  copyFile: ofPath("clone"),
  unlink: ofPath("unlink"),
  mkdir: ofPath("mkdir"),
  rmdir: ofPath("rmdir"),
  readFile: ofPath("read"),
};

/** Half of what a write was to do, as it will say that it failed. */
function halved(call: FileCall, args: readonly unknown[]): unknown[] {
  const [first, second, third, ...rest] = args;
  if (call !== "write") return [...args];
  if (typeof first === "string") return [first.slice(0, first.length / 2), ...args.slice(1)];
  return [first, second, Math.ceil(Number(third) / 2), ...rest];
}

const keep: Outcome = (call, result) => {
  note(call, result);
  if (call === "opendir") directories.add(result as object);
  return result;
};

const discard: Outcome = (call, result) => {
  if (typeof result === "number" && call.startsWith("open ")) real.closeSync(result);
  if (call === "opendir") real.closeDirectory.call(result as fs.Dir);
};

/** A call's fault, and whether it fails before anything is done. */
function meetCall(call: FileCall, [descriptor]: readonly unknown[]) {
  const fault = meet(call);
  const isClosing = call.startsWith("close");
  if (isClosing) note(call, descriptor);
  return { fault, isFirst: fault?.effect === "before" && !isClosing };
}

function atOnce(own: Plain, toCall: ToCall): Plain {
  return function wrapped(this: unknown, ...args) {
    const call = toCall(args);
    if (call === undefined) return own.apply(this, args);
    const { fault, isFirst } = meetCall(call, args);
    if (fault === undefined) return keep(call, own.apply(this, args));
    if (!isFirst) discard(call, own.apply(this, halved(call, args)));
    throw toError(fault, args);
  };
}

function withCallback(own: Plain, toCall: ToCall): Plain {
  return (...given) => {
    const call = toCall(given);
    const done = given.at(-1);
    if (call === undefined || typeof done !== "function") return own(...given);
    const args = given.slice(0, -1);
    const { fault, isFirst } = meetCall(call, args);
    if (fault !== undefined && isFirst) return setImmediate(() => done(toError(fault, args)));
    return own(...(fault === undefined ? args : halved(call, args)), (error: Error | null, ...results: unknown[]) => {
      if (error === null) (fault === undefined ? keep : discard)(call, results[0]);
      if (fault === undefined) done(error, ...results);
      else done(toError(fault, args));
    });
  };
}

function withPromise(own: Plain, toCall: ToCall, kept: Outcome = keep, discarded: Outcome = discard): Plain {
  return async function wrapped(this: unknown, ...args) {
    const call = toCall(args);
    if (call === undefined) return own.apply(this, args);
    const { fault, isFirst } = meetCall(call, args);
    if (fault === undefined) return kept(call, await own.apply(this, args));
    if (!isFirst) await discarded(call, await own.apply(this, halved(call, args)));
    throw toError(fault, args);
  };
}

/** A handle has its calls as methods, which name no descriptor. */
const keepHandle: Outcome = (call, opened) => {
  const handle = opened as fs.promises.FileHandle;
  const { fd } = handle;
  note(call, fd);
  const [file, methods] = [kindOf(fd) === "file", handle as unknown as Room];
  const calls: Readonly<Record<string, FileCall>> = {
    stat: "fstat",
    chmod: "fchmod",
    chown: "fchown",
    readFile: "read",
    writeFile: "write",
    sync: file ? "fsync file" : "fsync folder",
  };
  for (const [name, its] of Object.entries(calls)) {
    const own = methods[name];
    if (own !== undefined) methods[name] = withPromise(own.bind(handle), () => its);
  }
  const closing: FileCall = file ? "close file" : "close folder";
  const close = handle.close.bind(handle);
  methods.close = withPromise(
    () => {
      note(closing, fd);
      return close();
    },
    () => closing,
  );
  return handle;
};

const discardHandle: Outcome = (_call, opened) => (opened as fs.promises.FileHandle).close();

/** Clones a file as libuv does, which gives it the permissions of the original, on a file system that cannot. */
async function clone(from: string, to: string): Promise<void> {
  if (!canClone()) throw toError({ errno: "EINVAL", call: "clone" }, [from]);
  const [source, target] = [real.openSync(from, "r"), real.openSync(to, "w")];
  const { mode, size } = real.fstatSync(source);
  const bytes = Buffer.alloc(size);
  real.readSync(source, bytes);
  real.fchmodSync(target, mode);
  real.writeSync(target, bytes);
  for (const descriptor of [source, target]) real.closeSync(descriptor);
}

function wrapAll(): void {
  const [plain, promised] = [fs as unknown as Room, fs.promises as unknown as Room];
  const { copyFile } = fs.promises;
  Object.assign(fs.promises, {
    copyFile: (...args: Parameters<typeof copyFile>) =>
      isWatched(args[0]) ? clone(String(args[0]), String(args[1])) : copyFile(...args),
  });
  for (const [name, toCall] of Object.entries(CALLS)) {
    const [sync, callback, promise] = [plain[`${name}Sync`], plain[name], promised[name]];
    if (sync !== undefined) plain[`${name}Sync`] = Object.assign(atOnce(sync, toCall), sync);
    if (callback !== undefined) plain[name] = Object.assign(withCallback(callback, toCall), callback);
    if (promise === undefined) continue;
    promised[name] =
      name === "open" ? withPromise(promise, toCall, keepHandle, discardHandle) : withPromise(promise, toCall);
  }
}

function wrapDirectories(): void {
  const methods = fs.Dir.prototype as unknown as Room;
  // With a callback Node calls what it was asked for by a promise.
  const isAsked = (directory: unknown, args: readonly unknown[]) =>
    directories.has(directory as object) && typeof args[0] !== "function";
  for (const [name, call, wrap] of [
    ["readSync", "readdir", atOnce],
    ["read", "readdir", withPromise],
    ["closeSync", "closedir", atOnce],
    ["close", "closedir", withPromise],
  ] as const) {
    const own = methods[name];
    if (own === undefined) continue;
    methods[name] = function wrapped(this: unknown, ...args) {
      return isAsked(this, args) ? wrap(own, () => call).apply(this, args) : own.apply(this, args);
    };
  }
  // As Node does it, which keeps the calls of its own.
  Object.assign(fs.Dir.prototype, {
    async *[Symbol.asyncIterator](this: fs.Dir) {
      try {
        for (let next = await this.read(); next !== null; next = await this.read()) yield next;
      } finally {
        await this.close();
      }
    },
  });
}

wrapAll();
wrapDirectories();
syncBuiltinESMExports();
