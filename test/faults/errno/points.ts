import { readZip } from "../../unit/archive/read-zip.ts";
import type { Environment, Got, State } from "./environment.ts";
import {
  type Errno,
  type Fault,
  type FileCall,
  hasEffect,
  openDescriptors,
  setCloning,
  strike,
  struck,
} from "./failing-calls.ts";
import type { Operation } from "./operations.ts";

/** The errors that Linux has for files, and what clients get for each (CONTRACT 1). */
type Refusal = readonly [status: number, text: string];
const DENIED: Refusal = [403, "The storage denied access."];
const FULL: Refusal = [507, "The storage is full."];
const AWAY: Refusal = [503, "The storage is not available."];
export const REFUSALS: ReadonlyMap<Errno, Refusal> = new Map<Errno, Refusal>([
  ["EIO", AWAY],
  ["ENOSPC", FULL],
  ["EDQUOT", FULL],
  ["EROFS", DENIED],
  ["EACCES", DENIED],
  ["EPERM", DENIED],
  ["EMFILE", AWAY],
  ["ENFILE", AWAY],
  ["ENOMEM", AWAY],
  ["EBUSY", AWAY],
  ["ESTALE", AWAY],
  ["EINTR", AWAY],
]);

/** Those that come when something may have been done already; the others are found before. */
const LATE: readonly Errno[] = ["EIO", "ENOSPC", "EDQUOT", "EBUSY", "ESTALE", "EINTR"];

/**
 * What a change is not done without, or not kept; but for what forbids links, and for folders that need not be synced.
 */
const NEEDED: readonly FileCall[] = [
  ...(["open new file", "write", "futimes", "fsync file", "close file", "link", "rename"] as const),
  ...(["fsync folder", "mkdir", "lchown"] as const),
];
const SPARED: readonly `${FileCall} ${Errno}`[] = ["link EPERM", "link EACCES", "fsync folder EPERM"];

/** One trial: some calls fail while an operation is done. */
export interface Point {
  readonly operation: Operation;
  readonly isQuick: boolean;
  /** The first is what is tried; a second one keeps what it left from being taken back. */
  readonly faults: readonly [Fault, ...Fault[]];
}

/** What an operation is when nothing fails. */
export interface Course {
  readonly before: State;
  readonly after: State;
  readonly body: Uint8Array | undefined;
  /** How often each call is made at once, and in other threads. */
  readonly counts: Readonly<Record<"quick" | "slow", ReadonlyMap<FileCall, number>>>;
}

/** Does an operation in both ways, where nothing fails. */
export async function follow(environment: Environment, operation: Operation): Promise<Course> {
  environment.reset();
  const before = environment.look().state;
  const run = async (isQuick: boolean) => {
    environment.reset();
    environment.setPace(isQuick);
    setCloning(operation.isCloned === true);
    strike();
    const got = await environment.send(operation);
    const { counts } = struck();
    if (got.status !== operation.status) throw new Error(`${operation.name}: ${got.status}`);
    return { counts, body: got.body };
  };
  const quick = await run(true);
  const slow = await run(false);
  return {
    before,
    after: environment.look().state,
    body: slow.body,
    counts: { quick: quick.counts, slow: slow.counts },
  };
}

/** All trials of an operation, those of one call and one error together. */
export function* pointsOf(operation: Operation, { counts }: Course): Generator<readonly Point[]> {
  for (const errno of REFUSALS.keys()) {
    for (const call of operation.uses) {
      yield (["quick", "slow"] as const).flatMap((pace) =>
        faultsOf(call, errno, counts[pace].get(call) ?? 0).map((fault) => ({
          operation,
          isQuick: pace === "quick",
          faults: [fault] as const,
        })),
      );
    }
    if (operation.undoes === undefined) continue;
    const [failing, undoing] = operation.undoes;
    const first: Fault = { call: failing, errno: "EIO", nth: 1, lasts: "on", effect: "before" };
    const undo: Fault = { call: undoing, errno, nth: 1, lasts: "on", effect: "before" };
    yield [true, false].map((isQuick) => ({ operation, isQuick, faults: [undo, first] as const }));
  }
}

/** The ways in which a call that is made so often can fail with an error. */
export function faultsOf(call: FileCall, errno: Errno, count: number): readonly Fault[] {
  if (count === 0) return [];
  // How many reads and writes there are depends on the time that they take.
  const later = call === "read" || call === "write" ? Math.min(2, count) : count;
  return [...new Set([1, later])].flatMap((nth): readonly Fault[] => {
    const fault = { call, errno, nth } as const;
    const early = { ...fault, effect: "before" } as const;
    const isLate = hasEffect(call) && LATE.includes(errno);
    const late = isLate ? [{ ...fault, lasts: "once", effect: "after" } as const] : [];
    return [{ ...early, lasts: "once" }, { ...early, lasts: "on" }, ...late];
  });
}

/** What went wrong at a point, in words; none where all is well. */
export async function judge(environment: Environment, course: Course, point: Point): Promise<readonly string[]> {
  const { operation, isQuick, faults } = point;
  environment.reset();
  environment.setPace(isQuick);
  setCloning(operation.isCloned === true);
  environment.takeTold();
  const open = openDescriptors();
  strike(...faults);
  const got = await environment.send(operation);
  const { fired } = struck();
  const isClosed = await haveClosed(open);
  strike();
  const { state } = environment.look();
  const isDone = got.status === operation.status;
  const problems = [
    ...faults.filter(({ call }) => !fired.has(call)).map(({ call }) => `${call} was not made to fail`),
    ...(isDone ? [] : judgeRefusal(point, got, environment, state)),
    ...(isDone && isNeeded(point, course) ? ["says that it is done"] : []),
    ...(isDone && operation.method === "GET" ? judgeBody(point, got, course) : []),
    ...judgeState(point, isDone, state, course),
    ...(isClosed ? [] : ["a descriptor is open"]),
    ...(environment.takeTold() > 0 || isDone || REFUSALS.get(faults[0].errno) === FULL
      ? []
      : ["the operator was not told"]),
    ...(await judgeRest(environment, course, point, state)),
  ];
  return problems.map((problem) => `${describePoint(point)}: ${problem} (${got.status})`);
}

/** Whether an operation cannot be done with these faults. */
function isNeeded({ operation, faults: [{ call, errno }] }: Point, { before, after }: Course): boolean {
  const isChange = [...after].some(([path, content]) => before.get(path) !== content);
  const isSpared = operation.spared?.includes(call) ?? false;
  return isChange && NEEDED.includes(call) && !isSpared && !SPARED.includes(`${call} ${errno}`);
}

/** Some close behind the answer. */
async function haveClosed(but: number): Promise<boolean> {
  for (let round = 0; round < 200 && openDescriptors() > but; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, round < 20 ? 0 : 5));
  }
  return openDescriptors() <= but;
}

function judgeRefusal(point: Point, got: Got, { root }: Environment, state: State): readonly string[] {
  const { operation, faults } = point;
  const { status, headers, body } = got;
  // What it replaces could not come back either: something has changed.
  const isAway = operation.replaces !== undefined && isStuck(point) && !state.has(operation.replaces);
  const refusals = [...faults.map(({ errno }) => REFUSALS.get(errno)), ...(isAway ? [AWAY] : [])];
  const statuses = [...refusals.map((refusal) => refusal?.[0]), operation.refused?.status];
  const texts = [...refusals.map((refusal) => refusal?.[1]), operation.refused?.text];
  const text = `${Buffer.from(body ?? [])}${[...headers].join("\n")}`;
  const told = [root, "/proc/", ".fileferry-", "injected", "Internal", ...faults.map(({ errno }) => errno)];
  return [
    ...(statuses.includes(status) ? [] : [`is not ${statuses.join(" or ")}`]),
    ...(texts.some((one) => one !== undefined && text.includes(one)) ? [] : [`says ${text}`]),
    ...(status === 503 && headers.get("retry-after") === null ? ["has no Retry-After"] : []),
    ...told.filter((word) => text.includes(word)).map((word) => `tells of ${word}`),
  ];
}

/** A body that came whole is the right one; an archive may lack what cannot be read by right. */
function judgeBody({ operation, faults: [{ errno }] }: Point, { body }: Got, course: Course): readonly string[] {
  if (body === undefined || Buffer.compare(body, course.body ?? Buffer.of()) === 0) return [];
  if (!operation.name.includes("archive") || REFUSALS.get(errno) !== DENIED) return ["another body"];
  const contents = (bytes: Uint8Array) => readZip(bytes).map((member) => `${member.name}\n${member.content()}`);
  const whole = contents(course.body ?? Buffer.of());
  return contents(body).every((member) => whole.includes(member)) ? [] : ["another member"];
}

/** Whether a call fails again and again, so that what undoes the operation may fail as well. */
function isStuck({ faults }: Point): boolean {
  return faults.some(({ lasts }) => lasts === "on");
}

function judgeState(point: Point, isDone: boolean, state: State, course: Course): readonly string[] {
  const { operation } = point;
  const { before, after } = course;
  const isAt = (path: string, of: State) => state.get(path) === of.get(path);
  const paths = [...new Set([...state.keys(), ...before.keys(), ...after.keys()])];
  const isNew = paths.every((path) => isAt(path, after));
  if (isDone) return isNew ? [] : ["is not the new state"];
  if (operation.isOfSeveral) {
    const isReplaced = (path: string) => isStuck(point) && path === operation.replaces && !state.has(path);
    const odd = paths.filter((path) => !isAt(path, before) && !isAt(path, after) && !isReplaced(path));
    return odd.map((path) => `${path} is neither old nor new`);
  }
  return isNew || paths.every((path) => isAt(path, before)) ? [] : ["is neither the old state nor the new one"];
}

/** What clients find then, and what they can do. */
async function judgeRest(
  environment: Environment,
  { after }: Course,
  point: Point,
  state: State,
): Promise<readonly string[]> {
  const { operation } = point;
  const problems: string[] = [];
  const headers = { accept: "application/json" };
  for (const folder of ["", "tree/", "tree/inner/"]) {
    if (folder !== "" && !state.has(folder.slice(0, -1))) continue;
    const { status, body } = await environment.send({ method: "GET", target: `/home/${folder}`, headers });
    const isClean = status === 200 && !Buffer.from(body ?? []).includes(".fileferry-");
    if (!isClean) problems.push(`then ${folder || "the root"} cannot be listed`);
  }
  if (environment.look().unfinished > 0) problems.push("something unfinished stays");
  const { retriedWith } = operation;
  const { status } = await environment.send({ ...operation, ...(retriedWith && { headers: retriedWith }) });
  const retried = environment.look();
  const isNew = [...after].every(([path, content]) => retried.state.get(path) === content);
  const halfway = isStuck(point) ? operation.halfway : undefined;
  if (![operation.status, operation.again, halfway].includes(status)) problems.push(`then it is ${status}`);
  if (!isNew || retried.state.size !== after.size) problems.push("then it is not done");
  return problems;
}

/** A point as a line of a report. */
function describePoint({ operation, isQuick, faults: [{ call, errno, nth, lasts, effect }] }: Point): string {
  const way = isQuick ? "at once" : "in a thread";
  return `${operation.name}, ${way}: ${errno} ${effect} ${call} ${nth}${lasts === "on" ? " and on" : ""}`;
}
