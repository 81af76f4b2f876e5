import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { readOptions } from "../../remote-auth/authenticator/options.ts";
import {
  type EndpointCase,
  type EndpointCaseContext,
  isPasswordLongEnough,
  isPlayable,
  MIN_PASSWORD_LENGTH,
} from "../../testing/endpoint/case.ts";
import { isTimeout } from "../../testing/endpoint/question.ts";
import { endpointCases } from "../../testing/endpoint-cases.ts";
import { createFailure } from "../failure.ts";
import { colorsOf, escapeText, type Output } from "../log/terminal.ts";
import type { Input } from "../password-input.ts";

/** The flags of `check-auth-endpoint <url>`. */
export interface CheckFlags {
  readonly url: string;
  /** Headers as `Name: value`, which authenticate the service to the endpoint (5.2). */
  readonly header: readonly string[];
  /** `name:password` for HTTP Basic authentication of the service to the endpoint (5.2). */
  readonly basic?: string;
  /** An account that the endpoint knows. */
  readonly user?: string;
  /** The password of the account. If absent, it is read from the standard input. */
  readonly password?: string;
  /** The time limit of a complete response, in seconds. */
  readonly timeout?: number;
}

/** The streams of the command; `process` has them. */
export interface CheckStreams {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
}

type Count = "ok" | "noted" | "failed" | "skipped";

/** After this number of timeouts in a row the command stops: an endpoint that hangs would delay every check. */
const MAX_TIMEOUTS = 2;

const NEEDS = { account: "needs --user and --password", authorization: "needs --header or --basic" } as const;

/**
 * Runs the published cases against an authentication endpoint (4.7). Prints a line after each case, and a summary at
 * the end; never prints a secret. Resolves with the exit status: 1 if a case failed, else 0, also if there are notes.
 * Rejects with a failure of status 2 if a flag is wrong.
 */
export async function checkAuthEndpoint(flags: CheckFlags, streams: CheckStreams): Promise<0 | 1> {
  const { stdout } = streams;
  const colors = colorsOf(stdout);
  let slowest = 0;
  const context: EndpointCaseContext = {
    ...(await toContext(flags, streams)),
    onResponse({ milliseconds }) {
      slowest = Math.max(slowest, milliseconds);
    },
  };
  const counts = { ok: 0, noted: 0, failed: 0, skipped: 0 };
  let timeouts = 0;
  for (const each of endpointCases) {
    if (!isPlayable(each, context)) {
      counts.skipped += 1;
      stdout.write(`${colors.dim("skip")} ${each.name}: ${NEEDS[each.needs ?? "account"]}\n`);
      continue;
    }
    const { problem, note, timedOut, milliseconds } = await play(each, context);
    timeouts = timedOut === true ? timeouts + 1 : 0;
    if (note !== undefined) {
      counts.noted += 1;
      stdout.write(`${colors.yellow("note")} ${each.name}: ${escapeText(note)}\n`);
    } else if (problem === undefined) {
      counts.ok += 1;
      stdout.write(`${colors.green("ok")}   ${each.name} (${milliseconds} ms)\n`);
    } else {
      counts.failed += 1;
      stdout.write(`${colors.red("FAIL")} ${each.name}: ${escapeText(problem)}\n`);
      if (each.vital === true) break;
      if (timeouts === MAX_TIMEOUTS) {
        stdout.write(`stopped: ${MAX_TIMEOUTS} checks in a row had no response within the time limit\n`);
        break;
      }
    }
  }
  stdout.write(`${describeCounts(counts)}${slowest > 0 ? `; the slowest response took ${slowest} ms` : ""}\n`);
  return counts.failed > 0 ? 1 : 0;
}

interface Played {
  /** Why the case failed. */
  readonly problem?: string;
  /** A remark on behaviour that the specification allows. */
  readonly note?: string;
  readonly timedOut?: boolean;
  readonly milliseconds: number;
}

async function play(each: EndpointCase, context: EndpointCaseContext): Promise<Played> {
  const startedAt = Date.now();
  const outcome = await each.run(context).then(
    (note) => (note === undefined ? {} : { note }),
    (error: unknown) => ({ problem: error instanceof Error ? error.message : "failed", timedOut: isTimeout(error) }),
  );
  return { ...outcome, milliseconds: Date.now() - startedAt };
}

function describeCounts({ ok, noted, failed, skipped }: Readonly<Record<Count, number>>): string {
  const unplayed = endpointCases.length - ok - noted - failed - skipped;
  const notes = noted > 0 ? `, ${noted} noted` : "";
  return `${ok} ok${notes}, ${failed} failed, ${skipped} skipped${unplayed > 0 ? `, ${unplayed} not run` : ""}`;
}

async function toContext(flags: CheckFlags, { stdin, stderr }: CheckStreams): Promise<EndpointCaseContext> {
  const { url, header, basic, user, password, timeout } = flags;
  const context = {
    url,
    headers: toHeaders(header),
    ...(basic === undefined ? {} : toBasic(basic)),
    ...(timeout === undefined ? {} : { timeoutSeconds: timeout }),
  };
  try {
    // The options of the authenticator have the rules for these flags.
    readOptions({ ...context, url: [url] });
  } catch (error) {
    throw createFailure(2, [`error: ${(error as Error).message}`]);
  }
  if (user === undefined) {
    if (password !== undefined) throw createFailure(2, ["error: --password needs --user"]);
    return context;
  }
  if (user === "") throw createFailure(2, ["error: --user must not be empty"]);
  const source = password === undefined ? "the password on standard input" : "--password";
  const account = { username: user, password: password ?? (await readPassword(stdin, stderr)) };
  if (account.password === "") throw createFailure(2, [`error: ${source} must not be empty`]);
  if (!isPasswordLongEnough(account.password)) {
    throw createFailure(2, [
      `error: ${source} must have ${MIN_PASSWORD_LENGTH} characters or more: the checks send parts of it`,
    ]);
  }
  return { ...context, account };
}

/** A malformed line may be a secret, so problems name its number only. */
function toHeaders(lines: readonly string[]): Readonly<Record<string, string>> {
  const fields = new Map<string, string>();
  for (const [index, line] of lines.entries()) {
    const colon = line.indexOf(":");
    if (colon < 1) throw createFailure(2, [`error: --header (number ${index + 1}): expected 'Name: value'`]);
    const name = line.slice(0, colon);
    if (fields.has(name)) throw createFailure(2, [`error: --header (number ${index + 1}): is given twice`]);
    fields.set(name, line.slice(colon + 1).trim());
  }
  return Object.fromEntries(fields);
}

function toBasic(text: string): { username: string; password: string } {
  const colon = text.indexOf(":");
  if (colon < 1) throw createFailure(2, ["error: --basic: expected name:password"]);
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Reads the first line of the input. On a terminal it prompts for the line and does not echo it. */
async function readPassword(input: Input, prompts: Output): Promise<string> {
  const isTerminal = input.isTTY === true;
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const editor = createInterface({ input, output: silent, terminal: isTerminal, historySize: 0 });
  if (isTerminal) prompts.write("Password: ");
  try {
    for await (const line of editor) return line;
    return "";
  } finally {
    editor.close();
    if (isTerminal) prompts.write("\n");
  }
}
