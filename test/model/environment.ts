import { AsyncLocalStorage } from "node:async_hooks";
import type { StorageAdapter } from "../../src/contracts/storage-adapter.ts";
import { createFileService } from "../../src/service/service.ts";
import { createFaultyStorage } from "../../src/testing/faulty-storage.ts";
import { createKeeper } from "./accounts.ts";
import { explain, type Seen } from "./explain.ts";
import { tellUnexplained } from "./failure-message.ts";
import { createJitter, createRunning, type Running } from "./in-flight.ts";
import { type Asked, membersOf, type State, toPlace } from "./model.ts";
import { describeOperation, type Operation, SHARED, USERS, type User } from "./operations.ts";
import { readSeen, toRequest } from "./requests.ts";
import { fill, walk } from "./stored.ts";

/** A service, its clients' knowledge, and the model of it. */
export interface Environment {
  /** Runs operations at the same time. @throws what the model cannot explain. */
  run(operations: readonly Operation[], seed?: number): Promise<void>;
  /** Has the clients look at all that there is. */
  lookAround(): Promise<void>;
  /** How many operations there were, and how often something went wrong on their way. */
  readonly counts: { operations: number; faults: number };
}

export interface EnvironmentOptions {
  /** Where files are in truth. */
  readonly inner: StorageAdapter;
  /** What the service is given in its place: to see whether the model finds it. */
  readonly wrap?: (inner: StorageAdapter) => StorageAdapter;
  /** What the service thinks that bob may do in the shared folder. */
  readonly bobs?: readonly string[];
  /** Whether the service has a listener for events: downloads and uploads take another way then. */
  readonly isHeard?: boolean;
}

/** The longest time for work that no request waits for, in milliseconds. */
const PATIENCE = 20_000;
const SAID =
  /that a test requested|client of the test has gone|The operation was abandoned|Another storage is mounted here/;

/** Which operation a step belongs to. One for all environments: each costs every promise of the process. */
const context = new AsyncLocalStorage<Running>();

export async function createEnvironment({
  inner,
  wrap,
  bobs,
  isHeard = false,
}: EnvironmentOptions): Promise<Environment> {
  const passwords = new Map<User, string>(USERS.map((user) => [user, `first password of ${user}`]));
  const failures: { readonly details: object; readonly message: string }[] = [];
  const storage = createFaultyStorage(wrap?.(inner) ?? inner, (step) => context.getStore()?.meet(step));
  const service = createFileService({
    storage,
    authentication: createKeeper(passwords, bobs ?? ["allow-read", "allow-list"]),
    logger: {
      info: () => undefined,
      warn: () => undefined,
      error: (details, message) => failures.push({ details, message }),
    },
    limits: { loginAttempts: 1000 },
    ...(isHeard && { onEvent: () => undefined }),
  });
  for (const area of [...USERS, "shared"]) await fill(inner, `/${area}`);
  let state: State = { tree: await walk(inner), passwords: new Map(passwords), sessions: new Map() };
  const known: Known = { versions: 0, ended: new Map(), former: new Map(), contents: new Map() };
  const counts = { operations: 0, faults: 0 };

  async function send(asked: Asked, jitter: () => number): Promise<Seen> {
    const running = createRunning(asked.operation.fault, jitter);
    const { signal } = running.controller;
    const answering = context.run(running, async () => {
      const response = await service.fetch(toRequest(asked, signal));
      return readSeen(response, signal, asked.operation.act);
    });
    const seen = await inTime(answering, `${describeOperation(asked.operation)} was never answered`);
    const fault = running.happened();
    counts.operations += 1;
    if (fault !== undefined) counts.faults += 1;
    return { ...seen, fault };
  }

  async function run(operations: readonly Operation[], seed?: number): Promise<void> {
    const all = operations.map((operation) => ask(operation, state, known));
    const jitter = createJitter(seed);
    const seen = await Promise.all(all.map((asked) => send(asked, jitter)));
    const ended = all.map((asked, index) => ({ asked, seen: seen[index] as Seen }));
    const stored = await walk(inner);
    for (const one of ended) expectMembers(one.asked, one.seen, state, all);
    const next = explain(state, ended, stored);
    if (next === undefined) throw new Error(tellUnexplained(state, ended, stored));
    learn(known, state, next);
    state = next;
    expectAskedFor(failures.splice(0));
  }

  async function lookAround(): Promise<void> {
    const by = { means: "basic", variant: "json", fault: null } as const;
    const looks = USERS.flatMap((user) =>
      [...state.tree].flatMap(([path, { kind }]): Operation[] => {
        const own = toOwnPath(user, path);
        if (own === undefined) return [];
        if (kind === "folder") return [{ ...by, user, act: { kind: "list", path: own } }];
        return [{ ...by, user, act: { kind: "get", path: own, condition: "none", range: null } }];
      }),
    );
    const stored = await walk(inner);
    for (const look of looks) {
      const asked = ask(look, state, known);
      const seen = await send(asked, () => -1);
      expectMembers(asked, seen, state, [asked]);
      if (explain(state, [{ asked, seen }], stored) === undefined) {
        throw new Error(tellUnexplained(state, [{ asked, seen }], stored));
      }
    }
  }

  return { run, lookAround, counts };
}

/** What clients know of what there was. */
interface Known {
  versions: number;
  /** A session that has ended, by its user. */
  readonly ended: Map<User, string>;
  /** An entity-tag that a path had. */
  readonly former: Map<string, string>;
  /** The version that each entity-tag of a path stands for. */
  readonly contents: Map<string, string>;
}

function ask(operation: Operation, state: State, known: Known): Asked {
  const { user, act, means } = operation;
  const sizes = act.kind === "put" ? [act.size] : act.kind === "upload" ? act.files.map(({ size }) => size) : [];
  const contents = sizes.map((size) => {
    known.versions += 1;
    const version = `${known.versions}`;
    return { version, text: `${version} by ${user}; `.repeat(Math.ceil(size / 10)).slice(0, size) };
  });
  const place = "path" in act ? toPlace(user, act.path).path : "";
  const node = state.tree.get(place);
  const current = node?.kind === "file" ? node.etag : undefined;
  const isFormer = "condition" in act && act.condition === "former";
  const tag = (isFormer ? known.former.get(place) : current) ?? '"none-of-ours"';
  const live = [...state.sessions].filter(([, whose]) => whose === user).map(([id]) => id);
  const isBySession = means === "session" || act.kind === "logout" || act.kind === "change-password";
  const session = means === "ended" ? (known.ended.get(user) ?? "0".repeat(32)) : isBySession ? live.at(-1) : undefined;
  const password = state.passwords.get(user) ?? "";
  known.versions += 1;
  const newPassword = `changed when ${known.versions} was due`;
  return { operation, contents, tag, password, newPassword, ...(session !== undefined && { session }) };
}

/** @throws where an entity-tag has stood for another content of the same path. */
function learn({ ended, former, contents }: Known, before: State, after: State): void {
  for (const [id, user] of before.sessions) if (!after.sessions.has(id)) ended.set(user, id);
  for (const [path, node] of before.tree) {
    const now = after.tree.get(path);
    if (node.kind !== "file" || node.etag === undefined) continue;
    if (now?.kind !== "file" || now.etag !== node.etag) former.set(path, node.etag);
  }
  for (const [path, node] of after.tree) {
    if (node.kind !== "file") continue;
    const key = `${path} ${node.etag}`;
    if ((contents.get(key) ?? node.version) !== node.version) throw new Error(`${key} has stood for another content.`);
    contents.set(key, node.version);
  }
}

async function inTime<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(what)), PATIENCE);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function toOwnPath(user: User, path: string): string | undefined {
  const [, area, ...rest] = path.split("/");
  if (area === user) return rest.join("/");
  return area === "shared" && user !== "carol" ? [SHARED[user], ...rest].join("/") : undefined;
}

/**
 * What a listing has shown: the members, or, while others were at work, no other than were there or being made, and all
 * that stayed.
 */
function expectMembers({ operation: { act, user } }: Asked, seen: Seen, state: State, all: readonly Asked[]): void {
  if (act.kind !== "list" || seen.status !== 200 || seen.isGone || seen.isBroken) return;
  const parsed = JSON.parse(seen.text) as { content: { name: string; is_directory: boolean; size: number }[] };
  const shown = parsed.content.map(
    ({ name, is_directory, size }) => `${name} ${is_directory ? "folder" : "file"} ${size}`,
  );
  const expected = membersOf(state, user, act.path);
  const isAlone = all.length === 1;
  const touched = new Set(all.flatMap((asked) => namesTouched(asked.operation)));
  const isFixed = (member: string): boolean => isAlone || !touched.has(member.split(" ")[0] ?? "");
  const [fixedShown, fixedExpected] = [shown.filter(isFixed).sort(), expected.filter(isFixed)];
  const isWhole =
    fixedShown.join() === fixedExpected.join() || (!isAlone && touched.has("d") && act.path.includes("d"));
  const isOnce = new Set(shown.map((member) => member.split(" ")[0])).size === shown.length;
  if (!isWhole || !isOnce) throw new Error(`${user} listed ${act.path}: ${shown}; but there is ${expected}`);
}

function namesTouched({ act }: Operation): readonly string[] {
  if (act.kind === "commands") return act.commands.map(({ target }) => target);
  if (act.kind === "upload") return act.files.map(({ name }) => name);
  return "path" in act && act.kind !== "list" ? act.path.split("/") : [];
}

function expectAskedFor(entries: readonly { readonly details: object; readonly message: string }[]): void {
  for (const { details, message } of entries) {
    const { error } = details as { error?: unknown };
    const text = error instanceof Error ? `${error.message} ${error.cause}` : String(error);
    if (!SAID.test(text))
      throw new Error(`The log has an entry that no test asked for: ${message} ${text}`, { cause: error });
  }
}
