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

/** Holds what goes over the wire against what its service says of itself. */
export interface WireCheck extends WireListener {
  /** Asks whoever serves this URL for its description, at once: later it may be gone. */
  ask(url: string): void;
  /** What was found since the last time. */
  settle(): Promise<readonly string[]>;
  /** Forgets all descriptions: servers of the next file of tests may get the same ports. */
  forget(): void;
}

/**
 * Services are asked as soon as an answer names one; in tests that count requests, behind all others. Seen is what goes
 * over the sockets of this process's clients, of its servers where others ask them, and of the Node processes that run
 * with the variables of `tapChildren`. What is not:
 *
 * - a service that has ended before it has told its description: what it has answered until then;
 * - contents, beyond whether there are any where there may be none: those of files, pages and forms with files above
 * 256 KiB, JSON and forms of texts above 16 MiB, and what somebody between has encoded;
 * - answers to what Node's parser takes for no request, beyond their statuses;
 * - Unix sockets, by which the fuzzer alone comes, and what other processes ask of one that runs without those
 * variables: none of the tests has such.
 */
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
    return checkAgainst(check, exchange);
  }

  async function judge(exchange: WireExchange, undescribed: ReadonlySet<string>): Promise<readonly string[]> {
    if (undescribed.has(what(exchange))) return [];
    const check = await findCheck(exchange);
    const isMissed = check === undefined && namesItself(exchange);
    const problems = isMissed ? [""] : checkAgainst(check, exchange);
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

/** Whether anybody takes connections there. */
function isThere({ host, port }: Place, unheard: WireTap["unheard"]): Promise<boolean> {
  const socket = unheard(() => connect(port, host));
  const found = new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  });
  return found.finally(() => socket.destroy());
}
