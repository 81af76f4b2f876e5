// In its production mode: files are listed once at the start.
import { createServer } from "node:http";
import sirv from "sirv";
import { announce } from "./shared.mjs";

announce(createServer(sirv(process.argv[2], { etag: true })));
