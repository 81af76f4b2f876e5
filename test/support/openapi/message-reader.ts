import type { Fields } from "./exchange.ts";

/** The start line and the fields of a message. */
export interface MessageHead {
  readonly start: string;
  /** By their names in lower case. The values of a repeated field are joined. */
  readonly fields: Fields;
}

/**
 * How content is framed: by its number of bytes, in chunks, or up to the connection's end. `undefined` if no message
 * follows.
 */
export type Framing = number | "chunked" | "to the end" | undefined;

/** Gets the messages of one direction of a connection. */
export interface MessageListener {
  onHead(head: MessageHead): Framing;
  /** The message is complete. Its content is `undefined` if it is too long to keep. */
  onWhole(content: Uint8Array | undefined): void;
  /** What follows cannot be read as HTTP/1.1. */
  onNonsense(): void;
}

/** Reads the bytes of one direction as they pass. */
export interface MessageReader {
  take(bytes: Uint8Array): void;
  /** The direction has ended. */
  end(): void;
}

/** The largest content that is kept. */
const MOST_KEPT = 256 * 1024;
/** The largest content of a type that has fields to check. */
const MOST_READ = 16 * 1024 * 1024;
const HAS_FIELDS = /^application\/(?:json|x-www-form-urlencoded)\b/i;
/** The longest head. Longer ones are nonsense. */
const LONGEST_HEAD = 1024 * 1024;

type State = "head" | "content" | "size" | "chunk" | "trailer" | "to the end" | "over";

/** Reads messages of honest senders. It need not resist attacks: what is ambiguous counts as nonsense. */
export function createMessageReader({ onHead, onWhole, onNonsense }: MessageListener): MessageReader {
  let state: State = "head";
  let line = Buffer.alloc(0);
  let left = 0;
  let kept = createContentKeeper({});

  function finish(): void {
    state = "head";
    onWhole(kept.take());
  }

  function giveUp(): Buffer {
    state = "over";
    onNonsense();
    return Buffer.alloc(0);
  }

  /** Takes a line, or a head, up to its end. Returns `undefined` until the end has arrived. */
  function takeText(bytes: Buffer, end: string): { readonly text: string; readonly rest: Buffer } | undefined {
    const all = line.byteLength === 0 ? bytes : Buffer.concat([line, bytes]);
    const at = all.indexOf(end);
    line = at < 0 ? Buffer.from(all) : Buffer.alloc(0);
    return at < 0 ? undefined : { text: all.toString("latin1", 0, at), rest: all.subarray(at + end.length) };
  }

  function takeHead(bytes: Buffer): Buffer {
    // Empty lines may come before a request (RFC 9112, 2.2).
    const started = line.byteLength === 0 ? skipLines(bytes) : bytes;
    const found = takeText(started, "\r\n\r\n");
    if (found === undefined) return line.byteLength > LONGEST_HEAD ? giveUp() : Buffer.alloc(0);
    const head = toHead(found.text);
    if (head === undefined) return giveUp();
    kept = createContentKeeper(head.fields);
    begin(onHead(head));
    return found.rest;
  }

  function begin(framing: Framing): void {
    if (framing === undefined) state = "over";
    else if (framing === "chunked") state = "size";
    else if (framing === "to the end") state = framing;
    else if (framing === 0) finish();
    else [state, left] = ["content", framing];
  }

  function takeContent(bytes: Buffer): Buffer {
    const own = bytes.subarray(0, left);
    left -= own.byteLength;
    kept.keep(state === "chunk" ? own.subarray(0, Math.max(0, own.byteLength - Math.max(0, 2 - left))) : own);
    if (left === 0) {
      if (state === "content") finish();
      else state = "size";
    }
    return bytes.subarray(own.byteLength);
  }

  function takeSize(bytes: Buffer): Buffer {
    const found = takeText(bytes, "\r\n");
    if (found === undefined) return Buffer.alloc(0);
    const [, size] = /^([\da-f]{1,12})[ \t]*(?:;.*)?$/i.exec(found.text) ?? [];
    if (size === undefined) return giveUp();
    // With the line end after the chunk.
    left = Number.parseInt(size, 16) + 2;
    state = left === 2 ? "trailer" : "chunk";
    return found.rest;
  }

  function takeTrailer(bytes: Buffer): Buffer {
    const found = takeText(bytes, "\r\n");
    if (found?.text === "") finish();
    return found?.rest ?? Buffer.alloc(0);
  }

  function takeRest(bytes: Buffer): Buffer {
    kept.keep(bytes);
    return Buffer.alloc(0);
  }

  const takes: Readonly<Record<State, (bytes: Buffer) => Buffer>> = {
    head: takeHead,
    content: takeContent,
    size: takeSize,
    chunk: takeContent,
    trailer: takeTrailer,
    "to the end": takeRest,
    over: () => Buffer.alloc(0),
  };

  return {
    take(bytes) {
      let rest = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      while (rest.byteLength > 0) rest = takes[state](rest);
    },
    end() {
      if (state === "to the end") finish();
      state = "over";
    },
  };
}

/** Keeps the content of a message as it arrives. */
export interface ContentKeeper {
  keep(bytes: Uint8Array): void;
  /** Returns the complete content; `undefined` if it is too long. */
  take(): Uint8Array | undefined;
}

/** Creates the keeper of the content that follows these fields. */
export function createContentKeeper({ "content-type": type = "" }: Fields): ContentKeeper {
  const most = HAS_FIELDS.test(type) ? MOST_READ : MOST_KEPT;
  let parts: Uint8Array[] = [];
  let length = 0;
  return {
    keep(bytes) {
      length += bytes.byteLength;
      if (length > most) parts = [];
      else if (bytes.byteLength > 0) parts.push(new Uint8Array(bytes));
    },
    take: () => (length > most ? undefined : Buffer.concat(parts)),
  };
}

function skipLines(bytes: Buffer): Buffer {
  let at = 0;
  while (bytes[at] === 13 || bytes[at] === 10) at++;
  return bytes.subarray(at);
}

function toHead(text: string): MessageHead | undefined {
  const [start = "", ...lines] = text.split("\r\n");
  const fields = new Map<string, string>();
  for (const one of lines) {
    const [, name, value = ""] = /^([!#$%&'*+\-.^_`|~\w]+):[ \t]*(.*?)[ \t]*$/.exec(one) ?? [];
    if (name === undefined) return undefined;
    const key = name.toLowerCase();
    const former = fields.get(key);
    fields.set(key, former === undefined ? value : `${former}${key === "cookie" ? "; " : ", "}${value}`);
  }
  return { start, fields: Object.fromEntries(fields) };
}

/** How the fields of a message frame its content (RFC 9112, 6.3). `nonsense` if they contradict each other. */
export function framingOf({ fields }: MessageHead): number | "chunked" | "nonsense" | "unsaid" {
  const { "transfer-encoding": coding, "content-length": length } = fields;
  if (coding !== undefined) return coding.toLowerCase() === "chunked" && length === undefined ? "chunked" : "nonsense";
  if (length === undefined) return "unsaid";
  return /^\d{1,15}$/.test(length) ? Number(length) : "nonsense";
}
