import { EventEmitter } from "node:events";
import { Server as HttpServer, IncomingMessage } from "node:http";
import { Server as HttpsServer } from "node:https";
import { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import {
  type ConnectionReader,
  createConnectionReader,
  type WireExchange,
  type WireListener,
} from "./connection-reader.ts";
import type { Fields } from "./exchange.ts";
import { createContentKeeper } from "./message-reader.ts";
import { readWrites } from "./wire-tap.ts";

/** An exchange as the server saw it, with the client's port. */
export interface ServedExchange extends WireExchange {
  readonly clientPort: number;
}

interface ServedConnection {
  readonly reader: ConnectionReader;
  readonly socket: Socket;
}

/**
 * Reports the requests to the servers of this process and their answers, except over connections that another tap
 * reads. The requests are those of Node's parser: an answer to something that it does not accept has no request.
 */
export function tapServers(
  listener: { begin(exchange: ServedExchange): void; take(exchange: ServedExchange): void },
  isLeft: (clientPort: number, serverPort: number) => boolean = () => false,
): { flush(): void } {
  const open = new Map<Socket, ServedConnection>();
  const heard = new WeakSet<IncomingMessage>();

  function listen(socket: Socket): void {
    // Only the fuzzer uses a Unix socket, and no description covers its requests.
    if (socket.localPort === undefined) return;
    const clientPort = socket.remotePort ?? 0;
    const place = {
      host: socket.localAddress ?? "",
      port: socket.localPort,
      isSecure: "encrypted" in socket,
      isCertified: "encrypted" in socket && Object.keys((socket as TLSSocket).getPeerCertificate() ?? {}).length > 0,
    };
    const listening: WireListener = {
      begin: (exchange) => isLeft(clientPort, place.port) || listener.begin({ ...exchange, clientPort }),
      take: (exchange) => isLeft(clientPort, place.port) || listener.take({ ...exchange, clientPort }),
    };
    const reader = createConnectionReader(() => place, listening);
    open.set(socket, { socket, reader });
    readWrites(socket, reader.answers);
    socket.on("close", () => {
      reader.flush();
      open.delete(socket);
    });
  }

  function hear(request: IncomingMessage): void {
    const { socket } = request;
    const { reader } = open.get(socket) ?? {};
    if (reader === undefined || heard.has(request)) return;
    heard.add(request);
    // The client's port is known by now. Another tap reads this connection, so this one stops.
    if (isLeft(socket.remotePort ?? 0, socket.localPort ?? 0)) {
      readWrites(socket, undefined);
      open.delete(socket);
    } else reader.ask(toRequest(request));
  }

  for (const { prototype } of [HttpServer, HttpsServer]) {
    prototype.emit = function emit(this: HttpServer, name: string, ...args: unknown[]) {
      const [first] = args;
      const isConnection = name === (this instanceof HttpsServer ? "secureConnection" : "connection");
      if (isConnection && first instanceof Socket) listen(first);
      if (first instanceof IncomingMessage) hear(first);
      return EventEmitter.prototype.emit.call(this, name, ...args);
    } as typeof prototype.emit;
  }

  return {
    flush: () => {
      for (const { reader } of open.values()) reader.flush();
    },
  };
}

/** Converts a request. Its content is complete when all of it was read. */
function toRequest(request: IncomingMessage): Parameters<ConnectionReader["ask"]>[0] {
  const requestFields = toJoined(request.rawHeaders);
  const asked: Parameters<ConnectionReader["ask"]>[0] = {
    method: request.method ?? "",
    target: request.url ?? "",
    requestFields,
  };
  const keeper = createContentKeeper(requestFields);
  const { push } = request;
  request.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
    const content = chunk === null && Reflect.get(request, "_dumped") !== true ? keeper.take() : undefined;
    if (content !== undefined) asked.requestBody = content;
    else if (chunk instanceof Uint8Array) keeper.keep(chunk);
    return push.call(request, chunk, encoding);
  };
  return asked;
}

function toJoined(raw: readonly string[]): Fields {
  const fields = new Map<string, string>();
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] ?? "").toLowerCase();
    const previous = fields.get(name);
    const value = raw[index + 1] ?? "";
    fields.set(name, previous === undefined ? value : `${previous}${name === "cookie" ? "; " : ", "}${value}`);
  }
  return Object.fromEntries(fields);
}
