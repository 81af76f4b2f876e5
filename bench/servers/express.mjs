import express from "express";
import { announcePort } from "./shared.mjs";

const app = express();
app.use(express.static(process.argv[2]));
const server = app.listen(0, "127.0.0.1", () => announcePort(server.address().port));
