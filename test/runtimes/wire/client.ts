import { Agent, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { type Fields, toFields } from "../../support/openapi/exchange.ts";
import { leaveUndescribed } from "../../support/openapi/undescribed.ts";
import type { ExampleServer } from "./runtimes.ts";

/** What a request has beside its method and target. */
export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Whose Basic credentials are sent; `null`: none. Default: alice. */
  readonly as?: string | null;
  /** The body goes out in chunks, without its length. */
  readonly chunked?: boolean;
  /** Why the service's description has no words for it: it is not compared with that. */
  readonly undescribed?: string;
}

/** What a client sees of an answer. */
export interface WireAnswer {
  readonly status: number;
  /** All fields, their names in lower case. */
  readonly fields: Fields;
  readonly bytes: Buffer;
  readonly text: string;
  /** A field's value, its lines joined; `null` when it is absent. */
  header(name: string): string | null;
  /** The body as JSON; the caller says what it expects. */
  json<T = unknown>(): T;
}

/** A request of a case: its method, its target, and the rest. */
export type WireCall = readonly [method: string, target: string, options?: CallOptions];

/** What a case works with: a service of its runtime, and a folder of its own there. */
export interface WireEnvironment {
  readonly port: number;
  /** The URL path of a new, empty folder of alice's, with its trailing slash. */
  readonly folder: string;
  /** The target goes out as it is given. */
  call(method: string, target: string, options?: CallOptions): Promise<WireAnswer>;
  /** Sends requests at once, over as many connections as they need. Returns the number of connections. */
  callAtOnce(
    calls: readonly WireCall[],
  ): Promise<{ readonly answers: readonly WireAnswer[]; readonly connections: number }>;
  /** Puts a file into the folder; fails unless it is stored. */
  put(name: string, content: string | Uint8Array): Promise<void>;
  /** The names in the folder, as the service lists them; where there is a disk, it has to have the same. */
  names(): Promise<readonly string[]>;
  /** A connection that speaks bytes. */
  open(): Promise<WireConnection>;
  /**
   * Returns the events about files in the folder so far. Waits until there are `count` of them, and until the event of
   * a later request has arrived: no other is on its way then.
   */
  events(ids: readonly number[], count: number): Promise<readonly FileEvent[]>;
}

/** A connection of its own. */
export interface WireConnection {
  readonly socket: Socket;
  send(text: string | Uint8Array): void;
  /** All that came, as Latin-1. */
  text(): string;
  /** Waits until what came matches. */
  until(pattern: RegExp): Promise<string>;
  /** Waits until the server has ended the connection. */
  ended(): Promise<string>;
}

const PASSWORDS: Readonly<Record<string, string>> = { alice: "secret", guest: "guest", carol: "first password" };
/** A file in carol's home: outside of alice's, which is guest's too. The path is that in the storage. */
export const OUTSIDE = { name: "outside.txt", path: "carol/outside.txt", content: "nobody's but carol's" };
/** The folder next to the files in which a storage keeps properties. Clients of the service do not see it. */
const PROPERTIES = ".fileferry-properties";
/** How long is waited for what has to come. */
const PATIENCE_MS = 10_000;

/** Basic credentials as an `Authorization` value. */
export function basic(username: string, password = PASSWORDS[username] ?? ""): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

type WireEvent = FileEvent & { readonly data: { readonly path?: string } };

/** Methods that change nothing: sent again they do no harm. */
const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/** Asks over connections that are kept: an answer with other bytes than it announces would spoil the next. */
export function createWireClient({ port, lines, names, fields }: ExampleServer) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const sockets = new Set<Socket>();
  let repeats = 0;
  let markers = 0;
  /** Those of the lines so far. */
  const told: WireEvent[] = [];

  async function call(method: string, target: string, options: CallOptions = {}, over = agent): Promise<WireAnswer> {
    const { as = "alice", body, chunked = false } = options;
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    const headers = {
      ...fields,
      ...(as !== null && { Authorization: basic(as) }),
      ...(bytes !== undefined && !chunked && { "Content-Length": String(bytes.byteLength) }),
      ...options.headers,
    };
    if (options.undescribed !== undefined) leaveUndescribed(method, target);
    return readAnswer(await send());

    /**
     * Once more where a kept connection ended as a request that changes nothing was on its way, before a byte of an
     * answer: as clients may (RFC 9110, 9.2.2).
     */
    function send(): Promise<IncomingMessage> {
      return new Promise((resolve, reject) => {
        const req = request({ agent: over, host: "127.0.0.1", port, method, path: target, headers }, resolve);
        let received = 0;
        req.on("socket", (socket) => {
          received = socket.bytesRead;
        });
        req.on("error", (error: NodeJS.ErrnoException) => {
          const isCut = req.reusedSocket && ["ECONNRESET", "EPIPE"].includes(error.code ?? "");
          if (!isCut || !SAFE_METHODS.has(method) || req.socket?.bytesRead !== received) return reject(error);
          repeats++;
          resolve(send());
        });
        if (chunked) req.setHeader("Transfer-Encoding", "chunked");
        req.end(bytes);
      });
    }
  }

  async function callAtOnce(calls: readonly WireCall[]) {
    const many = new Agent();
    try {
      const answering = calls.map(([method, target, options]) => call(method, target, options, many));
      // All of them are on their way by now, and none has come back.
      const connections = Object.values(many.sockets).flat().length;
      return { answers: await Promise.all(answering), connections };
    } finally {
      many.destroy();
    }
  }

  async function open(patience: number): Promise<WireConnection> {
    const socket = connect(port, "127.0.0.1");
    sockets.add(socket);
    let received = "";
    let isOver = false;
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
    });
    for (const end of ["end", "error", "close"]) {
      socket.on(end, () => {
        isOver = true;
      });
    }
    return {
      socket,
      send: (text) => void socket.write(text),
      text: () => received,
      async until(pattern) {
        await waitFor(
          () => pattern.test(received),
          () => `${pattern} in ${received.slice(0, 500)}`,
          patience,
        );
        return received;
      },
      async ended() {
        await waitFor(
          () => isOver,
          () => `the end behind ${received.slice(0, 500)}`,
          patience,
        );
        return received;
      },
    };
  }

  /** The environment of one case, in which nothing is waited for longer than `patience` milliseconds. */
  async function enter(name: string, patience = PATIENCE_MS): Promise<WireEnvironment> {
    const folder = `/home/${name}/`;
    expectStatus(await call("PUT", folder), 201);

    async function list(): Promise<readonly string[]> {
      const listing = await call("GET", folder, { headers: { Accept: "application/json" } });
      const listed = listing.json<{ content: { name: string }[] }>().content.map((member) => member.name);
      const kept = await names(`alice/${name}`);
      const members = kept?.filter((member) => member !== PROPERTIES);
      const isSame = members === undefined || JSON.stringify(members.sort()) === JSON.stringify([...listed].sort());
      if (!isSame) throw new Error(`On the disk: ${kept}; listed: ${listed}`);
      return listed.sort();
    }

    function eventsOf(ids: readonly number[]): readonly FileEvent[] {
      for (const line of lines.slice(told.length)) told.push(JSON.parse(line) as WireEvent);
      return told.filter(({ id, data }) => ids.includes(id) && `${data.path}/`.startsWith(`/${name}/`));
    }

    return {
      port,
      folder,
      call: (method, target, options) => call(method, target, options),
      callAtOnce,
      open: () => open(patience),
      names: list,
      async put(file, content) {
        expectStatus(await call("PUT", folder + file, { body: content }), 201);
      },
      async events(ids, count) {
        await waitFor(
          () => eventsOf(ids).length >= count,
          () => `${count} of the events ${ids}`,
          patience,
        );
        // An event too many would arrive before that of a later request.
        await passMarker(patience);
        return eventsOf(ids);
      },
    };
  }

  /**
   * Sends a request that causes an event (40019), and waits for the event: all earlier events have arrived then. The
   * request has an account, as requests without one cause only ten events a second.
   */
  async function passMarker(patience: number): Promise<void> {
    const marker = `marker-${markers++}`;
    const headers = { "Content-Range": "bytes 0-0/2", Accept: "application/json" };
    expectStatus(await call("PUT", `/home/${marker}`, { headers, body: "x" }), 400);
    await waitFor(
      () => lines.some((line) => line.includes(marker)),
      () => `the event of ${marker}`,
      patience,
    );
  }

  /** Stores {@link OUTSIDE}. Before any case: one of them changes carol's password. */
  async function putOutside(): Promise<void> {
    const target = `/home/${OUTSIDE.name}`;
    expectStatus(await call("PUT", target, { as: "carol", body: OUTSIDE.content }), 201);
    expectStatus(await call("GET", target, { as: "carol" }), 200);
    const kept = await names("carol");
    if (kept !== undefined && !kept.includes(OUTSIDE.name)) throw new Error(`The file is elsewhere: ${kept}`);
  }

  function close(): void {
    agent.destroy();
    for (const socket of sockets) socket.destroy();
  }

  return { call, enter, putOutside, close, repeats: () => repeats };
}

async function readAnswer(message: IncomingMessage): Promise<WireAnswer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const text = bytes.toString();
  const fields = toFields(Object.entries(message.headers).map(([name, value]) => [name, [value].flat().join(", ")]));
  return {
    status: message.statusCode ?? 0,
    fields,
    bytes,
    text,
    header: (name) => fields[name.toLowerCase()] || null,
    json: <T>() => JSON.parse(text) as T,
  };
}

function expectStatus({ status, text }: WireAnswer, expected: number): void {
  if (status !== expected) throw new Error(`${status} in place of ${expected}: ${text}`);
}

/** Waits until a condition holds, for at most `patience` milliseconds. */
async function waitFor(condition: () => boolean, describe: () => string, patience: number): Promise<void> {
  for (const deadline = Date.now() + patience; !condition(); ) {
    if (Date.now() > deadline) throw new Error(`Waited in vain for ${describe()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
