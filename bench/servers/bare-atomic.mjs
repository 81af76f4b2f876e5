// Bare node:http that stores an upload in a temporary file and renames it, so that no half file is ever seen. It
// flushes nothing, checks nothing and asks for no login.
import { randomUUID } from "node:crypto";
import { close, closeSync, openSync, renameSync, unlinkSync, writeSync, writev } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { announce, toLocalPath } from "./shared.mjs";

const root = process.argv[2];
/** Up to this size the body is kept until it is complete, and the calls are synchronous. */
const SMALL_BYTES = 65_536;
const QUEUE_BYTES = 1_048_576;

function put(request, response, path) {
  const temporary = join(dirname(path), `.${randomUUID()}.tmp`);
  if (Number(request.headers["content-length"]) <= SMALL_BYTES) putSmall(request, response, path, temporary);
  else putLarge(request, response, path, temporary);
}

function putSmall(request, response, path, temporary) {
  const pieces = [];
  request.on("data", (piece) => pieces.push(piece));
  request.on("end", () => {
    const fd = openSync(temporary, "wx");
    writeSync(fd, pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
    closeSync(fd);
    renameSync(temporary, path);
    response.writeHead(201, { "Content-Length": 0 }).end();
  });
}

/** What comes while a write is under way goes with the next one. */
function putLarge(request, response, path, temporary) {
  const fd = openSync(temporary, "wx");
  let queue = [];
  let queued = 0;
  let isWriting = false;
  let hasEnded = false;
  function flush() {
    if (isWriting) return;
    if (queue.length === 0) {
      if (hasEnded) finish();
      return;
    }
    const pieces = queue;
    queue = [];
    queued = 0;
    isWriting = true;
    writev(fd, pieces, (error) => {
      isWriting = false;
      if (error) return fail(error);
      request.resume();
      flush();
    });
  }
  function finish() {
    close(fd, () => {
      renameSync(temporary, path);
      response.writeHead(201, { "Content-Length": 0 }).end();
    });
  }
  function fail(error) {
    request.destroy(error);
    close(fd, () => unlinkSync(temporary));
  }
  request.on("data", (piece) => {
    queue.push(piece);
    queued += piece.length;
    if (queued >= QUEUE_BYTES) request.pause();
    flush();
  });
  request.on("end", () => {
    hasEnded = true;
    flush();
  });
}

announce(
  createServer((request, response) => {
    if (request.method === "PUT") put(request, response, toLocalPath(root, request.url));
    else response.writeHead(405, { "Content-Length": 0 }).end();
  }),
);
