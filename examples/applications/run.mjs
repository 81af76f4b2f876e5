// Runs an example of this folder. From the repository's folder:
//
//     npm ci && npm run build && npm ci --prefix examples/applications
//     node examples/applications/run.mjs express-sessions ./files 8080
//
// The first argument is `express-sessions`, `passport`, `better-auth`, `auth-js` or `two-services`.
// The others are the folder to serve and the port.

import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import "./link.mjs";

const [, , name = "", root = "./files", port = "8080"] = process.argv;

const names = ["express-sessions", "passport", "better-auth", "auth-js", "two-services"];
if (!names.includes(name)) {
  process.stderr.write(`Usage: node examples/applications/run.mjs ${names.join("|")} [folder] [port]\n`);
  process.exit(2);
}

await mkdir(root, { recursive: true });
const { start } = await import(`./${name}.mjs`);
const server = start(root, Number(port));
if (!server.listening) await once(server, "listening");
process.stdout.write(`Listening on http://127.0.0.1:${server.address().port}/\n`);
