// Bare node:http that stores an upload in a temporary file and renames it, so that no half file is ever seen. It
// flushes nothing, checks nothing and asks for no login.
import { randomUUID } from "node:crypto";
import { closeSync, openSync, renameSync, unlinkSync, write, writeSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { announce, toLocalPath } from "./shared.mjs";

const root = process.argv[2];
/** Up to this size the body is kept until it is complete, and the calls are synchronous. */
const SMALL_BYTES = 65_536;

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

function putLarge(request, response, path, temporary) {
  const fd = openSync(temporary, "wx");
  let isComplete = false;
  request.on("data", (piece) => {
    request.pause();
    const writeRest = (rest) =>
      write(fd, rest, 0, rest.length, null, (error, count) => {
        if (error) request.destroy(error);
        else if (count < rest.length) writeRest(rest.subarray(count));
        else request.resume();
      });
    writeRest(piece);
  });
  request.on("end", () => {
    isComplete = true;
    closeSync(fd);
    renameSync(temporary, path);
    response.writeHead(201, { "Content-Length": 0 }).end();
  });
  request.on("close", () => {
    if (isComplete) return;
    closeSync(fd);
    unlinkSync(temporary);
  });
}

announce(
  createServer((request, response) => {
    if (request.method === "PUT") put(request, response, toLocalPath(root, request.url));
    else response.writeHead(405, { "Content-Length": 0 }).end();
  }),
);
