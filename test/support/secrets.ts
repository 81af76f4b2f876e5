import { inspect } from "node:util";
import { afterEach, expect } from "vitest";
import type { OnEvent } from "../../src/contracts/events.ts";
import { createMetrics } from "../../src/sinks/metrics.ts";
import type { RecordingLogger } from "./logger.ts";

/** What was used to log in since the last test, and what was told of it. */
const used = new Set<string>();
const told: (() => string)[] = [];

/** The texts of a request, or an answer, that nobody may be told: credentials as they were sent, and what they decode to. */
export function noteSecrets(headers: Headers): void {
  const token = headers.get("authorization")?.split(" ").at(-1);
  if (token !== undefined && token.length >= 8) used.add(token);
  for (const name of ["cookie", "set-cookie"]) {
    for (const [id] of headers.get(name)?.matchAll(/[\da-f]{32,}/g) ?? []) used.add(id);
  }
}

/** Listens to a service for the rest of the test: no event, no line of the log and no metric may hold a secret (CONTRACT 8). */
export function watchSecrets(log: RecordingLogger): OnEvent {
  const metrics = createMetrics();
  const events: unknown[] = [];
  told.push(() => [inspect(events, { depth: 12, maxStringLength: null }), log.text(), metrics.render()].join("\n"));
  return (event) => {
    events.push(event);
    metrics.onEvent(event);
  };
}

afterEach(() => {
  const text = told.map((read) => read()).join("\n");
  const leaked = [...used].filter((secret) => text.includes(secret));
  used.clear();
  told.length = 0;
  expect(leaked, "secrets in events, log or metrics").toEqual([]);
  expect(text, "passwords in events, log or metrics").not.toMatch(/\bhunter2\b|\btoor\b|["']secret["']/);
});
