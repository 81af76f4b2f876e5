import type { Trace } from "../contracts/connection.ts";
import type { FileEvent } from "../contracts/events/file-event.ts";
import type { Logger } from "../contracts/logger.ts";
import { checkOption, OptionError } from "../contracts/option-error.ts";
import { EVENT_MESSAGES } from "../events/catalog.ts";
import { toSafeLogger } from "../events/safe-logger.ts";
import { RECIPIENT_OPTIONS, type RecipientOptions, type RemoteUrl, readRecipient } from "../outbound/destination.ts";
import { askInOrder, createSuspensions } from "../outbound/failover.ts";
import { describeOutcome, type Outcome, sendRequest } from "../outbound/send-request.ts";
import { toTraceLines } from "../outbound/trace-headers.ts";
import { createSinkQueue, type EventSink, type QueuedEvent } from "./event-sink.ts";
import { toRetryDelay } from "./retry-delay.ts";
import { createWebhookSigner } from "./webhook-signature.ts";

/** Options of {@link createWebhookSink}. No error message and no log line holds their secrets. */
export interface WebhookSinkOptions extends RecipientOptions {
  /**
   * Signs each request as Standard Webhooks does, with HMAC-SHA-256 of its identifier, time and body. The secret is
   * `whsec_` and a key in Base64. Default: no signature.
   */
  readonly secret?: string;
  /** Which events are posted: a list of identifiers, or a function that decides. Default: all. */
  readonly filter?: readonly FileEvent["id"][] | ((event: FileEvent) => boolean);
  /** How often the sink retries a request that was not accepted before it gives up the events. Default: 5. */
  readonly retries?: number;
  /** The number of events that wait at most; more are dropped. Default: 10,000. */
  readonly capacity?: number;
  /** Gets failures. Default: the console. */
  readonly logger?: Logger;
}

/** The number of events in one request at most. */
const BATCH = 100;
const KNOWN_OPTIONS: ReadonlySet<string> = new Set([
  ...RECIPIENT_OPTIONS,
  "secret",
  "filter",
  "retries",
  "capacity",
  "logger",
] satisfies (keyof WebhookSinkOptions)[]);

/**
 * Posts events as `{ "events": [...] }`, in their order, to the first URL that responds, as authentication requests are
 * sent (4.7). Any 2xx accepts them. After another status the sink retries, later each time, and not before the time of
 * `Retry-After`. Closing takes `timeoutSeconds` at most; events that are not posted by then are given up. If all events
 * of a request have the same trace, the request has its headers.
 * @throws OptionError
 */
export function createWebhookSink(options: WebhookSinkOptions): EventSink {
  const recipient = readRecipient(options);
  const unknown = Object.keys(options).find((name) => !KNOWN_OPTIONS.has(name));
  if (unknown !== undefined) throw new OptionError(unknown, "left out: it is not a known option");
  const { retries = 5, capacity = 10_000, logger = console } = options;
  checkOption(Number.isSafeInteger(retries) && retries >= 0, "retries", "a whole number, or 0");
  checkOption(Number.isSafeInteger(capacity) && capacity > 0, "capacity", "a whole number");
  const isWanted = toFilter(options.filter);
  const sign = createWebhookSigner(options.secret);
  const isFree = options.secret === undefined || !recipient.headers.some(([name]) => /^webhook-/i.test(name));
  checkOption(isFree, "headers", "without those of the signature");
  const safe = toSafeLogger(logger);
  const { isSuspended, suspend, lift } = createSuspensions<RemoteUrl>(recipient);
  const ending = new AbortController();
  let isClosed = false;
  let lost = 0;
  let lostAtEnd = 0;
  let wake: () => void = () => undefined;

  async function ask(
    url: RemoteUrl,
    bytes: Uint8Array<ArrayBuffer>,
    headers: typeof recipient.headers,
  ): Promise<Outcome> {
    const outcome = await sendRequest(url, bytes, { ...recipient, headers, signal: ending.signal });
    if (outcome.responded) lift(url);
    else suspend(url);
    return outcome;
  }

  /** Each attempt sends the same identifier and body, so that a receiver can recognize a duplicate. */
  async function deliver(events: readonly QueuedEvent[], expect: (milliseconds: number) => void): Promise<void> {
    const id = `msg_${crypto.randomUUID()}`;
    const body = `{"events":[${events.map(({ json }) => json).join(",")}]}`;
    const bytes = new TextEncoder().encode(body);
    const trace = toTraceLines(toCommonTrace(events), recipient.headers);
    for (let attempt = 0; ; attempt += 1) {
      if (ending.signal.aborted) return giveUp(events.length, []);
      const headers = [...recipient.headers, ...trace, ...sign(id, new Date(recipient.clock()), body)];
      expect(recipient.urls.length * recipient.timeoutSeconds * 1000);
      const outcomes = await askInOrder(recipient.urls, isSuspended, (url) => ask(url, bytes, headers));
      const last = outcomes.at(-1);
      if (last?.responded && last.status >= 200 && last.status < 300) return;
      const problems = outcomes.map(describeOutcome);
      if (attempt >= retries || isClosed) return giveUp(events.length, problems);
      safe.warn({ problems, attempt: attempt + 1 }, "The webhook did not accept events; they are sent again.");
      const delay = toRetryDelay(attempt, last?.responded ? last.retryAfter : null, recipient.clock());
      expect(delay);
      await wait(delay);
    }
  }

  function giveUp(count: number, problems: readonly string[]): void {
    lost += count;
    // While the sink closes, lost events are only counted: `close` reports them once.
    if (!ending.signal.aborted) safe.error({ problems, events: count }, "Events could not be sent to the webhook.");
    else lostAtEnd += count;
  }

  function wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  const queue = createSinkQueue({
    capacity,
    batch: BATCH,
    deliver,
    onFull: () => safe.warn({ capacity }, "Events are dropped because too many earlier events wait to be sent."),
    onLost: (count) => giveUp(count, ["the runtime ended the delivery"]),
  });

  /** Returns a promise for runtimes that end with the request; other callers ignore it. */
  function take(event: FileEvent): Promise<void> | undefined {
    if (isClosed) return undefined;
    try {
      if (!isWanted(event)) return undefined;
      const dropped = queue.add(event);
      lost += dropped;
      return queue.drain();
    } catch (error) {
      lost += 1;
      safe.error({ error }, "An event could not be accepted.");
    }
    return undefined;
  }

  async function close(): Promise<void> {
    isClosed = true;
    wake();
    const timer = setTimeout(() => ending.abort(), recipient.timeoutSeconds * 1000);
    await queue.drain();
    clearTimeout(timer);
    if (lostAtEnd > 0) safe.error({ events: lostAtEnd }, "Events were not sent before the webhook sink closed.");
  }

  return Object.assign(take, { dropped: () => lost, close });
}

function toFilter(filter: WebhookSinkOptions["filter"]): (event: FileEvent) => boolean {
  if (filter === undefined) return () => true;
  if (typeof filter === "function") return filter;
  checkOption(
    Array.isArray(filter) && filter.every(isEventId),
    "filter",
    "a function, or a list of identifiers of events",
  );
  const wanted = new Set<number>(filter);
  return ({ id }) => wanted.has(id);
}

function isEventId(id: unknown): boolean {
  return typeof id === "number" && Object.hasOwn(EVENT_MESSAGES, id);
}

/** The trace of all events; `undefined` if they belong to several traces or to none. */
function toCommonTrace(events: readonly QueuedEvent[]): Trace | undefined {
  const [trace] = events.map(({ event }) => event.trace);
  return events.every(({ event }) => event.trace?.traceparent === trace?.traceparent) ? trace : undefined;
}
