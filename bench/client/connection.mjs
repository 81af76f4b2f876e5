// One keep-alive connection of the load client: a raw socket and as much of HTTP/1.1 as telling where an answer ends
// takes.
import { createConnection } from "node:net";

const HEAD_END = Buffer.from("\r\n\r\n");
const WITHOUT_BODY = new Set([204, 304]);

/**
 * Opens a connection. `exchange(parts, onBody)` sends the buffers one after the other and resolves with status and
 * number of bytes of the body;
 * `onBody` sees each piece, which is overwritten after it.
 */
export function openConnection({ host, port, localAddress, bufferBytes = 65_536 }) {
  let current;
  let parser;
  const socket = createConnection({
    host,
    port,
    localAddress,
    noDelay: true,
    onread: { buffer: Buffer.allocUnsafeSlow(bufferBytes), callback: receive },
  });
  const connection = { exchange, isOpen: () => !socket.destroyed, close: () => socket.destroy(), socket };

  function receive(length, buffer) {
    try {
      if (current === undefined) throw new Error("The server sent something that was not asked for.");
      if (parser.push(buffer.subarray(0, length))) settle();
    } catch (error) {
      socket.destroy(error);
    }
    return true;
  }

  function settle() {
    const { resolve } = current;
    current = undefined;
    if (parser.closes) socket.destroy();
    resolve({ status: parser.status, bytes: parser.bytes });
  }

  function exchange(parts, onBody) {
    return new Promise((resolve, reject) => {
      current = { resolve, reject };
      parser = createAnswerParser(onBody);
      sendAll(socket, parts, () => current !== undefined);
    });
  }

  socket.on("error", (error) => fail(error));
  socket.on("close", () => {
    if (current !== undefined && parser.endsWithConnection()) settle();
    else fail(new Error(`The server closed the connection after ${parser?.bytes ?? 0} bytes of a body.`));
  });
  function fail(error) {
    current?.reject(error);
    current = undefined;
  }

  return new Promise((resolve, reject) => {
    socket.once("connect", () => resolve(connection)).once("error", reject);
  });
}

/** Writes as the socket takes it; `parts` may be an iterable made on the way. */
function sendAll(socket, parts, isWanted) {
  const iterator = parts[Symbol.iterator]();
  function sendOn() {
    for (;;) {
      const { done, value } = iterator.next();
      if (done || !isWanted() || socket.destroyed) return;
      if (!socket.write(value)) return void socket.once("drain", sendOn);
    }
  }
  sendOn();
}

/** Reads one answer. `push` returns whether it is complete. */
function createAnswerParser(onBody) {
  const parser = { status: 0, bytes: 0, closes: false, push, endsWithConnection: () => untilClose };
  let head;
  let untilClose = false;
  let readBody;

  function push(piece) {
    if (readBody !== undefined) return readBody(piece);
    const bytes = head === undefined ? piece : Buffer.concat([head, piece]);
    const end = bytes.indexOf(HEAD_END);
    if (end < 0) {
      head = Buffer.from(bytes);
      return false;
    }
    readBody = startBody(bytes.latin1Slice(0, end + 2));
    return readBody(bytes.subarray(end + HEAD_END.length));
  }

  function startBody(text) {
    parser.status = Number(text.slice(9, 12));
    parser.closes = /\r\nconnection: *close\r\n/i.test(text);
    const length = /\r\ncontent-length: *(\d+)/i.exec(text);
    if (length !== null) return counted(Number(length[1]));
    if (/\r\ntransfer-encoding: *chunked/i.test(text)) return createChunkReader(take);
    if (WITHOUT_BODY.has(parser.status)) return counted(0);
    untilClose = true;
    return counted(Number.POSITIVE_INFINITY);
  }

  function counted(length) {
    return (piece) => {
      take(piece);
      if (parser.bytes > length) throw new Error("The answer is longer than it said.");
      return parser.bytes === length;
    };
  }

  function take(piece) {
    parser.bytes += piece.length;
    if (piece.length > 0) onBody?.(piece);
  }

  return parser;
}

/** What comes next in the chunked coding. */
const SIZE = "size";
const CONTENT = "content";
const BREAK = "break";
const LAST = "last";

/**
 * Reads chunked content. It may have an empty trailer section only. The function returns whether the content has ended.
 */
function createChunkReader(take) {
  let next = SIZE;
  let line = "";
  let left = 0;

  /** The part of `piece` from `position` on that is content; where it ends. */
  function readContent(piece, position) {
    const end = Math.min(piece.length, position + left);
    take(piece.subarray(position, end));
    left -= end - position;
    if (left === 0) next = BREAK;
    return end;
  }

  function readLine(piece, position) {
    const end = piece.indexOf(10, position);
    line += piece.latin1Slice(position, end < 0 ? piece.length : end + 1);
    if (end < 0) return piece.length;
    if (next === SIZE) toNextChunk(line.trim());
    else next = next === LAST ? undefined : SIZE;
    line = "";
    return end + 1;
  }

  function toNextChunk(text) {
    left = Number.parseInt(text, 16);
    if (Number.isNaN(left)) throw new Error(`No size of a chunk: ${text}`);
    next = left === 0 ? LAST : CONTENT;
  }

  return (piece) => {
    let position = 0;
    while (position < piece.length && next !== undefined)
      position = next === CONTENT ? readContent(piece, position) : readLine(piece, position);
    return next === undefined;
  };
}
