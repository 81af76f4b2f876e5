import { mkdirSync } from "node:fs";
import { join } from "node:path";
import express from "express";
import { createAccountsAuthenticator, createFileService } from "fileferry";
import { createNodePasswordHasher, prepareNodeServer, toNodeMiddleware } from "fileferry/node";
import { createDiskStorage } from "fileferry/storage/disk";

/** Two services below `/a` and `/b`, in an application that has a cookie and headers of its own. */
export function start(root, port) {
  const services = [createService(root, "a", "alice"), createService(root, "b", "bob")];

  const app = express();
  app.use((_request, response, next) => {
    response.cookie("theme", "dark", { sameSite: "lax" });
    response.vary("X-Theme");
    response.set("X-App", "demo");
    next();
  });
  for (const service of services) app.use(toNodeMiddleware(service));
  app.get("/", (_request, response) => response.send('<a href="/a/home/">a</a> <a href="/b/home/">b</a>'));

  const server = app.listen(port, "127.0.0.1");
  for (const service of services) prepareNodeServer(server, service);
  return server;
}

/** A service with a folder and an account of its own. */
function createService(root, name, username) {
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  return createFileService({
    basePath: `/${name}`,
    storage: createDiskStorage({ root: folder }),
    authentication: createAccountsAuthenticator({
      accounts: [{ username, password: "secret", home_folder_path: "/" }],
      passwordHasher: createNodePasswordHasher(),
    }),
  });
}
