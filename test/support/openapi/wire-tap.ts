import { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { ApiExchange } from "./exchange.ts";
import { createMessageReader, framingOf, type MessageHead, type MessageReader } from "./message-reader.ts";

/** A request as it went over a connection. */
type WireRequest = Pick<ApiExchange, "method" | "target" | "requestFields"> & { requestBody?: Uint8Array };
type WireAnswer = Pick<ApiExchange, "status" | "fields" | "body">;

/** What went over a connection that a client of this process has opened. */
export interface WireExchange extends WireAnswer {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly isCertified: boolean;
  /** `undefined` where nobody could read one: the answer is to that. */
  readonly request: WireRequest | undefined;
}

/** Listens to all connections that are opened from now on. */
export interface WireTap {
  /** Tells of answers that have begun as well, without their content. */
  flush(): void;
  /** Opens connections that nobody listens to. */
  unheard<T>(open: () => T): T;
}

/** Who is told of what goes over. */
export interface WireListener {
  /** An answer has begun, without its content. */
  begin(exchange: WireExchange): void;
  /** It is over; its content is `undefined` where it was broken off. */
  take(exchange: WireExchange): void;
}

/** Puts the tap between this process and all that it connects to: TLS is read in clear, what is no HTTP/1.1 is left alone. */
export function tapSockets(listener: WireListener): WireTap {
  const taps = new WeakMap<Socket, SocketTap>();
  const open = new Set<SocketTap>();
  let isUnheard = false;
  const { connect, write, end } = Socket.prototype as unknown as Record<string, (...args: unknown[]) => unknown>;

  function listen(socket: Socket): void {
    if (isUnheard || taps.has(socket)) return;
    const tap = createSocketTap(socket, listener);
    taps.set(socket, tap);
    open.add(tap);
    socket.on("close", () => {
      tap.flush();
      open.delete(tap);
    });
    const { push } = socket;
    socket.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
      if (chunk === null) tap.answers.end();
      else take(tap.answers, chunk, encoding);
      return push.call(socket, chunk, encoding);
    };
  }

  Object.assign(Socket.prototype, {
    connect(this: Socket, ...args: unknown[]) {
      if (!isByPath(args[0])) listen(this);
      return connect?.apply(this, args);
    },
    write(this: Socket, chunk: unknown, ...rest: unknown[]) {
      const tap = taps.get(this);
      if (tap !== undefined) take(tap.requests, chunk, rest[0]);
      return write?.call(this, chunk, ...rest);
    },
    end(this: Socket, chunk: unknown, ...rest: unknown[]) {
      const tap = taps.get(this);
      if (tap !== undefined) take(tap.requests, chunk, rest[0]);
      return end?.call(this, chunk, ...rest);
    },
  });

  return {
    flush: () => {
      for (const tap of open) tap.flush();
    },
    unheard(run) {
      isUnheard = true;
      try {
        return run();
      } finally {
        isUnheard = false;
      }
    },
  };
}

function take(reader: MessageReader, chunk: unknown, encoding: unknown): void {
  if (chunk instanceof Uint8Array) reader.take(chunk);
  else if (typeof chunk === "string")
    reader.take(Buffer.from(chunk, typeof encoding === "string" ? (encoding as BufferEncoding) : "utf8"));
}

/** Over a Unix socket no client of a service comes but the fuzzer, whose bytes are mostly no requests. */
function isByPath(target: unknown): boolean {
  const options: unknown = Array.isArray(target) ? target[0] : target;
  return typeof options === "object" && options !== null && "path" in options && options.path !== undefined;
}

/** The two directions of a connection. */
interface SocketTap {
  readonly requests: MessageReader;
  readonly answers: MessageReader;
  flush(): void;
}

function createSocketTap(socket: Socket, listener: WireListener): SocketTap {
  /** Those that wait for their answers, and the one that comes in. */
  const waiting: WireRequest[] = [];
  let asked: WireRequest | undefined;
  let answered: WireExchange | undefined;
  /** Which it does not tell any more when it is closed. */
  let place = { host: "", port: 0 };
  socket.once("connect", () => {
    place = { host: socket.remoteAddress ?? "", port: socket.remotePort ?? 0 };
  });

  const requests = createMessageReader({
    onHead({ start, fields }) {
      const [, method, target] = /^([!#$%&'*+\-.^_`|~\w]+) (\S+) HTTP\/1\.[01]$/.exec(start) ?? [];
      const framing = framingOf({ start, fields });
      if (method === undefined || target === undefined) return undefined;
      asked = { method, target, requestFields: fields };
      waiting.push(asked);
      if (method === "CONNECT" || framing === "nonsense") return undefined;
      return framing === "unsaid" ? 0 : framing;
    },
    onWhole(content) {
      if (asked !== undefined && content !== undefined) asked.requestBody = content;
    },
    onNonsense: () => undefined,
  });

  function tell(body: Uint8Array | undefined): void {
    if (answered === undefined) return;
    const isEncoded = answered.fields["content-encoding"] !== undefined;
    listener.take({ ...answered, body: isEncoded ? undefined : body });
    answered = undefined;
  }

  function onAnswer(head: MessageHead): number | "chunked" | "to the end" | undefined {
    const [, digits] = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(head.start) ?? [];
    const status = Number(digits);
    // Nobody speaks HTTP any more behind 101.
    if (digits === undefined || status === 101) return undefined;
    if (status < 200) return 0;
    const request = waiting.shift();
    const isSecure = "encrypted" in socket;
    answered = { ...place, isSecure, isCertified: isCertified(socket), request, status, fields: head.fields };
    listener.begin(answered);
    if (request?.method === "HEAD" || status === 204 || status === 304) return 0;
    const framing = framingOf(head);
    return framing === "nonsense" ? undefined : framing === "unsaid" ? "to the end" : framing;
  }

  return {
    requests,
    answers: createMessageReader({
      onHead: onAnswer,
      onWhole: (content) => tell(content),
      onNonsense: () => tell(undefined),
    }),
    flush: () => tell(undefined),
  };
}

/** Whether a client shows a certificate of its own. */
function isCertified(socket: Socket): boolean {
  const own = "encrypted" in socket ? (socket as TLSSocket).getCertificate() : undefined;
  return Object.keys(own ?? {}).length > 0;
}
