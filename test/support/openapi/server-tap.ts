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

/** An exchange as a server has seen it, with the port that its client came from. */
export interface ServedExchange extends WireExchange {
  readonly clientPort: number;
}

interface ServedConnection {
  readonly reader: ConnectionReader;
  readonly socket: Socket;
}

/**
 * Tells of what the servers of this process are asked and answer, but over connections that are left to another tap.
 * Requests are those that Node's parser makes of them: an answer to what it takes for none has no request.
 */
export function tapServers(
  listener: { begin(exchange: ServedExchange): void; take(exchange: ServedExchange): void },
  isLeft: (clientPort: number, serverPort: number) => boolean = () => false,
): { flush(): void } {
  const open = new Map<Socket, ServedConnection>();
  const heard = new WeakSet<IncomingMessage>();

  function listen(socket: Socket): void {
    // By a Unix socket the fuzzer alone comes, whose requests no description has words for.
    if (socket.localPort === undefined) return;
    const clientPort = socket.remotePort ?? 0;
    const place = {
      host: socket.localAddress ?? "",
      port: socket.localPort,
      isSecure: "encrypted" in socket,
      isCertified: "encrypted" in socket && Object.keys((socket as TLSSocket).getPeerCertificate() ?? {}).length > 0,
    };
    const told: WireListener = {
      begin: (exchange) => isLeft(clientPort, place.port) || listener.begin({ ...exchange, clientPort }),
      take: (exchange) => isLeft(clientPort, place.port) || listener.take({ ...exchange, clientPort }),
    };
    const reader = createConnectionReader(() => place, told);
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
    // Whoever has asked is known by now: nothing more is read of what another tap reads.
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

/** Its content comes later, and is known when all of it was read. */
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
    const former = fields.get(name);
    const value = raw[index + 1] ?? "";
    fields.set(name, former === undefined ? value : `${former}${name === "cookie" ? "; " : ", "}${value}`);
  }
  return Object.fromEntries(fields);
}
