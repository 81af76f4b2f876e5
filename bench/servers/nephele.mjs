import FileSystemAdapter from "@nephele/adapter-file-system";
import InsecureAuthenticator from "@nephele/authenticator-none";
import express from "express";
import nepheleServer from "nephele";
import { announcePort } from "./shared.mjs";

const app = express();
const adapter = new FileSystemAdapter({ root: process.argv[2] });
app.use("/", nepheleServer({ adapter, authenticator: new InsecureAuthenticator() }));
const server = app.listen(0, "127.0.0.1", () => announcePort(server.address().port));
