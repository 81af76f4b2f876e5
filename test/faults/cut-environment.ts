import { once } from "node:events";
import { readdirSync } from "node:fs";
import type { Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { createAccountsAuthenticator } from "../../src/auth/accounts/accounts.ts";
import type { KeyValueStore } from "../../src/contracts/key-value-store.ts";
import type { StorageAdapter } from "../../src/contracts/storage-adapter.ts";
import { closeNodeServer, createNodeServer } from "../../src/runtimes/node/server.ts";
import { createFileService } from "../../src/service/service.ts";
import { createRecordingLogger, type RecordingLogger } from "../support/logger.ts";
import { watchText } from "../support/secrets/secrets.ts";
import { fillStorage } from "../support/storage.ts";
import { type CutRequest, createRandom, LARGE_BYTES, type Random, TARGETS } from "./cut-requests.ts";

/** A service on a socket whose connections are cut. */
export interface CutEnvironment {
  readonly storage: StorageAdapter;
  readonly port: number;
  readonly log: RecordingLogger;
  /** How many sessions there are, and how many logins came whole. */
  sessions(): { readonly kept: number; readonly asked: number };
  /** Sends a request, or a part of it, and cuts; done when the server has dealt with it. */
  cut(request: CutRequest, random: Random): Promise<Cut>;
  /** Ends the server, once nothing is under way. */
  close(): Promise<void>;
}

/** How a request was cut. */
export interface Cut {
  /** The number of its bytes that were sent. */
  readonly sent: number;
  readonly how: string;
  /** What came of the answer. */
  readonly answer: Buffer;
}

const ENDS = ["reset", "destroy", "half-close", "half-close at once"] as const;

/** Serves a storage that it fills: files for downloads, and a folder with two files for each lane. */
export async function createCutEnvironment(storage: StorageAdapter, lanes: readonly string[]): Promise<CutEnvironment> {
  await fill(storage, lanes);
  const log = createRecordingLogger();
  watchText(() => log.text());
  const accounts = [{ username: "alice", password: "secret", home_folder_path: "/" }];
  const authentication = createAccountsAuthenticator({ accounts, logger: createRecordingLogger() });
  const kept = new Map<string, unknown>();
  let asked = 0;
  const store: KeyValueStore = {
    get: async (key) => kept.get(key),
    set: async (key, value) => kept.set(key, value),
    delete: async (key) => kept.delete(key),
  };
  const service = createFileService({ storage, authentication, session: { store }, logger: log });
  const sockets = new Map<number, Socket>();
  const running = new Map<number, Set<Promise<unknown>>>();

  const server = createNodeServer(
    (request, connection) => {
      const answering = service.fetch(request, connection);
      const peer = connection?.peer?.port ?? 0;
      const ofPeer = running.get(peer) ?? new Set();
      running.set(peer, ofPeer.add(answering));
      return answering;
    },
    { lingerSeconds: 0.05 },
  ) as Server;
  server.on("connection", (socket: Socket) => {
    const peer = socket.remotePort ?? 0;
    sockets.set(peer, socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  /** Waits until the service has ended its work for a client, and the server its end of the connection. */
  async function settle(peer: number): Promise<void> {
    const socket = sockets.get(peer);
    if (socket !== undefined) await closed(socket);
    await Promise.all(running.get(peer) ?? []);
    sockets.delete(peer);
    running.delete(peer);
  }

  async function cut(request: CutRequest, random: Random): Promise<Cut> {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    await once(socket, "connect");
    const peer = socket.localPort ?? 0;
    while (!sockets.has(peer)) await pause(1);
    const chunks: Buffer[] = [];
    if (random.chance(0.8)) socket.on("data", (chunk) => chunks.push(chunk));
    const sent = request.isForAnswer ? request.bytes.byteLength : chooseCut(request, random);
    const how = random.pick(ENDS);
    await sendParts(socket, request.bytes.subarray(0, sent), random);
    if (request.isForAnswer) await waitForBytes(socket, chunks, random.pick([0, 1, 300, 50_000, 400_000]));
    await end(socket, how, random);
    await settle(peer);
    if (request.kind === "login" && sent === request.bytes.byteLength) asked += 1;
    return { sent, how, answer: Buffer.concat(chunks) };
  }

  // Beside them stands the list of an account's.
  const sessions = () => ({ kept: [...kept.keys()].filter((key) => key.startsWith("session:")).length, asked });
  return { storage, port, log, sessions, cut, close: () => closeNodeServer(server) };
}

/** How many descriptors this process has open. */
export function countDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

async function fill(storage: StorageAdapter, lanes: readonly string[]): Promise<void> {
  const random = createRandom(1);
  const members = Array.from({ length: 300 }, (_, index) => [`/many/member-${index}.txt`, ""]);
  await fillStorage(storage, {
    "/big.bin": random.bytes(LARGE_BYTES),
    "/tree/1.bin": random.bytes(400_000),
    "/tree/deep/er/2.bin": random.bytes(300_000),
    ...Object.fromEntries(members),
    ...Object.fromEntries(
      lanes.flatMap((lane) => TARGETS.slice(0, 2).map((name) => [`/${lane}/${name}`, `the former content of ${name}`])),
    ),
  });
}

/** Anywhere, or within two bytes of a place where something ends; one in ten is not cut at all. */
function chooseCut({ bytes, marks }: CutRequest, random: Random): number {
  if (random.chance(0.1)) return bytes.byteLength;
  const place = random.chance(0.5) ? random.below(bytes.byteLength) : random.pick(marks) + random.below(5) - 2;
  return Math.max(0, Math.min(bytes.byteLength, place));
}

async function sendParts(socket: Socket, bytes: Uint8Array, random: Random): Promise<void> {
  const parts = 1 + random.below(3);
  const size = Math.ceil(bytes.byteLength / parts);
  for (let at = 0; at < bytes.byteLength; at += size) {
    const part = bytes.subarray(at, at + size);
    // A server that has answered and does not read takes no more.
    await Promise.race([new Promise((resolve) => socket.write(part, resolve)), closed(socket), pause(100)]);
    if (random.chance(0.5)) await pause(random.below(4));
  }
}

async function waitForBytes(socket: Socket, chunks: readonly Buffer[], wanted: number): Promise<void> {
  const came = () => chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);
  for (let waited = 0; waited < 20 && came() < wanted && !socket.destroyed; waited += 1) await pause(2);
}

async function end(socket: Socket, how: (typeof ENDS)[number], random: Random): Promise<void> {
  if (socket.destroyed) return;
  if (how !== "half-close at once") await pause(random.below(8));
  if (how === "reset") socket.resetAndDestroy();
  else if (how === "destroy") socket.destroy();
  else socket.end();
  if (socket.destroyed) return;
  // The answers to complete requests still arrive. The server disconnects clients that do not read them.
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), 1000);
  await closed(socket);
  clearTimeout(timer);
}

/** Not `once` of `node:events`, which rejects where the socket has an error first. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.on("close", () => resolve());
  });
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
