import type { ScriptTexts } from "../contracts/script-texts.ts";
import { fill } from "./format.ts";

/**
 * Why something failed. `login`: the session has ended. `network`: the service does not answer. `exists`: there is a file already. `refused`: all
 * else, of this one alone.
 */
export interface Problem {
  readonly kind: "login" | "network" | "exists" | "refused";
  readonly message: string;
}

/** What became of one target of a command; `message` is null for a success. */
export interface Outcome {
  readonly target: string;
  readonly message: string | null;
}

/** Tells the service that a script asks: a browser's own box for a password would not help here. */
export const HEADERS = { Accept: "application/json", "X-Requested-With": "XMLHttpRequest" } as const;

/** A batch stays below the service's limits of commands and bytes. */
const COMMANDS_PER_REQUEST = 500;

/** The URL of a member below the folder of this page; with a `/` at its end for a folder. Names are encoded each. */
export function toUrl(path: readonly string[], end: "" | "/" = ""): string {
  return `./${path.map(encodeURIComponent).join("/")}${path.length > 0 ? end : ""}`;
}

/** Runs one command on each of the targets in a folder. With a problem, `outcomes` holds what was done before it. */
export async function runCommands(
  folder: readonly string[],
  command: string,
  targets: readonly string[],
  texts: ScriptTexts,
): Promise<{ outcomes: Outcome[]; problem?: Problem }> {
  const outcomes: Outcome[] = [];
  for (let start = 0; start < targets.length; start += COMMANDS_PER_REQUEST) {
    const batch = targets.slice(start, start + COMMANDS_PER_REQUEST);
    const commands = batch.map((target) => ({ command, target }));
    try {
      const headers = { ...HEADERS, "Content-Type": "application/json; charset=utf-8" };
      const response = await fetch(toUrl(folder, "/"), { method: "POST", headers, body: JSON.stringify({ commands }) });
      const body = await response.text();
      const told = parseBody(body);
      const results = response.ok ? told.results : told.errors;
      if (!Array.isArray(results) || !results.every(isOutcome)) {
        return { outcomes, problem: toProblem(response.status, body, texts) };
      }
      outcomes.push(...results);
    } catch {
      return { outcomes, problem: { kind: "network", message: texts.networkLost } };
    }
  }
  return { outcomes };
}

/** What an answer that is no success says. */
export function toProblem(status: number, body: string, texts: ScriptTexts): Problem {
  if (status === 401) return { kind: "login", message: texts.sessionEnded };
  if (status === 412) return { kind: "exists", message: texts.exists };
  const { errors } = parseBody(body);
  const messages = Array.isArray(errors) ? errors.map((error) => error?.message).filter(Boolean) : [];
  return { kind: "refused", message: messages.join(" ") || fill(texts.refused, { status }) };
}

/** Whether there is a file already, or why that cannot be found out. */
export async function findFile(url: string, texts: ScriptTexts): Promise<Problem | undefined> {
  try {
    const { status, ok } = await fetch(url, { method: "HEAD", headers: HEADERS, cache: "no-store" });
    return ok ? toProblem(412, "", texts) : status === 401 ? toProblem(401, "", texts) : undefined;
  } catch {
    return { kind: "network", message: texts.networkLost };
  }
}

/**
 * What stands behind a request that broke off without an answer: a service that refuses before it has read a whole body ends the connection, and
 * the browser then drops the answer. Asking for the file tells.
 */
export async function findProblem(url: string, mayReplace: boolean, texts: ScriptTexts): Promise<Problem> {
  const problem = await findFile(url, texts);
  const mayBeThere = problem?.kind === "exists" && mayReplace;
  return problem === undefined || mayBeThere ? { kind: "refused", message: texts.brokenOff } : problem;
}

function parseBody(body: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}

function isOutcome(value: unknown): value is Outcome {
  const { target, message } = Object(value) as Record<keyof Outcome, unknown>;
  return typeof target === "string" && (message === null || typeof message === "string");
}
