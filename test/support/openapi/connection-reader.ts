import type { ApiExchange } from "./exchange.ts";
import { createMessageReader, framingOf, type MessageHead, type MessageReader } from "./message-reader.ts";

/** A request as it went over a connection. */
export type WireRequest = Pick<ApiExchange, "method" | "target" | "requestFields"> & { requestBody?: Uint8Array };
type WireAnswer = Pick<ApiExchange, "status" | "fields" | "body">;

/** The server's end of a connection. */
export interface WirePlace {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** Whether the client has sent a certificate. */
  readonly isCertified: boolean;
}

/** A request and its answer, as they went over a connection. */
export interface WireExchange extends WireAnswer, WirePlace {
  /** `undefined` if the server could not read a request: the answer says so. */
  readonly request: WireRequest | undefined;
}

/** Gets what goes over connections. */
export interface WireListener {
  /** The head of an answer has arrived; its content has not. */
  begin(exchange: WireExchange): void;
  /** The answer has ended. Its content is `undefined` if it was cut off. */
  take(exchange: WireExchange): void;
}

/** Matches the answers of a connection with its requests. */
export interface ConnectionReader {
  /** A request has arrived. Its content may arrive later. */
  ask(request: WireRequest): void;
  readonly answers: MessageReader;
  /** Reports an answer that has started, without its content. */
  flush(): void;
}

/** Creates the reader of a connection to a server. */
export function createConnectionReader(toPlace: () => WirePlace, listener: WireListener): ConnectionReader {
  /** Requests without an answer yet. */
  const waiting: WireRequest[] = [];
  let answered: WireExchange | undefined;

  function tell(body: Uint8Array | undefined): void {
    if (answered === undefined) return;
    const isEncoded = answered.fields["content-encoding"] !== undefined;
    listener.take({ ...answered, body: isEncoded ? undefined : body });
    answered = undefined;
  }

  function onAnswer(head: MessageHead): number | "chunked" | "to the end" | undefined {
    const [, digits] = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(head.start) ?? [];
    const status = Number(digits);
    // After 101 the connection no longer speaks HTTP.
    if (digits === undefined || status === 101) return undefined;
    if (status < 200) return 0;
    const request = waiting.shift();
    answered = { ...toPlace(), request, status, fields: head.fields };
    listener.begin(answered);
    if (request?.method === "HEAD" || status === 204 || status === 304) return 0;
    const framing = framingOf(head);
    return framing === "nonsense" ? undefined : framing === "unsaid" ? "to the end" : framing;
  }

  return {
    ask: (request) => void waiting.push(request),
    answers: createMessageReader({
      onHead: onAnswer,
      onWhole: (content) => tell(content),
      onNonsense: () => tell(undefined),
    }),
    flush: () => tell(undefined),
  };
}

/** Reads the requests that a client writes. */
export function createRequestReader(ask: ConnectionReader["ask"]): MessageReader {
  let asked: WireRequest | undefined;
  return createMessageReader({
    onHead({ start, fields }) {
      const [, method, target] = /^([!#$%&'*+\-.^_`|~\w]+) (\S+) HTTP\/1\.[01]$/.exec(start) ?? [];
      const framing = framingOf({ start, fields });
      if (method === undefined || target === undefined) return undefined;
      asked = { method, target, requestFields: fields };
      ask(asked);
      if (method === "CONNECT" || framing === "nonsense") return undefined;
      return framing === "unsaid" ? 0 : framing;
    },
    onWhole(content) {
      if (asked !== undefined && content !== undefined) asked.requestBody = content;
    },
    onNonsense: () => undefined,
  });
}
