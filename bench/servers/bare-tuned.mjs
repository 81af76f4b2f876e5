// node:http as one writes it who knows where the time goes: callbacks of node:fs, buffers that are used again, and no
// streams in between.
import { close, fstat, open, read, readdir, stat, write, writev } from "node:fs";
import { createServer } from "node:http";
import { announce, toLocalPath } from "./shared.mjs";

const root = process.argv[2];
/** Larger ones gain nothing more here. */
const CHUNK_BYTES = 524_288;
const SMALL_BYTES = 131_072;
/** As many as are asked for at a time; the thread pool has four threads. */
const STATS_AT_ONCE = 64;
const QUEUE_BYTES = 1_048_576;
const spareBuffers = [];

const takeBuffer = () => spareBuffers.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES);
const dates = new Map();

function fail(response, error) {
  if (response.headersSent) response.destroy();
  else response.writeHead(error.code === "ENOENT" ? 404 : 500, { "Content-Length": 0 }).end();
}

function get(response, path) {
  open(path, "r", (error, fd) => {
    if (error) return fail(response, error);
    fstat(fd, (error, stats) => {
      if (error || stats.isDirectory()) {
        close(fd, () => {});
        return error ? fail(response, error) : list(response, path);
      }
      response.writeHead(200, {
        "Content-Type": "application/octet-stream",
        "Content-Length": stats.size,
        "Last-Modified": toDate(stats.mtimeMs),
      });
      if (stats.size <= SMALL_BYTES) sendSmall(response, fd, stats.size);
      else sendLarge(response, fd, stats.size);
    });
  });
}

/** Dates of one second look the same. */
function toDate(milliseconds) {
  const second = Math.floor(milliseconds / 1000);
  const known = dates.get(second);
  if (known !== undefined) return known;
  if (dates.size > 1000) dates.clear();
  const text = new Date(second * 1000).toUTCString();
  dates.set(second, text);
  return text;
}

function sendSmall(response, fd, size) {
  const buffer = Buffer.allocUnsafe(size);
  read(fd, buffer, 0, size, 0, (error, length) => {
    close(fd, () => {});
    if (error || length !== size) return fail(response, error ?? new Error("shorter"));
    response.end(buffer);
  });
}

/** Two buffers take turns: one is read into while the other is sent. */
function sendLarge(response, fd, size) {
  const buffers = [takeBuffer(), takeBuffer()];
  let free = buffers.length;
  let turn = 0;
  let position = 0;
  let isReading = false;
  let isOver = false;

  function readOn() {
    if (isReading || free === 0 || position === size || response.destroyed) return;
    const buffer = buffers[turn];
    turn = 1 - turn;
    free -= 1;
    isReading = true;
    read(fd, buffer, 0, buffer.length, position, (error, length) => {
      isReading = false;
      if (error || length === 0 || response.destroyed) {
        response.destroy();
        return release();
      }
      position += length;
      response.write(buffer.subarray(0, length), release);
      readOn();
    });
  }
  function release() {
    free += 1;
    if (position === size && free === buffers.length) response.end();
    if (position === size || response.destroyed) finish();
    else readOn();
  }
  function finish() {
    if (isOver || isReading || (free < buffers.length && !response.destroyed)) return;
    isOver = true;
    if (free === buffers.length) spareBuffers.push(...buffers);
    close(fd, () => {});
  }
  // If a write is pending, a disconnect may only be reported here.
  response.once("close", finish);
  readOn();
}

function list(response, path) {
  readdir(path, (error, names) => {
    if (error) return fail(response, error);
    const members = new Array(names.length);
    let next = 0;
    let left = names.length;
    const send = () =>
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ content: members }));
    function step() {
      if (next === names.length) return;
      const index = next;
      next += 1;
      stat(`${path}/${names[index]}`, (error, stats) => {
        if (!error) {
          const { mtimeMs: modified, size } = stats;
          members[index] = { name: names[index], is_directory: stats.isDirectory(), modified, size };
        }
        left -= 1;
        if (left === 0) send();
        else step();
      });
    }
    if (left === 0) send();
    for (let count = 0; count < STATS_AT_ONCE; count += 1) step();
  });
}

/** Overwrites in place: what comes while a write is under way goes with the next one. */
function put(request, response, path) {
  let fd;
  let queue = [];
  let queued = 0;
  let isWriting = false;
  let hasEnded = false;
  let isOver = false;
  const done = (error) => {
    if (isOver) return;
    isOver = true;
    if (fd !== undefined) close(fd, () => answer(error));
    else answer(error);
  };
  const answer = (error) => (error ? fail(response, error) : response.writeHead(201, { "Content-Length": 0 }).end());
  function flush() {
    if (fd === undefined || isWriting || isOver) return;
    if (queue.length === 0) {
      if (hasEnded) done();
      return;
    }
    const pieces = queue;
    queue = [];
    queued = 0;
    isWriting = true;
    const written = (error) => {
      isWriting = false;
      if (error) return done(error);
      request.resume();
      flush();
    };
    if (pieces.length === 1) write(fd, pieces[0], 0, pieces[0].length, null, written);
    else writev(fd, pieces, written);
  }
  open(path, "w", (error, opened) => {
    if (error) return done(error);
    fd = opened;
    flush();
  });
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
    const path = toLocalPath(root, request.url);
    if (request.method === "PUT") put(request, response, path);
    else get(response, path);
  }),
);
