// A folder as a ZIP archive of stored members, by one of the writers of zip-writers.mjs: node zip.mjs <folder> <writer>
import { readdir } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { announce, toLocalPath } from "./shared.mjs";
import { writers } from "./zip-writers.mjs";

const [, , root, name] = process.argv;
const write = await writers[name]();

announce(
  createServer(async (request, response) => {
    const folder = toLocalPath(root, request.url);
    const files = (await readdir(folder)).map((file) => ({ name: file, path: join(folder, file) }));
    response.writeHead(200, { "Content-Type": "application/zip" });
    await write(files, response);
  }),
);
