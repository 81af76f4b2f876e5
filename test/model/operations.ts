import fc from "fast-check";

/**
 * The clients. Each has a home; all of them share a folder, which alice may change, bob read, and carol put something
 * into.
 */
export const USERS = ["alice", "bob", "carol"] as const;
export type User = (typeof USERS)[number];

/**
 * What a request demands of the file that is there; `current` and `unchanged` name its entity-tag, by If-Match and
 * If-None-Match.
 */
export const CONDITIONS = ["none", "absent", "present", "current", "former", "unchanged"] as const;
export type Condition = (typeof CONDITIONS)[number];

/** A folder command (4.3). */
export interface Command {
  readonly command: "delete" | "create-folder" | "create-folder-if-missing";
  readonly target: string;
}

interface OnPath<Kind extends string> {
  readonly kind: Kind;
  /** The client's own, without slashes around; the empty one is its root. */
  readonly path: string;
}

export interface Put extends OnPath<"put"> {
  readonly size: number;
  readonly condition: Condition;
  /** Whether its content comes as announced. */
  readonly body: "whole" | "short" | "broken";
}

export interface Get extends OnPath<"get"> {
  readonly condition: Condition;
  readonly range: readonly [first: number, more: number] | null;
}

export interface Delete extends OnPath<"delete"> {
  readonly condition: Condition;
}

interface Commands extends OnPath<"commands"> {
  readonly commands: readonly Command[];
}

interface Upload extends OnPath<"upload"> {
  readonly files: readonly { readonly name: string; readonly size: number }[];
}

/** What a client asks for of its files. */
export type FileAct =
  | Put
  | Get
  | OnPath<"head">
  | OnPath<"list">
  | OnPath<"make-folder">
  | Delete
  | OnPath<"delete-folder">
  | Commands
  | Upload;

/** What a client asks for of its account. */
export type AccountAct =
  | { readonly kind: "login"; readonly isRight: boolean }
  | { readonly kind: "change-password"; readonly isRight: boolean }
  | { readonly kind: "logout" };

export type Act = FileAct | AccountAct;

/** What goes wrong on the way, at the first step of this kind behind `skip` others of it. */
export interface Fault {
  readonly what: "unavailable" | "no-space" | "denied" | "defect" | "delay" | "hang" | "short" | "cut" | "abort";
  /** `lost`: a change is done, and its answer on the way. */
  readonly step: "any" | "chunk" | "end" | "lost";
  readonly skip: number;
}

export interface Operation {
  readonly user: User;
  /** How it says who it is: by Basic, by a session of its own if it has one, or by one that has ended. */
  readonly means: "basic" | "session" | "ended";
  readonly variant: "json" | "webdav";
  readonly act: Act;
  readonly fault: Fault | null;
}

/** A line for the message of a failure. */
export function describeOperation({ user, means, variant, act, fault }: Operation): string {
  const { kind, ...rest } = act;
  const wrong = fault === null ? "" : `, ${fault.what} at ${fault.step} ${fault.skip}`;
  return `${user} (${means}, ${variant}) ${kind} ${JSON.stringify(rest)}${wrong}`;
}

/** Where a file is, mostly: `d` and what is in it are folders as a rule, `a` and `b` files, and nothing is at `x`. */
const filePath = fc
  .tuple(fc.constantFrom("", "", "", "", "d/", "d/", "d/", "d/d/", "a/", "x/"), fc.constantFrom(..."aaaabbd"))
  .map((parts) => parts.join(""));
const folderPath = fc.constantFrom("d", "d", "d", "d/d", "d/d", "e", "e", "d/e", "d/e", "a", "x/e");

/** Where everybody's folder shows: carol has it elsewhere. */
export const SHARED: Readonly<Record<User, string>> = { alice: "shared", bob: "shared", carol: "drop" };

const condition = fc.oneof(
  { arbitrary: fc.constant("none" as const), weight: 5 },
  { arbitrary: fc.constantFrom(...CONDITIONS), weight: 4 },
);
const size = fc.constantFrom(0, 1, 40, 40, 5000, 70_000, 200_000);
const fault: fc.Arbitrary<Fault> = fc.oneof(
  {
    arbitrary: fc.record({
      what: fc.constantFrom("unavailable", "no-space", "denied", "defect", "hang", "abort", "delay"),
      step: fc.constant("any" as const),
      skip: fc.nat(6),
    }),
    weight: 5,
  },
  {
    arbitrary: fc.record({
      what: fc.constantFrom("unavailable", "defect", "hang", "abort"),
      step: fc.constantFrom("lost", "lost", "chunk", "end"),
      skip: fc.constantFrom(0, 0, 1),
    }),
    weight: 4,
  },
  {
    arbitrary: fc.record({
      what: fc.constantFrom("short", "cut"),
      step: fc.constant("chunk" as const),
      skip: fc.constantFrom(0, 0, 1),
    }),
    weight: 1,
  },
);

/** An act on the home, or the shared folder, of a user. */
function actOn(user: User, isShared: boolean): fc.Arbitrary<Act> {
  const toOwn = (inside: string): string => (isShared ? `${SHARED[user]}/${inside}` : inside);
  const file = fc.oneof({ arbitrary: filePath.map(toOwn), weight: 14 }, fc.constant(SHARED[user]));
  const top = fc.constantFrom(isShared ? SHARED[user] : "", SHARED[user], "");
  const folder = fc.oneof({ arbitrary: folderPath.map(toOwn), weight: 5 }, { arbitrary: top, weight: 2 });
  const made = fc.oneof({ arbitrary: folderPath.map(toOwn), weight: 12 }, top);
  const target = fc.constantFrom("a", "b", "d", "e", "e", SHARED[user]);
  const command = fc.constantFrom<Command["command"]>("delete", "create-folder", "create-folder-if-missing");
  const body = fc.constantFrom(...Array<"whole">(8).fill("whole"), "short", "broken");
  const range = fc.option(fc.tuple(fc.nat(60), fc.nat(6000)), { freq: 2 });
  const upload = fc.record({ name: fc.constantFrom("a", "a", "b", "b", "c", "d", SHARED[user]), size });
  return fc.oneof(
    { arbitrary: fc.record({ kind: fc.constant("put"), path: file, size, condition, body }), weight: 8 },
    { arbitrary: fc.record({ kind: fc.constant("get"), path: file, condition, range }), weight: 5 },
    { arbitrary: fc.record({ kind: fc.constant("head"), path: file }), weight: 1 },
    { arbitrary: fc.record({ kind: fc.constant("list"), path: folder }), weight: 3 },
    { arbitrary: fc.record({ kind: fc.constant("make-folder"), path: made }), weight: 5 },
    { arbitrary: fc.record({ kind: fc.constant("delete"), path: file, condition }), weight: 3 },
    { arbitrary: fc.record({ kind: fc.constant("delete-folder"), path: made }), weight: 1 },
    {
      arbitrary: fc.record({
        kind: fc.constant("commands"),
        path: folder,
        commands: fc.array(fc.record({ command, target }), { minLength: 1, maxLength: 2 }),
      }),
      weight: 2,
    },
    {
      arbitrary: fc.record({
        kind: fc.constant("upload"),
        path: folder,
        files: fc.uniqueArray(upload, { minLength: 1, maxLength: 2, selector: (file) => file.name }),
      }),
      weight: 2,
    },
  ) as fc.Arbitrary<Act>;
}

const loginAct: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ kind: fc.constant("login" as const), isRight: fc.constantFrom(true, true, true, false) }),
  fc.record({ kind: fc.constant("logout" as const) }),
);
const passwordAct: fc.Arbitrary<Act> = fc.record({
  kind: fc.constant("change-password" as const),
  isRight: fc.constantFrom(true, true, false),
});

function operationOf(act: (user: User) => fc.Arbitrary<Act>, users: readonly User[] = USERS): fc.Arbitrary<Operation> {
  return fc.constantFrom(...users).chain((user) =>
    fc.record({
      user: fc.constant(user),
      means: fc.constantFrom(...Array<"basic">(5).fill("basic"), ...Array<"session">(5).fill("session"), "ended"),
      variant: fc.constantFrom("json", "webdav"),
      act: act(user),
      fault: fc.option(fault, { freq: 2 }),
    }),
  ) as fc.Arbitrary<Operation>;
}

/** Who may do more comes more often. */
const SHARERS = ["alice", "alice", "alice", "carol", "carol", "bob"] as const;

/** One operation, of any kind. */
export const anyOperation: fc.Arbitrary<Operation> = fc.oneof(
  { arbitrary: operationOf((user) => actOn(user, false)), weight: 6 },
  { arbitrary: operationOf((user) => actOn(user, true), SHARERS), weight: 6 },
  { arbitrary: operationOf(() => loginAct), weight: 1 },
  { arbitrary: operationOf(() => passwordAct), weight: 1 },
);

/**
 * Operations at once: of one client in its home, or of all in what they share. A change of password ends what others
 * are about, which is no single step.
 */
export const anyBatch: fc.Arbitrary<readonly Operation[]> = fc.oneof(
  {
    arbitrary: fc.constantFrom(...USERS).chain((user) =>
      fc.array(
        operationOf(() => actOn(user, false), [user]),
        { minLength: 2, maxLength: 5 },
      ),
    ),
    weight: 2,
  },
  {
    arbitrary: fc.array(
      fc.oneof(
        { arbitrary: operationOf((user) => actOn(user, true), SHARERS), weight: 6 },
        { arbitrary: operationOf(() => loginAct), weight: 1 },
      ),
      { minLength: 2, maxLength: 5 },
    ),
    weight: 3,
  },
);

/** Several that want the same file at once, most of them under a condition that one of them alone can meet. */
export const anyContest: fc.Arbitrary<readonly Operation[]> = fc
  .tuple(fc.constantFrom("a", "b", "d/a", "d/c"), fc.constantFrom(...SHARERS), fc.boolean())
  .chain(([inside, first, isShared]) => {
    const users = isShared ? SHARERS : [first];
    const contested = (user: User): fc.Arbitrary<Act> => {
      const path = fc.constant(isShared ? `${SHARED[user]}/${inside}` : inside);
      const wanted = fc.constantFrom<Condition>("current", "current", "absent", "none");
      const body = fc.constant("whole");
      return fc.oneof(
        { arbitrary: fc.record({ kind: fc.constant("put"), path, size, condition: wanted, body }), weight: 5 },
        { arbitrary: fc.record({ kind: fc.constant("delete"), path, condition: wanted }), weight: 1 },
        {
          arbitrary: fc.record({ kind: fc.constant("get"), path, condition: wanted, range: fc.constant(null) }),
          weight: 1,
        },
      ) as fc.Arbitrary<Act>;
    };
    return fc.array(operationOf(contested, users), { minLength: 3, maxLength: 5 });
  });
