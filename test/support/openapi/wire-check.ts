import { connect } from "node:net";
import type { ApiCheck } from "./api-check.ts";
import { seeThrough } from "./between.ts";
import { checkAgainst, toCheck, what } from "./check-against.ts";
import type { WireExchange, WireListener } from "./connection-reader.ts";
import {
  fetchDescription,
  isDescription,
  namesItself,
  type Place,
  toBasePath,
  toService,
} from "./description-source.ts";
import { areRequestsCounted, takeUndescribed } from "./undescribed.ts";
import type { WireTap } from "./wire-tap.ts";

/** Compares exchanges over sockets with the descriptions of their services. */
export interface WireCheck extends WireListener {
  /** Asks the service at this URL for its description now: the service may end soon. */
  ask(url: string): void;
  /** Returns what was found since the last call. */
  settle(): Promise<readonly string[]>;
  /** Forgets all descriptions: servers of the next file of tests may get the same ports. */
  forget(): void;
}

/**
 * Creates the check. It asks a service for its description as soon as an answer names a service. In tests that count
 * requests, it asks after all others.
 *
 * It sees the exchanges of the clients in this process, those of other clients with the servers in this process, and
 * those of Node child processes that run with the variables of `tapChildren`. It does not see:
 *
 * - the exchanges of a service that ended before it could be asked for its description;
 * - the contents of files, pages and forms with files above 256 KiB, of JSON and forms of texts above 16 MiB, and
 *   what a proxy has encoded. It only sees whether there is content where there may be none;
 * - answers to what Node's parser does not accept as a request, except their statuses;
 * - Unix sockets, which only the fuzzer uses, and requests from other processes to a child without those variables,
 *   which no test starts.
 */
export function createWireCheck(unheard: WireTap["unheard"]): WireCheck {
  const asked = new Map<string, Promise<ApiCheck | undefined>>();
  let taken: WireExchange[] = [];

  /**
   * Asks a service for its description. If the service does not answer, the previous description counts. If there is
   * none, the next answer causes another attempt.
   */
  function askAt(place: Place): Promise<ApiCheck | undefined> {
    const key = keyOf(place);
    const previous = asked.get(key);
    const found = fetchCheck(place, unheard).then((check) => check ?? previous);
    asked.set(key, found);
    void found.then((check) => {
      if (check === undefined && asked.get(key) === found) asked.delete(key);
    });
    return found;
  }

  /**
   * Finds the check of the service that the path belongs to; otherwise that of any service at the port, to which the
   * path is outside.
   */
  async function findCheck({ port, request }: WireExchange): Promise<ApiCheck | undefined> {
    const own = await asked.get(`${port} ${toBasePath(request?.target)}`);
    if (own !== undefined) return own;
    const others = [...asked].filter(([key]) => key.startsWith(`${port} `)).map(([, check]) => check);
    return (await Promise.all(others)).find((check) => check !== undefined);
  }

  /**
   * Asks again, as another service may have the port now. If the test has killed the service meanwhile, there is
   * nothing to compare.
   */
  async function judgeAgain(exchange: WireExchange, previous: ApiCheck | undefined): Promise<readonly string[]> {
    const place = toService(exchange);
    const check = (place && (await askAt(place))) ?? previous;
    if (check === undefined && place !== undefined && (await isThere(place, unheard))) {
      return [`${what(exchange)} -> nobody tells the description`];
    }
    return checkAgainst(check, exchange);
  }

  async function judge(exchange: WireExchange, undescribed: ReadonlySet<string>): Promise<readonly string[]> {
    if (undescribed.has(what(exchange))) return [];
    const check = await findCheck(exchange);
    const isMissed = check === undefined && namesItself(exchange);
    const problems = isMissed ? [""] : checkAgainst(check, exchange);
    return problems.length === 0 ? [] : judgeAgain(exchange, check);
  }

  return {
    ask(url) {
      const { protocol, hostname, port, pathname } = new URL(url);
      const host = hostname.replace(/^\[|\]$/g, "");
      const isSecure = protocol === "https:";
      if (!areRequestsCounted())
        void askAt({ host, port: Number(port), isSecure, basePath: pathname.replace(/\/$/, "") });
    },
    begin(answered) {
      const exchange = seeThrough(answered);
      if (exchange === undefined) return;
      const place = toService(exchange);
      const isKnown = place === undefined || asked.has(keyOf(place));
      if (!isKnown && namesItself(exchange) && !areRequestsCounted()) void askAt(place);
    },
    take(answered) {
      const exchange = seeThrough(answered);
      if (exchange === undefined) return;
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
    forget() {
      asked.clear();
    },
  };
}

function keyOf({ port, basePath }: Place): string {
  return `${port} ${basePath}`;
}

async function fetchCheck(place: Place, unheard: WireTap["unheard"]): Promise<ApiCheck | undefined> {
  try {
    return await toCheck(await fetchDescription(place, unheard));
  } catch {
    return undefined;
  }
}

/** Whether a server accepts connections there. */
function isThere({ host, port }: Place, unheard: WireTap["unheard"]): Promise<boolean> {
  const socket = unheard(() => connect(port, host));
  const found = new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  });
  return found.finally(() => socket.destroy());
}
