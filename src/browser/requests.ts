import type { ScriptTexts } from "../contracts/pages/script-texts.ts";
import { fill } from "./format.ts";

/**
 * Why a request failed. `login`: the session has ended. `network`: the service does not respond. `exists`: the file
 * already exists. `refused`: any other reason, which concerns only this request.
 */
export interface Problem {
  readonly kind: "login" | "network" | "exists" | "refused";
  readonly message: string;
}

/** The result of one target of a command. `message` is null for a success. */
export interface CommandResult {
  readonly target: string;
  readonly message: string | null;
  /** The ID of the entry in the trash that the target has become. */
  readonly trash?: string;
}

/**
 * The headers of every request. `X-Requested-With` keeps the browser from opening its own password dialog after a 401.
 * `X-Messages` asks for messages of errors in the language of the page.
 */
export const HEADERS = {
  Accept: "application/json",
  "X-Requested-With": "XMLHttpRequest",
  "X-Messages": "translated",
} as const;

/** More commands in one request take long, even if the service allows them. */
const COMMANDS_PER_REQUEST = 500;

/**
 * The relative URL of a path below the folder of this page. `end` is `/` for a folder. Each name is percent-encoded.
 */
export function toUrl(path: readonly string[], end: "" | "/" = ""): string {
  return `./${path.map(encodeURIComponent).join("/")}${path.length > 0 ? end : ""}`;
}

/**
 * Runs one command on each target in a folder. If there is a problem, `outcomes` has the results before it.
 * `destination`: that of a move or copy; ending in `/`, the folder for all targets.
 */
export async function runCommands(
  folder: readonly string[],
  command: string,
  targets: readonly string[],
  texts: ScriptTexts,
  destination?: string,
): Promise<{ outcomes: CommandResult[]; problem?: Problem }> {
  const commands = targets.map((target) => ({ command, target, ...(destination !== undefined && { destination }) }));
  return sendCommands(toUrl(folder, "/"), commands, texts);
}

/**
 * Sends commands to a URL, at a time as many as the service allows. If there is a problem, `outcomes` has the results
 * before it.
 */
export async function sendCommands(
  url: string,
  commands: readonly object[],
  texts: ScriptTexts,
): Promise<{ outcomes: CommandResult[]; problem?: Problem }> {
  const outcomes: CommandResult[] = [];
  for (let start = 0, size: number; start < commands.length; start += size) {
    const batch = toBatch(commands, start);
    size = batch.size;
    try {
      const headers = { ...HEADERS, "Content-Type": "application/json; charset=utf-8" };
      const response = await fetch(url, { method: "POST", headers, body: batch.body });
      const body = await response.text();
      const parsed = parseBody(body);
      const results = response.ok ? parsed.results : parsed.errors;
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

/** The next commands that the limits of the service allow, which the page has. */
function toBatch(commands: readonly object[], start: number): { readonly size: number; readonly body: string } {
  const { maxCommands, maxJsonBytes } = document.querySelector("main")?.dataset ?? {};
  let size = Math.min(COMMANDS_PER_REQUEST, Number(maxCommands));
  for (;;) {
    const body = JSON.stringify({ commands: commands.slice(start, start + size) });
    if (size < 2 || new Blob([body]).size <= Number(maxJsonBytes)) return { size, body };
    size = Math.floor(size / 2);
  }
}

/** Converts an error response to a problem. */
export function toProblem(status: number, body: string, texts: ScriptTexts): Problem {
  if (status === 401) return { kind: "login", message: texts.sessionEnded };
  if (status === 412) return { kind: "exists", message: texts.exists };
  const { errors } = parseBody(body);
  const messages = Array.isArray(errors) ? errors.map((error) => error?.message).filter(Boolean) : [];
  return { kind: "refused", message: messages.join(" ") || fill(texts.refused, { status }) };
}

/**
 * Checks that nothing is at a URL. Returns the problem `exists` if something is, or the reason why the check failed.
 */
export async function checkFree(url: string, texts: ScriptTexts): Promise<Problem | undefined> {
  try {
    const { status, ok } = await fetch(url, { method: "HEAD", headers: HEADERS, cache: "no-store" });
    return ok ? toProblem(412, "", texts) : status === 401 ? toProblem(401, "", texts) : undefined;
  } catch {
    return { kind: "network", message: texts.networkLost };
  }
}

/**
 * Finds out why an upload ended without a response. If a service rejects a request before it has read the complete
 * body, it closes the connection, and the browser drops the response. A HEAD request for the file gives the reason.
 */
export async function findProblem(url: string, mayReplace: boolean, texts: ScriptTexts): Promise<Problem> {
  const problem = await checkFree(url, texts);
  const mayBeThere = problem?.kind === "exists" && mayReplace;
  return problem === undefined || mayBeThere ? { kind: "refused", message: texts.interrupted } : problem;
}

/** Parses a JSON body. What is no JSON has no members. */
export function parseBody(body: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}

function isOutcome(value: unknown): value is CommandResult {
  const { target, message } = Object(value) as Record<keyof CommandResult, unknown>;
  return typeof target === "string" && (message === null || typeof message === "string");
}
