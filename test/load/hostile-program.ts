// The process of the hostile clients. Bundled and started by hostile-clients.ts.
import { once } from "node:events";
import { request } from "node:https";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { HostileSettings, Started } from "./hostile-clients.ts";

/** The number of connections of each kind that every account keeps open. */
const HELD = 4;
/** Between two reads of a slow reader. */
const STEP_MILLISECONDS = 250;
const STEP_BYTES = 1024;
const ABANDONED_MILLISECONDS = 200;

const { port, sessions }: HostileSettings = JSON.parse(process.argv[2] ?? "");
const started = { listings: 0, pages: 0, heads: 0, stalled: 0, abandoned: 0, slow: 0, refused: 0 };

process.on("message", () => void process.send?.(started satisfies Started));
// The server may cut any of these connections.
process.on("uncaughtException", () => undefined);
for (const [index, session] of sessions.entries()) attack(`127.0.1.${index + 1}`, session);

/** Everything that an account does at the same time, from an address of its own. */
function attack(address: string, session: string): void {
  const ask = (method: string, path: string, accept: string): string =>
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: session ${session}\r\nAccept: ${accept}\r\n\r\n`;
  const listing = ask("GET", "/home/big/", "application/json");
  const page = ask("GET", "/home/big/", "text/html");
  const archive = ask("GET", "/home/big/", "application/zip");

  for (let index = 0; index < HELD; index += 1) {
    repeat(() => leaveUnread(address, listing, "listings"));
    repeat(() => leaveUnread(address, page, "pages"));
    repeat(() => leaveUnread(address, archive, "stalled"));
    repeat(() => readSlowly(address, ask("GET", "/home/large", "*/*")));
  }
  for (const accept of ["application/json", "text/html", "application/zip"]) {
    repeat(() => askForHeads(address, ask("HEAD", "/home/big/", accept)));
  }
  repeat(() => abandon(address, archive));
  repeat(guess);
}

/** Does something again and again. */
async function repeat(act: () => Promise<void>): Promise<never> {
  for (;;) await act().catch(() => delay(100));
}

async function open(address: string): Promise<TLSSocket> {
  const raw = connect({ port, host: "127.0.0.1", localAddress: address });
  const socket = connectTls({ socket: raw, rejectUnauthorized: false });
  await once(socket, "secureConnect");
  return socket;
}

/** Asks, and reads nothing until the server cuts the connection. */
async function leaveUnread(address: string, asked: string, what: "listings" | "pages" | "stalled"): Promise<void> {
  const socket = await open(address);
  socket.write(asked);
  started[what] += 1;
  await once(socket, "close");
}

async function readSlowly(address: string, asked: string): Promise<void> {
  const socket = await open(address);
  socket.write(asked);
  started.slow += 1;
  const timer = setInterval(() => socket.read(STEP_BYTES), STEP_MILLISECONDS);
  await once(socket, "close").finally(() => clearInterval(timer));
}

/** Asks for one head after the other on one connection. */
async function askForHeads(address: string, asked: string): Promise<void> {
  const socket = await open(address);
  const closed = once(socket, "close");
  while (!socket.destroyed) {
    socket.write(asked);
    started.heads += 1;
    await Promise.race([once(socket, "data"), closed]);
  }
}

/** Disconnects soon, before or after the archive has started. */
async function abandon(address: string, asked: string): Promise<void> {
  const socket = await open(address);
  socket.write(asked);
  started.abandoned += 1;
  await delay(ABANDONED_MILLISECONDS);
  socket.destroy();
}

/** Guesses a password, each time from another address: failed logins of one address are not checked for long. */
async function guess(): Promise<void> {
  const part = (): number => 1 + Math.floor(Math.random() * 250);
  const body = JSON.stringify({ username: `hostile${part()}`, password: "guessed" });
  const asked = request({
    port,
    host: "127.0.0.1",
    localAddress: `127.${part()}.${part()}.${part()}`,
    path: "/__svc__/login",
    method: "POST",
    headers: { "Content-Type": "application/json", "Content-Length": body.length },
    rejectUnauthorized: false,
    agent: false,
  });
  asked.end(body);
  const [response] = await once(asked, "response");
  started.refused += 1;
  await once(response.resume(), "close");
}
