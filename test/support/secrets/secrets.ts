import { inspect } from "node:util";
import { afterEach, expect } from "vitest";
import type { OnEvent } from "../../../src/contracts/events/file-event.ts";
import { createMetrics } from "../../../src/metrics/metrics.ts";
import type { RecordingLogger } from "../logger.ts";

/**
 * What was used to log in by this file's tests, and what was told meanwhile. Who began to listen before a test listens
 * to the end.
 */
const used = new Set<string>();
const told: Told[] = [];
/** How many of the used ones all that was told before has been searched for. */
let known = 0;

interface Told {
  readonly read: () => string;
  readonly isOfTest: boolean;
  /** How much of it was searched, if it only grows. */
  searched: number | undefined;
}

/** Shorter ones are words that stand in other texts too. */
const LEAST = 8;

function note(secret: string | undefined): void {
  if (secret !== undefined && secret.length >= LEAST) used.add(secret);
}

/**
 * The texts of a request, or an answer, that nobody may be told: credentials as they were sent, and what they decode
 * to.
 */
export function noteSecrets(headers: Headers): void {
  noteAuthorization(headers.get("authorization") ?? "");
  for (const name of ["cookie", "set-cookie"]) noteSessions(headers.get(name) ?? "");
}

/** The tokens of links in the target of a request, or in another text: who has the token has the link. */
export function noteLinkTokens(text: string): void {
  for (const [, token] of text.matchAll(/__svc__\/share\/([^/?#\s"'<>]+)/g)) note(token);
}

function noteAuthorization(value: string): void {
  const [scheme = "", token] = value.trim().split(" ");
  note(token);
  noteKeys(value);
  if (token === undefined || scheme.toLowerCase() !== "basic") return;
  const [, password] = /^[^:]*:(.*)$/s.exec(Buffer.from(token, "base64").toString()) ?? [];
  note(password);
  noteKeys(password ?? "");
}

function noteSessions(text: string): void {
  for (const [id] of text.matchAll(/[\da-f]{32,}/g)) note(id);
}

/** API keys as they are shown once, and their secrets alone. */
export function noteKeys(text: string): void {
  for (const [key, secret] of text.matchAll(/ff_[0-9a-f]{16}_([0-9a-f]{32})/g)) {
    note(key);
    note(secret);
  }
}

/** The same of what goes over a socket, either way: header fields, the fields of a login, and tokens of links. */
export function noteSecretsOnWire(text: string): void {
  noteLinkTokens(text);
  for (const [, value = ""] of text.matchAll(/^authorization:(.*)$/gim)) noteAuthorization(value);
  for (const [, value = ""] of text.matchAll(/^(?:set-)?cookie:(.*)$/gim)) noteSessions(value);
  for (const [, id] of text.matchAll(/"session":"([^"]+)"/g)) note(id);
  noteKeys(text);
  for (const [, password] of text.matchAll(/"(?:password|current_password|new_password)":"([^"\\]+)"/g)) note(password);
}

/**
 * Has this text searched for secrets after each test: for the rest of the test that runs, or of the file. `onlyGrows`:
 * what was searched is searched again for new secrets alone.
 */
export function watchText(read: () => string, { onlyGrows = false } = {}): void {
  const isOfTest = expect.getState().currentTestName !== undefined;
  told.push({ read, isOfTest, searched: onlyGrows ? 0 : undefined });
}

/** Listens to a service: no event, no line of the log and no metric may hold a secret (CONTRACT 8). */
export function watchSecrets(log: RecordingLogger): OnEvent {
  const metrics = createMetrics();
  const events: unknown[] = [];
  watchText(() => [inspect(events, { depth: 12, maxStringLength: null }), log.text(), metrics.render()].join("\n"));
  return (event) => {
    events.push(event);
    metrics.onEvent(event);
  };
}

/** The secrets that were told, none of which may be, and all that was told; what this test listened to is let go of. */
export function takeLeaks(): { readonly leaked: readonly string[]; readonly text: string } {
  const secrets = [...used];
  const longest = Math.max(0, ...secrets.map(({ length }) => length));
  const texts = told.map((one) => {
    const whole = one.read();
    const recent = whole.slice(Math.max(0, (one.searched ?? 0) - longest));
    if (one.searched !== undefined) one.searched = whole.length;
    return { whole, recent };
  });
  const isTold = (secret: string, index: number): boolean =>
    texts.some(({ whole, recent }) => (index < known ? recent : whole).includes(secret));
  const leaked = secrets.filter(isTold);
  known = secrets.length;
  told.splice(0, told.length, ...told.filter(({ isOfTest }) => !isOfTest));
  return { leaked, text: texts.map(({ recent }) => recent).join("\n") };
}

/** Passwords of the tests, which are too short to be looked for as they are. */
const PASSWORDS = /\bhunter2\b|\btoor\b|["']secret["']|Basic [\w+/]{6,}/g;

/**
 * Fails each test of a file after which a secret is in the events, the log or the metrics, also when it is tried again.
 * Call it once per file.
 */
export function failForLeaks(): void {
  used.clear();
  known = 0;
  told.length = 0;
  const found = new Map<string, readonly string[]>();
  afterEach(({ task }) => {
    const { leaked, text } = takeLeaks();
    const passwords = [...text.matchAll(PASSWORDS)].map(([password]) => password);
    const secrets = [...(found.get(task.id) ?? []), ...leaked, ...passwords];
    found.set(task.id, secrets);
    expect(secrets, "secrets in events, log or metrics").toEqual([]);
  });
}
