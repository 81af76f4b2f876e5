import { Request } from "@whatwg-node/fetch";
import { describe, expect, it, vi } from "vitest";
import { createAccountsAuthenticator } from "../../src/auth/accounts/accounts.ts";
import { createFileService } from "../../src/service/service.ts";
import { createFake, type S3Fake } from "../support/s3/fake.ts";
import { AUTHORIZATION } from "../support/served.ts";
import { amount, reportFigure } from "../support/trust.ts";
import { canFail, createStoreFaults, FAILURES, type StoreCall, type StoreFault } from "./s3/failures.ts";
import { LARGE, OPERATIONS, type StoreOperation } from "./s3/operations.ts";

/** Whether every other point is left out. */
const IS_SPARING = amount({ short: 1, ci: 0, long: 0 }) === 1;
/** The same for a large upload, whose points take longer: in CI too. */
const IS_SPARING_LARGE = amount({ short: 1, long: 0 }) === 1;
const faults = createStoreFaults();
const options = { retries: 2, retryDelaySeconds: 0.001, maxRetryDelaySeconds: 0.001, partBytes: 5 * 1024 * 1024 };
let told = 0;
let count = 0;
const tried = new Map<StoreCall, Set<string>>();

describe("a store of which a call fails (SECURITY 7, 14, 24)", () => {
  it.each(OPERATIONS)("leaves $name undone or has it done, says which, and serves on", async (operation) => {
    const course = await follow(operation);
    expect([...course.made].sort(), "the calls that it is made of").toEqual([...operation.uses].sort());
    const problems: string[] = [];
    for (const point of pointsOf(operation)) {
      problems.push(...(await judge(operation, point, course)));
      const [{ call, failure }] = point;
      tried.set(call, (tried.get(call) ?? new Set()).add(failure));
      count += 1;
    }
    expect(problems).toEqual([]);
  });

  it("was tried with each call and each failure", () => {
    expect(tried.size).toBe(12);
    for (const [call, found] of tried) {
      expect([...found].sort(), call).toEqual(FAILURES.filter((failure) => canFail(call, failure)).sort());
    }
    reportFigure({ row: "Failing calls of object stores", what: "points", value: count });
  });
});

type State = ReadonlyMap<string, string>;
type Point = readonly [StoreFault, ...StoreFault[]];

interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly isCut: boolean;
}

/** What an operation is when nothing fails. */
interface Course {
  readonly before: State;
  readonly after: State;
  readonly body: string;
  readonly made: ReadonlySet<StoreCall>;
}

/** A service on a store with some objects. */
async function createEnvironment() {
  faults.strike();
  told = 0;
  const fake = createFake(faults.script, options);
  const tell = () => {
    told += 1;
  };
  const logger = { info: () => undefined, warn: tell, error: tell };
  const accounts = [{ username: "alice", password: "secret", home_folder_path: "/" }];
  const authentication = createAccountsAuthenticator({ accounts, logger: { ...logger, warn: () => undefined } });
  const service = createFileService({ storage: fake.storage, authentication, logger });

  async function send({ method, target, headers = {}, body }: StoreOperation): Promise<Got> {
    const length = body === undefined ? {} : { "content-length": String(body.byteLength) };
    const own = { authorization: AUTHORIZATION, ...length, ...headers };
    const init = { method, headers: own, ...(body !== undefined && { body: body as BodyInit }) };
    const response = await service.fetch(new Request(`http://files.example${target}`, init), {});
    const bytes = await response.arrayBuffer().catch(() => undefined);
    const text = new TextDecoder().decode(bytes);
    return { status: response.status, headers: response.headers, text, isCut: bytes === undefined };
  }

  for (const path of ["/file", "/folder/a", "/folder/b"]) {
    const folder = path.startsWith("/folder") && fake.objects.get("folder/") === undefined;
    if (folder) await fake.storage.createFolder("/folder");
    await fake.storage.write(path, toChunks(`content of ${path}`));
  }
  return { fake, send };
}

async function* toChunks(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

/** Does an operation where nothing fails. */
async function follow(operation: StoreOperation): Promise<Course> {
  const { fake, send } = await createEnvironment();
  const before = stateOf(fake);
  faults.strike();
  const { status, text } = await send(operation);
  expect(status).toBe(operation.status);
  return { before, after: stateOf(fake), body: text, made: faults.struck().made };
}

/** What went wrong at a point, in words; none where all is well. */
async function judge(operation: StoreOperation, point: Point, course: Course): Promise<readonly string[]> {
  const { after, body } = course;
  const { fake, send } = await createEnvironment();
  const got = await struckBy(point, () => send(operation));
  const isDone = got.status === operation.status;
  const state = stateOf(fake);
  const checks: (readonly [isWell: boolean, problem: string])[] = [
    [point.every(({ call }) => faults.struck().failed.has(call)), "it was not made to fail"],
    [isDone || isRefusal(point, got), `it is answered ${got.status} ${got.text}`],
    [isDone || !/ACCESSKEY|store\.test|bucket|ECONN|EPIPE|SlowDown|10\.0/.test(got.text), `it tells ${got.text}`],
    [isDone || told > 0, "the operator was not told"],
    [!isDone || body === got.text || got.isCut, "another body"],
    [isDone ? isSame(state, after) : isOldOrNew(operation, state, course), "the state is neither old nor new"],
    [fake.uploads.size === 0 || mayLeave(point), `${fake.uploads.size} uploads stay`],
  ];
  faults.strike();
  const { status } = await send(operation);
  checks.push([status === operation.status || status === operation.again, `then it is ${status}`]);
  checks.push([isSame(stateOf(fake), after), "then it is not done"]);
  const [{ call, failure, lasts }] = point;
  return checks.filter(([isWell]) => !isWell).map(([, problem]) => `${call}, ${failure}, ${lasts}: ${problem}`);
}

/** The ways in which the calls of an operation can fail: all of them, or every other one. */
function pointsOf({ uses, undoes = [], body }: StoreOperation): readonly Point[] {
  const ways = [
    ...uses.map((call) => [call] as const),
    ...undoes.flatMap(([first, ...calls]) => calls.map((call) => [call, first] as const)),
  ];
  const both = FAILURES.flatMap((failure) =>
    ways.flatMap(([call, ...others]) =>
      canFail(call, failure)
        ? (["once", "on"] as const).map((lasts): Point => [{ call, failure, lasts }, ...others])
        : [],
    ),
  );
  const isSparing = body === LARGE ? IS_SPARING_LARGE : IS_SPARING;
  return isSparing ? both.filter((_, index) => index % 4 === 0 || index % 4 === 3) : both;
}

/** Has calls fail while something is done; where a store is silent time passes more quickly. */
async function struckBy<T>(point: Point, work: () => Promise<T>): Promise<T> {
  faults.strike(...point);
  if (!point.some(({ failure }) => failure === "silent")) return work();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    let isOver = false;
    const working = work().finally(() => {
      isOver = true;
    });
    working.catch(() => undefined);
    while (!isOver) {
      await vi.advanceTimersByTimeAsync(5_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return await working;
  } finally {
    vi.useRealTimers();
  }
}

function stateOf({ objects }: S3Fake): State {
  return new Map([...objects].map(([key, { body }]) => [key, body]));
}

function isSame(state: State, other: State): boolean {
  return state.size === other.size && [...state].every(([key, content]) => other.get(key) === content);
}

function isOldOrNew({ isOfSeveral }: StoreOperation, state: State, { before, after }: Course): boolean {
  if (!isOfSeveral) return isSame(state, before) || isSame(state, after);
  const keys = new Set([...before.keys(), ...after.keys(), ...state.keys()]);
  return [...keys].every((key) => [before.get(key), after.get(key)].includes(state.get(key)));
}

/** 403 is a matter of rights; anything else may pass. */
function isRefusal(point: Point, { status, headers, text }: Got): boolean {
  if (point.some(({ failure }) => failure === "403") && status === 403) return text.includes("denied access");
  return status === 503 && text.includes("is not available") && headers.has("retry-after");
}

/** If the store does not let an upload be ended, or does not list it, the bucket's own rule has to remove it. */
function mayLeave([{ call, failure, lasts }]: Point): boolean {
  const isAsked = call === "DELETE upload" || call === "GET uploads" || call === "GET parts";
  return isAsked && (lasts === "on" || failure === "403" || failure === "200 with an error");
}
