// A form's files to disk, as the documentation of busboy has it.
import { createWriteStream } from "node:fs";
import { createServer } from "node:http";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import busboy from "busboy";
import { announce, toLocalPath } from "./shared.mjs";

const root = process.argv[2];

async function receive(request, response) {
  const folder = toLocalPath(root, request.url);
  const stored = [];
  const form = busboy({ headers: request.headers });
  form.on("file", (_name, file, { filename }) => {
    stored.push(pipeline(file, createWriteStream(join(folder, basename(filename)))));
  });
  await pipeline(request, form);
  await Promise.all(stored);
  response.writeHead(201, { "Content-Length": 0 }).end();
}

announce(
  createServer((request, response) => {
    receive(request, response).catch(() => response.writeHead(500, { "Content-Length": 0 }).end());
  }),
);
