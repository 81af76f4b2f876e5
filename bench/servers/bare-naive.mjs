// node:http as most examples have it: promises, streams and pipe.
import { createReadStream, createWriteStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { announce, toLocalPath } from "./shared.mjs";

const root = process.argv[2];

async function answer(request, response) {
  const path = toLocalPath(root, request.url);
  if (request.method === "PUT") {
    await pipeline(request, createWriteStream(path));
    return response.writeHead(201, { "Content-Length": 0 }).end();
  }
  const stats = await stat(path);
  if (stats.isDirectory()) {
    const names = await readdir(path);
    const members = await Promise.all(
      names.map(async (name) => {
        const member = await stat(join(path, name));
        return { name, is_directory: member.isDirectory(), modified: member.mtimeMs, size: member.size };
      }),
    );
    return response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ content: members }));
  }
  response.writeHead(200, {
    "Content-Type": "application/octet-stream",
    "Content-Length": stats.size,
    "Last-Modified": stats.mtime.toUTCString(),
  });
  createReadStream(path).pipe(response);
}

announce(
  createServer((request, response) => {
    answer(request, response).catch((error) => response.writeHead(error.code === "ENOENT" ? 404 : 500).end());
  }),
);
