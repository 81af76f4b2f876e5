import type { ApiExchange } from "./exchange.ts";
import { createMessageReader, framingOf, type MessageHead, type MessageReader } from "./message-reader.ts";

/** A request as it went over a connection. */
export type WireRequest = Pick<ApiExchange, "method" | "target" | "requestFields"> & { requestBody?: Uint8Array };
type WireAnswer = Pick<ApiExchange, "status" | "fields" | "body">;

/** The end of a connection where the server is. */
export interface WirePlace {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** Whether the client has shown a certificate of its own. */
  readonly isCertified: boolean;
}

/** What went over a connection. */
export interface WireExchange extends WireAnswer, WirePlace {
  /** `undefined` where nobody could read one: the answer is to that. */
  readonly request: WireRequest | undefined;
}

/** Who is told of what goes over. */
export interface WireListener {
  /** An answer has begun, without its content. */
  begin(exchange: WireExchange): void;
  /** It is over; its content is `undefined` where it was broken off. */
  take(exchange: WireExchange): void;
}

/** Puts the answers of a connection to its requests. */
export interface ConnectionReader {
  /** A request, whose content may be on its way yet. */
  ask(request: WireRequest): void;
  readonly answers: MessageReader;
  /** Tells of the answer that has begun, without its content. */
  flush(): void;
}

/** Makes one of a connection to this place. */
export function createConnectionReader(toPlace: () => WirePlace, listener: WireListener): ConnectionReader {
  /** Those that wait for their answers. */
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
    // Nobody speaks HTTP any more behind 101.
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
