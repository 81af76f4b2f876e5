// Runs an example of this folder. From the repository's folder:
//
//     npm ci && npm run build && npm ci --prefix examples/frameworks
//     node examples/frameworks/run.mjs express ./files 8080
//
// The first argument is `express`, `nest`, `fastify`, `koa`, `hono`, `elysia`, `h3` or `whatwg-server`.
// The others are the folder to serve and the port.
// Log in at /files/ as alice with the password `secret`.

import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import "./link.mjs";

const [, , name = "", root = "./files", port = "8080"] = process.argv;

const names = ["express", "nest", "fastify", "koa", "hono", "elysia", "h3", "whatwg-server"];
if (!names.includes(name)) {
  process.stderr.write(`Usage: node examples/frameworks/run.mjs ${names.join("|")} [folder] [port]\n`);
  process.exit(2);
}

await mkdir(root, { recursive: true });
const { start } = await import(`./${name}.mjs`);
const server = await start(root, Number(port));
if (!server.listening) await once(server, "listening");
process.stdout.write(`Listening on http://127.0.0.1:${server.address().port}/files/\n`);
