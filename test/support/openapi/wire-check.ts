import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { VERSION } from "../../../src/config/version.ts";
import type { ApiCheck } from "./api-check.ts";
import { areRequestsCounted, takeUndescribed } from "./undescribed.ts";
import type { WireExchange, WireListener, WireTap } from "./wire-tap.ts";

/** Services name themselves in their answers, with the version, wherever they run; nobody else does. */
const NAME_END = `/${VERSION}`;
/** What is answered before a service hears of a request, by its server: it is no HTTP, or too much of it, or for nobody, or of no method, or too late. */
const REFUSED_UNHEARD = [400, 404, 408, 413, 414, 417, 431, 501, 503, 505];
/** So long is waited for a description, on a machine that has much to do. */
const PATIENCE_MS = 30_000;
/** What servers add to the answers of a service that is mounted in them: Express, and Miniflare. */
const OF_SERVERS = ["x-powered-by", "content-encoding"];

/** Where a service is. */
interface Place {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly basePath: string;
}

/** Holds what goes over the wire against what its service says of itself. */
export interface WireCheck extends WireListener {
  /** Asks whoever serves this URL for its description, at once: later it may be gone. */
  ask(url: string): void;
  /** What was found since the last time. */
  settle(): Promise<readonly string[]>;
}

/** Services are asked as soon as an answer names one; in tests that count requests, behind all others. */
export function createWireCheck(unheard: WireTap["unheard"]): WireCheck {
  const asked = new Map<string, Promise<ApiCheck | undefined>>();
  let taken: WireExchange[] = [];

  /** What was known before counts on where nobody answers; where nothing was, the next answer has it asked anew. */
  function askAt(place: Place): Promise<ApiCheck | undefined> {
    const key = keyOf(place);
    const former = asked.get(key);
    const found = fetchCheck(place, unheard).then((check) => check ?? former);
    asked.set(key, found);
    void found.then((check) => {
      if (check === undefined && asked.get(key) === found) asked.delete(key);
    });
    return found;
  }

  /** The one that the path is of; else any at that port, to which it is outside. */
  async function findCheck({ port, request }: WireExchange): Promise<ApiCheck | undefined> {
    const own = await asked.get(`${port} ${toBasePath(request?.target)}`);
    if (own !== undefined) return own;
    const others = [...asked].filter(([key]) => key.startsWith(`${port} `)).map(([, check]) => check);
    return (await Promise.all(others)).find((check) => check !== undefined);
  }

  /** Another service may have the port by now. One that its test has killed before it could be asked tells nothing. */
  async function judgeAnew(exchange: WireExchange, former: ApiCheck | undefined): Promise<readonly string[]> {
    const place = toService(exchange);
    const check = (place && (await askAt(place))) ?? former;
    if (check === undefined && place !== undefined && (await isThere(place, unheard))) {
      return [`${what(exchange)} -> nobody tells the description`];
    }
    return holdAgainst(check, exchange);
  }

  async function judge(exchange: WireExchange, undescribed: ReadonlySet<string>): Promise<readonly string[]> {
    if (undescribed.has(what(exchange))) return [];
    const check = await findCheck(exchange);
    const isMissed = check === undefined && namesItself(exchange);
    const problems = isMissed ? [""] : holdAgainst(check, exchange);
    return problems.length === 0 ? [] : judgeAnew(exchange, check);
  }

  return {
    ask(url) {
      const { protocol, hostname, port, pathname } = new URL(url);
      const host = hostname.replace(/^\[|\]$/g, "");
      const isSecure = protocol === "https:";
      if (!areRequestsCounted())
        void askAt({ host, port: Number(port), isSecure, basePath: pathname.replace(/\/$/, "") });
    },
    begin(exchange) {
      const place = toService(exchange);
      const isKnown = place === undefined || asked.has(keyOf(place));
      if (!isKnown && namesItself(exchange) && !areRequestsCounted()) void askAt(place);
    },
    take(exchange) {
      const place = toService(exchange);
      const { body = new Uint8Array() } = exchange;
      if (place !== undefined && isDescription(exchange))
        asked.set(keyOf(place), toCheck(Buffer.from(body).toString()));
      taken.push(exchange);
    },
    async settle() {
      const exchanges = taken;
      taken = [];
      const undescribed = takeUndescribed();
      const problems: (readonly string[])[] = [];
      for (const exchange of exchanges) problems.push(await judge(exchange, undescribed));
      return problems.flat();
    },
  };
}

function keyOf({ port, basePath }: Place): string {
  return `${port} ${basePath}`;
}

/** Whether a test itself has asked for it. */
function isDescription(exchange: WireExchange): boolean {
  const { request, status, body } = exchange;
  const isAsked = request?.method === "GET" && /\/__svc__\/openapi\.json$/.test(request.target);
  return isAsked && status === 200 && body !== undefined && namesItself(exchange);
}

function namesItself({ fields }: WireExchange): boolean {
  return fields.server?.endsWith(NAME_END) === true;
}

function holdAgainst(check: ApiCheck | undefined, exchange: WireExchange): readonly string[] {
  const { request, status, body } = exchange;
  if (check === undefined) return [];
  const fields = Object.fromEntries(Object.entries(exchange.fields).filter(([name]) => !OF_SERVERS.includes(name)));
  if (namesItself(exchange) && request !== undefined) return check.check({ ...exchange, ...request, fields });
  // What fails before its first byte is sent is answered in its place.
  const isFailure = status === 500 && body?.byteLength === 0;
  if (isFailure || REFUSED_UNHEARD.includes(status)) return [];
  if (request !== undefined && toBasePath(request.target) === undefined) return [];
  return [`${what(exchange)} -> answered ${status}, and not by the service`];
}

function what({ request }: WireExchange): string {
  return request === undefined ? "what is no request" : `${request.method} ${request.target}`;
}

/** The base path, as a target has it before what is a service's. */
function toBasePath(target = ""): string | undefined {
  return /^(?:[a-z]+:\/\/[^/?#]*)?([^?#]*?)\/(?:home|__svc__|____svc__)(?:[/?#]|$)/i.exec(target)?.[1];
}

function toService({ host, port, isSecure, request }: WireExchange): Place | undefined {
  const basePath = toBasePath(request?.target);
  return basePath === undefined ? undefined : { host, port, isSecure, basePath };
}

async function fetchCheck(place: Place, unheard: WireTap["unheard"]): Promise<ApiCheck | undefined> {
  try {
    return await toCheck(await fetchDescription(place, unheard));
  } catch {
    return undefined;
  }
}

/** Whether anybody takes connections there. */
function isThere({ host, port }: Place, unheard: WireTap["unheard"]): Promise<boolean> {
  const socket = unheard(() => connect(port, host));
  const found = new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  });
  return found.finally(() => socket.destroy());
}

async function toCheck(text: string): Promise<ApiCheck> {
  const names = new Set<string>();
  JSON.parse(text, (_key, value) => {
    if (value?.in === "header" && value.schema !== undefined) names.add(value.name);
    return value;
  });
  // Whoever talks to no service needs no validator.
  const { apiCheckOf } = await import("./api-check.ts");
  return apiCheckOf(text, { vocabulary: [...names].sort() });
}

function fetchDescription({ basePath, isSecure, ...place }: Place, unheard: WireTap["unheard"]): Promise<string> {
  const path = `${basePath}/__svc__/openapi.json`;
  const options = { ...place, path, headers: { accept: "application/json" }, agent: false, rejectUnauthorized: false };
  return new Promise((resolve, reject) => {
    const asking = unheard(() => (isSecure ? httpsRequest : httpRequest)(options));
    asking.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () =>
        response.statusCode === 200 ? resolve(text) : reject(new Error(`It answers ${response.statusCode}.`)),
      );
      response.on("error", reject);
    });
    asking.on("error", reject);
    asking.setTimeout(PATIENCE_MS, () => asking.destroy(new Error("It does not answer.")));
    asking.end();
  });
}
