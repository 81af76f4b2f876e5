// The server of tus on a folder, as its documentation starts it.
import { createServer } from "node:http";
import { FileStore } from "@tus/file-store";
import { Server } from "@tus/server";
import { announce } from "./shared.mjs";

const tus = new Server({
  path: "/files",
  relativeLocation: true,
  datastore: new FileStore({ directory: process.argv[2] }),
});
announce(createServer((request, response) => tus.handle(request, response)));
