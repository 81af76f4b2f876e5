import { isAtomicStore } from "../../contracts/atomic-store.ts";
import type { KeyValueStore } from "../../contracts/key-value-store.ts";
import { orRetryError } from "../../http/errors.ts";
import { sha256Hex } from "../../platform/sha256.ts";
import { wait } from "../../platform/wait.ts";
import type { Claim, KeptAnswers, KeyedRequest } from "../../request/context.ts";
import type { ReportError } from "../../request/errors.ts";
import { createAnswerBudget } from "./answer-budget.ts";
import { openAnswer, sealAnswer } from "./sealed-answer.ts";

/** What the answers of a service need. */
export interface KeptAnswersOptions {
  readonly store: KeyValueStore;
  readonly seconds: number;
  readonly clock: () => number;
  readonly report: ReportError;
}

/** A process that ends in the middle of a request leaves its key free after this time at the latest. */
const LEASE_MS = 60_000;
/** The pauses between attempts to keep an answer: a store that is connected again is there by then. */
const KEEP_PAUSES_MS = [0, 100, 1000];
/** Larger answers are not kept: commands with some hundred targets have them. */
const MAX_ANSWER_CHARACTERS = 65_536;
/** The answers of one account that a process keeps. */
const MAX_ACCOUNT_CHARACTERS = 1_048_576;

/** What the store has of a key. */
interface KeptRecord {
  /** Identifies the body. */
  readonly body: string;
  /** Identifies the request that runs; absent after its end. */
  readonly running?: string;
  /** Encrypted. Absent: the request has ended, and its answer was too large. */
  readonly answer?: string;
}

/** Creates the answers to requests with keys. */
export function createKeptAnswers({ store, seconds, clock, report }: KeptAnswersOptions): KeptAnswers {
  const budget = createAnswerBudget(MAX_ACCOUNT_CHARACTERS, 1000 * seconds, clock);
  /** The keys of running requests of this process. Not every store can find them in one step. */
  const running = new Set<string>();

  async function claim(request: KeyedRequest): Promise<Claim> {
    const { holder, payer, url, key, body } = request;
    const secret = JSON.stringify([holder, url, key]);
    const name = `idempotency:${sha256Hex(secret)}`;
    const fingerprint = sha256Hex(`${secret}\n${body}`);
    if (running.has(name)) return { outcome: "running" };
    running.add(name);
    let isFirst = false;
    try {
      const text = JSON.stringify({ body: fingerprint, running: crypto.randomUUID() } satisfies KeptRecord);
      const found = await orRetryError("idempotency-store-unavailable", () => begin(name, text));
      if (found !== undefined) return await toClaim(found, fingerprint, secret);
      isFirst = true;
      return createFirst(name, text, { fingerprint, secret, payer });
    } finally {
      if (!isFirst) running.delete(name);
    }
  }

  /** Notes that a request runs, unless there is a record already. Returns the record. */
  async function begin(name: string, text: string): Promise<KeptRecord | undefined> {
    if (isAtomicStore(store) && (await store.replace(name, undefined, text, LEASE_MS))) return undefined;
    const found = await store.get(name);
    if (found !== undefined) return parseRecord(found);
    if (isAtomicStore(store)) throw new Error("The stored text changed at the same moment.");
    await store.set(name, text, LEASE_MS);
    return undefined;
  }

  function createFirst(
    name: string,
    text: string,
    { fingerprint, secret, payer }: { readonly fingerprint: string; readonly secret: string; readonly payer: string },
  ): Claim {
    let renewing: Promise<unknown> = Promise.resolve();
    const timer = setInterval(renew, LEASE_MS / 3);
    (timer as { unref?: () => void }).unref?.();

    function renew(): void {
      if (isAtomicStore(store)) void store.replace(name, text, text, LEASE_MS).catch(report);
      else renewing = renewing.then(() => store.set(name, text, LEASE_MS)).catch(report);
    }

    /** The request has ended: what fails now must not fail it. */
    async function end(work: () => Promise<unknown>): Promise<void> {
      clearInterval(timer);
      // A store without the atomic step may finish a renewal later, which would overwrite the answer.
      await renewing;
      try {
        await work();
      } catch (error) {
        report(error);
      } finally {
        running.delete(name);
      }
    }

    async function keep(answer: string | undefined): Promise<void> {
      const isKept =
        answer !== undefined && answer.length <= MAX_ANSWER_CHARACTERS && budget.take(payer, answer.length);
      const sealed = isKept && { answer: await sealAnswer(secret, answer) };
      const record: KeptRecord = { body: fingerprint, ...sealed };
      await write(JSON.stringify(record), KEEP_PAUSES_MS);
    }

    /** Without the record the request would run again after the lease. */
    async function write(record: string, [pause, ...others]: readonly number[]): Promise<void> {
      try {
        // Not by `replace`: a store in memory may drop old answers, but not what `replace` has stored.
        await store.set(name, record, 1000 * seconds);
      } catch (error) {
        if (pause === undefined) throw error;
        await wait(pause);
        await write(record, others);
      }
    }

    return {
      outcome: "first",
      keep: (answer) => end(() => keep(answer)),
      release: () => end(async () => store.delete(name)),
    };
  }

  return { claim };
}

async function toClaim(record: KeptRecord, fingerprint: string, secret: string): Promise<Claim> {
  const { body, running, answer } = record;
  if (body !== fingerprint) return { outcome: "other" };
  if (running !== undefined) return { outcome: "running" };
  return { outcome: "answered", answer: answer === undefined ? undefined : await openAnswer(secret, answer) };
}

/** What a store has may be of another program. @throws TypeError */
function parseRecord(value: unknown): KeptRecord {
  const record = typeof value === "string" ? (JSON.parse(value) as Partial<KeptRecord> | null) : undefined;
  if (typeof record?.body !== "string") throw new TypeError("The stored value is not a record.");
  return record as KeptRecord;
}
