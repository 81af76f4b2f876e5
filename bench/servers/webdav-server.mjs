import webdav from "webdav-server";
import { freePort } from "../lib/processes.mjs";
import { announcePort } from "./shared.mjs";

const { WebDAVServer, PhysicalFileSystem } = webdav.v2;
// 0 is its default port to it.
const port = await freePort();
const server = new WebDAVServer({
  hostname: "127.0.0.1",
  port,
  requireAuthentification: false,
  rootFileSystem: new PhysicalFileSystem(process.argv[2]),
});
await server.startAsync(port);
announcePort(port);
