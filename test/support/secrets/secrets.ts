import { inspect } from "node:util";
import { afterEach, expect } from "vitest";
import type { OnEvent } from "../../../src/contracts/events/file-event.ts";
import { createMetrics } from "../../../src/metrics/metrics.ts";
import type { RecordingLogger } from "../logger.ts";

/** What the tests of this file have logged in with. */
const used = new Set<string>();
const watched: WatchedText[] = [];
/** How many of the used secrets were searched for in everything so far. */
let known = 0;

interface WatchedText {
  readonly read: () => string;
  readonly isOfTest: boolean;
  /** How many characters were searched, if the text only grows. */
  searched: number | undefined;
}

/** Shorter secrets are words that other texts contain too. */
const LEAST = 8;

function note(secret: string | undefined): void {
  if (secret !== undefined && secret.length >= LEAST) used.add(secret);
}

/**
 * Notes the secrets in the headers of a request or an answer: credentials as they were sent, and their decoded
 * passwords.
 */
export function noteSecrets(headers: Headers): void {
  noteAuthorization(headers.get("authorization") ?? "");
  for (const name of ["cookie", "set-cookie"]) noteSessions(headers.get(name) ?? "");
}

/** Notes the tokens of links in the target of a request, or in another text: a token opens its link. */
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

/** Notes API keys, and the secret part of each. */
export function noteKeys(text: string): void {
  for (const [key, secret] of text.matchAll(/ff_[0-9a-f]{16}_([0-9a-f]{32})/g)) {
    note(key);
    note(secret);
  }
}

/** Notes the secrets that go over a socket, either way: header fields, the fields of a login, and tokens of links. */
export function noteSecretsOnWire(text: string): void {
  noteLinkTokens(text);
  for (const [, value = ""] of text.matchAll(/^authorization:(.*)$/gim)) noteAuthorization(value);
  for (const [, value = ""] of text.matchAll(/^(?:set-)?cookie:(.*)$/gim)) noteSessions(value);
  for (const [, id] of text.matchAll(/"session":"([^"]+)"/g)) note(id);
  noteKeys(text);
  for (const [, password] of text.matchAll(/"(?:password|current_password|new_password)":"([^"\\]+)"/g)) note(password);
}

/**
 * Has a text searched for secrets after each test: up to the end of the running test, or of the file if none runs.
 * `onlyGrows`: later searches look at the old text for new secrets only.
 */
export function watchText(read: () => string, { onlyGrows = false } = {}): void {
  const isOfTest = expect.getState().currentTestName !== undefined;
  watched.push({ read, isOfTest, searched: onlyGrows ? 0 : undefined });
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

/**
 * Returns the used secrets that the watched texts contain, and what is new in these texts. Texts of the running test
 * are no longer watched.
 */
export function takeLeaks(): { readonly leaked: readonly string[]; readonly text: string } {
  const secrets = [...used];
  const longest = Math.max(0, ...secrets.map(({ length }) => length));
  const texts = watched.map((one) => {
    const whole = one.read();
    const recent = whole.slice(Math.max(0, (one.searched ?? 0) - longest));
    if (one.searched !== undefined) one.searched = whole.length;
    return { whole, recent };
  });
  const isShown = (secret: string, index: number): boolean =>
    texts.some(({ whole, recent }) => (index < known ? recent : whole).includes(secret));
  const leaked = secrets.filter(isShown);
  known = secrets.length;
  watched.splice(0, watched.length, ...watched.filter(({ isOfTest }) => !isOfTest));
  return { leaked, text: texts.map(({ recent }) => recent).join("\n") };
}

/** Passwords of the tests that are too short to be found by themselves. */
const PASSWORDS = /\bhunter2\b|\btoor\b|["']secret["']|Basic [\w+/]{6,}/g;

/**
 * Fails each test that leaves a secret in the events, the log or the metrics, also when it is repeated. Call it once
 * per file.
 */
export function failForLeaks(): void {
  used.clear();
  known = 0;
  watched.length = 0;
  const found = new Map<string, readonly string[]>();
  afterEach(({ task }) => {
    const { leaked, text } = takeLeaks();
    const passwords = [...text.matchAll(PASSWORDS)].map(([password]) => password);
    const secrets = [...(found.get(task.id) ?? []), ...leaked, ...passwords];
    found.set(task.id, secrets);
    expect(secrets, "secrets in events, log or metrics").toEqual([]);
  });
}
