import { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import {
  type ConnectionReader,
  createConnectionReader,
  createRequestReader,
  type WireListener,
} from "./connection-reader.ts";
import type { MessageReader } from "./message-reader.ts";

/** Listens to all connections that are opened from now on. */
export interface WireTap {
  /** Also reports answers that have started, without their content. */
  flush(): void;
  /** Opens connections that are not listened to. */
  unheard<T>(open: () => T): T;
  /** Whether the client of a connection between these ports is in this process. */
  isOwn(clientPort: number, serverPort: number): boolean;
}

/** The readers of what is written to the sockets of this process. */
const written = new WeakMap<Socket, MessageReader>();

/** Passes everything that is written to a socket to a reader; `undefined` ends this. */
export function readWrites(socket: Socket, reader: MessageReader | undefined): void {
  if (reader === undefined) written.delete(socket);
  else written.set(socket, reader);
  hearWrites();
}

let isHeard = false;

/** TLS is read in clear text, because its sockets are sockets as well. */
function hearWrites(): void {
  if (isHeard) return;
  isHeard = true;
  const { write, end } = Socket.prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
  Object.assign(Socket.prototype, {
    write(this: Socket, chunk: unknown, ...rest: unknown[]) {
      take(written.get(this), chunk, rest[0]);
      return write?.call(this, chunk, ...rest);
    },
    end(this: Socket, chunk: unknown, ...rest: unknown[]) {
      take(written.get(this), chunk, rest[0]);
      return end?.call(this, chunk, ...rest);
    },
  });
}

/** Puts the tap on all outgoing connections of this process. It ignores what is not HTTP/1.1. */
export function tapClients(listener: WireListener): WireTap {
  const known = new WeakSet<Socket>();
  const open = new Set<ConnectionReader>();
  const own = new Set<string>();
  let isUnheard = false;
  const { connect } = Socket.prototype as unknown as Record<string, (...args: unknown[]) => unknown>;

  function listen(socket: Socket): void {
    if (known.has(socket)) return;
    known.add(socket);
    // A closed socket no longer has its addresses.
    let place = { host: "", port: 0 };
    socket.once("connect", () => {
      place = { host: socket.remoteAddress ?? "", port: socket.remotePort ?? 0 };
      own.add(`${socket.localPort} ${socket.remotePort}`);
    });
    if (isUnheard) return;
    const toPlace = () => ({ ...place, isSecure: "encrypted" in socket, isCertified: isCertified(socket) });
    const reader = createConnectionReader(toPlace, listener);
    open.add(reader);
    readWrites(socket, createRequestReader(reader.ask));
    socket.on("close", () => {
      reader.flush();
      open.delete(reader);
    });
    const { push } = socket;
    socket.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
      if (chunk === null) reader.answers.end();
      else take(reader.answers, chunk, encoding);
      return push.call(socket, chunk, encoding);
    };
  }

  Object.assign(Socket.prototype, {
    connect(this: Socket, ...args: unknown[]) {
      if (!isByPath(args[0])) listen(this);
      return connect?.apply(this, args);
    },
  });

  return {
    flush: () => {
      for (const reader of open) reader.flush();
    },
    unheard(run) {
      isUnheard = true;
      try {
        return run();
      } finally {
        isUnheard = false;
      }
    },
    isOwn: (clientPort, serverPort) => own.has(`${clientPort} ${serverPort}`),
  };
}

function take(reader: MessageReader | undefined, chunk: unknown, encoding: unknown): void {
  if (chunk instanceof Uint8Array) reader?.take(chunk);
  else if (typeof chunk === "string")
    reader?.take(Buffer.from(chunk, typeof encoding === "string" ? (encoding as BufferEncoding) : "utf8"));
}

/** Whether a connection goes to a Unix socket. Only the fuzzer does so, and most of its bytes are no requests. */
function isByPath(target: unknown): boolean {
  const options: unknown = Array.isArray(target) ? target[0] : target;
  // For an HTTP agent it is null.
  return typeof options === "object" && options !== null && "path" in options && typeof options.path === "string";
}

function isCertified(socket: Socket): boolean {
  const own = "encrypted" in socket ? (socket as TLSSocket).getCertificate() : undefined;
  return Object.keys(own ?? {}).length > 0;
}
