import { existsSync, rmSync } from "node:fs";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { ApiCheck } from "./api-check.ts";
import { seeThrough } from "./between.ts";
import { checkAgainst, toCheck, what } from "./check-against.ts";
import type { WireRequest } from "./connection-reader.ts";
import { isDescription, namesItself, toBasePath } from "./description-source.ts";
import type { ServedExchange } from "./server-tap.ts";

/** An exchange of a child process. */
interface LoggedExchange extends ServedExchange {
  readonly pid: number;
}

/** What a child process has logged so far. */
interface Log {
  readonly path: string;
  /** The number of bytes that were read. */
  offset: number;
  /** Exchanges with services whose description is not known yet. */
  waiting: readonly LoggedExchange[];
  readonly checks: Map<string, ApiCheck>;
}

const logs: Log[] = [];

/**
 * Returns variables for the environment of Node child processes. With them, a child logs the requests to its servers,
 * except those from clients in this process, and after the test they are compared with the descriptions of its
 * services.
 */
export async function tapChildren(): Promise<{ readonly NODE_OPTIONS: string; readonly WIRE_LOG: string }> {
  made ??= makeTap();
  const { folder, program } = await made;
  const path = join(folder, `log-${logs.length}`);
  logs.push({ path, offset: 0, waiting: [], checks: new Map() });
  return { NODE_OPTIONS: `--import=${program}`, WIRE_LOG: path };
}

let made: ReturnType<typeof makeTap> | undefined;

/** Writes the program that child processes load. It and its folder are removed when this process ends. */
async function makeTap(): Promise<{ readonly folder: string; readonly program: string }> {
  const folder = await mkdtemp(join(tmpdir(), "fileferry-wire-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, "child-tap.mjs");
  const entry = fileURLToPath(new URL("child-tap.ts", import.meta.url));
  await build({
    entryPoints: [entry],
    outfile: program,
    bundle: true,
    format: "esm",
    platform: "node",
    logLevel: "silent",
  });
  return { folder, program };
}

/** Returns how the exchanges of child processes since the last call differ from their descriptions. */
export async function settleChildren(
  isOwn: (clientPort: number, serverPort: number) => boolean,
): Promise<readonly string[]> {
  const problems = await Promise.all(logs.map((log) => settleLog(log, isOwn)));
  return problems.flat();
}

async function settleLog(log: Log, isOwn: (client: number, server: number) => boolean): Promise<readonly string[]> {
  const fresh = (await readExchanges(log)).flatMap(({ pid, clientPort, ...exchange }) => {
    const seen = seeThrough(exchange);
    return seen === undefined ? [] : [{ ...seen, pid, clientPort }];
  });
  for (const { pid, request, body = new Uint8Array(), ...exchange } of fresh.filter(isDescription))
    log.checks.set(
      `${pid} ${exchange.port} ${toBasePath(request?.target)}`,
      await toCheck(Buffer.from(body).toString()),
    );
  const foreign = fresh.filter(({ clientPort, port }) => !isOwn(clientPort, port));
  const problems: (readonly string[])[] = [];
  const waiting: LoggedExchange[] = [];
  for (const exchange of [...log.waiting, ...foreign]) {
    const check = findCheck(log, exchange);
    if (check === undefined && namesItself(exchange) && !log.waiting.includes(exchange)) waiting.push(exchange);
    else if (check === undefined && namesItself(exchange))
      problems.push([`${what(exchange)} -> nobody tells the description`]);
    else problems.push(checkAgainst(check, exchange));
  }
  log.waiting = waiting;
  return problems.flat();
}

function findCheck({ checks }: Log, { pid, port, request }: LoggedExchange): ApiCheck | undefined {
  const own = checks.get(`${pid} ${port} ${toBasePath(request?.target)}`);
  return own ?? [...checks].find(([key]) => key.startsWith(`${pid} ${port} `))?.[1];
}

async function readExchanges(log: Log): Promise<readonly LoggedExchange[]> {
  if (!existsSync(log.path)) return [];
  const bytes = await readFile(log.path);
  // The last line may be incomplete.
  const end = bytes.lastIndexOf("\n") + 1;
  const lines = bytes.toString("utf8", log.offset, end).split("\n").slice(0, -1);
  log.offset = end;
  return lines.map(toExchange);
}

function toExchange(line: string): LoggedExchange {
  const { request, body, requestBody, ...exchange } = JSON.parse(line) as LoggedLine;
  const asked = request && { ...request, ...(requestBody !== undefined && { requestBody: toBytes(requestBody) }) };
  return { ...exchange, request: asked, body: body === undefined ? undefined : toBytes(body) };
}

interface LoggedLine extends Omit<LoggedExchange, "body"> {
  readonly request: WireRequest | undefined;
  readonly body?: string;
  readonly requestBody?: string;
}

function toBytes(text: string): Uint8Array {
  return Buffer.from(text, "base64");
}
