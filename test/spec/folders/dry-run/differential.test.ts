import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FileEvent } from "../../../../src/contracts/events/file-event.ts";
import type { StorageAdapter } from "../../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../../src/storage/memory.ts";
import { mountStorage } from "../../../../src/storage/mount.ts";
import { mountTrash } from "../../../../src/storage/mount-trash.ts";
import { mountVersions } from "../../../../src/storage/mount-versions.ts";
import { createQuotaStorage, type Quota, type QuotaLimit } from "../../../../src/storage/quota.ts";
import { createTrashStorage, type Trash } from "../../../../src/storage/trash.ts";
import { createVersionsStorage, type Versions } from "../../../../src/storage/versions.ts";
import { createMemoryKeyValueStore } from "../../../../src/stores/memory.ts";
import { createTestService } from "../../../support/service.ts";
import { fillStorage } from "../../../support/storage.ts";
import { amount } from "../../../support/trust.ts";

const name = fc.constantFrom("a", "b", "d", "d", "e");
const path = fc.array(name, { minLength: 1, maxLength: 3, size: "max" }).map((names) => `/${names.join("/")}`);
const content = fc
  .integer({ min: 0, max: 12 })
  .chain((size) => fc.constantFrom("x", "y", "z").map((one) => one.repeat(size)));
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 4 });

/** How much more than what is there at first has room. */
const room = fc.record({
  bytes: maybe(fc.integer({ min: -5, max: 15 })),
  files: maybe(fc.integer({ min: -1, max: 4 })),
});
const folderLimit = fc
  .tuple(fc.constantFrom("/", "/alice", "/alice/d", "/alice/d/d", "/alice/e", "/shared"), room)
  .map(([folder, limit]) => ({ path: folder, ...limit }));

const destination = fc
  .tuple(
    fc.boolean(),
    fc.oneof(
      fc.tuple(fc.constantFrom("x", "y", "z")),
      fc.tuple(fc.constantFrom("d", "e", "x"), fc.constantFrom("a", "x", "y")),
      fc.array(name, { minLength: 1, maxLength: 3 }),
    ),
    fc.boolean(),
  )
  .map(([isAbsolute, names, isFolder]) => `${isAbsolute ? "/" : ""}${names.join("/")}${isFolder ? "/" : ""}`);
const command = fc.oneof(
  { weight: 2, arbitrary: fc.record({ command: fc.constantFrom("delete", "delete", "purge"), target: name }) },
  {
    weight: 1,
    arbitrary: fc.record({ command: fc.constantFrom("create-folder", "create-folder-if-missing"), target: name }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      command: fc.constantFrom("copy", "move"),
      target: name,
      destination,
      overwrite: fc.boolean(),
    }),
  },
);
const folderCommands = fc.record({
  at: fc.constantFrom("/home/", "/home/d/", "/home/e/"),
  commands: fc.array(command, { minLength: 1, maxLength: 6 }),
});

/** A step before the commands that are compared. It may be refused. */
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ put: path, content }) },
  { weight: 1, arbitrary: fc.record({ run: folderCommands }) },
);

/** Commands on what the trash or the versions have: `at` chooses among that. */
const kept = fc.array(
  fc.record({
    command: fc.constantFrom("restore", "restore", "purge"),
    at: fc.nat({ max: 7 }),
    to: maybe(path),
  }),
  { minLength: 1, maxLength: 5 },
);

/** Files of any paths, and some that most commands mean. */
const tree = fc
  .tuple(
    fc.uniqueArray(fc.record({ path, content }), { selector: (file) => file.path, maxLength: 6 }),
    fc.array(content, { minLength: 4, maxLength: 4 }),
  )
  .map(([others, contents]) => [
    ...["/a", "/d/a", "/d/d/b", "/e/a"].map((at, index) => ({ path: at, content: contents[index] ?? "" })),
    ...others,
  ]);

const situation = fc.record({
  files: tree,
  shared: tree,
  steps: fc.array(step, { maxLength: 6 }),
  account: room,
  folders: fc.array(folderLimit, { maxLength: 3 }),
  mounted: fc.array(folderLimit, { maxLength: 2 }),
  trash: maybe(
    fc.record({ makeRoom: fc.boolean(), maxBytes: fc.constantFrom(0, 0, 20), keepSeconds: fc.constantFrom(0, 1000) }),
  ),
  versions: maybe(fc.record({ keep: fc.integer({ min: 1, max: 3 }), maxFileBytes: fc.constantFrom(0, 0, 6) })),
  /** How the wrappers are around one another. In the first order trash and versions count in the quota. */
  order: fc.constantFrom("usual", "usual", "usual", "quota outside"),
  /** Whether the folder of the virtual one is another storage, with wrappers of its own. */
  isMounted: fc.boolean(),
  /** Where the account sees the folder. */
  virtual: maybe(fc.constantFrom("/e/b", "/d", "/d/d")),
  hasStore: fc.boolean(),
  /** Whether everything is counted before. Otherwise a dry run may be the first to count. */
  isCounted: fc.boolean(),
  request: fc.oneof(
    { weight: 5, arbitrary: folderCommands },
    { weight: 2, arbitrary: fc.record({ trash: kept }) },
    { weight: 2, arbitrary: fc.record({ versions: kept, of: path }) },
  ),
});
type Situation = typeof situation extends fc.Arbitrary<infer T> ? T : never;

/** A storage with wrappers, and what these offer. */
interface Wrapped {
  readonly storage: StorageAdapter;
  readonly quota?: Quota;
  readonly trash?: Trash;
  readonly versions?: Versions;
}

let now = Date.now();

/** No two times are the same: the order of what is kept in one millisecond is random. */
function clock(): number {
  now += 1;
  return now;
}

interface Room {
  readonly path: string;
  readonly bytes: number | undefined;
  readonly files: number | undefined;
}

/** Returns the limit of a folder that leaves room beside some files. */
function toLimit({ path: folder, bytes, files }: Room, stored: Readonly<Record<string, string>>): QuotaLimit {
  const inside = Object.entries(stored).filter(([at]) => folder === "/" || at.startsWith(`${folder}/`));
  const used = inside.reduce((sum, [, text]) => sum + text.length, 0);
  return {
    path: folder,
    ...(bytes !== undefined && { bytes: Math.max(0, used + bytes) }),
    ...(files !== undefined && { files: Math.max(0, inside.length + files) }),
  };
}

function wrap(
  base: StorageAdapter,
  { trash, versions, order, hasStore }: Situation,
  folders: readonly QuotaLimit[],
): Wrapped {
  const store = hasStore ? { store: createMemoryKeyValueStore() } : {};
  const options = { folders, ...store };
  let wrapped: Wrapped = { storage: base };
  const addQuota = (): void => {
    const storage = createQuotaStorage(wrapped.storage, options);
    wrapped = { ...wrapped, storage, quota: storage.quota };
  };
  if (order === "usual") addQuota();
  if (versions) {
    const storage = createVersionsStorage(wrapped.storage, { ...versions, clock });
    wrapped = { ...wrapped, storage, versions: storage.versions };
  }
  if (trash) {
    const storage = createTrashStorage(wrapped.storage, { ...trash, clock });
    wrapped = { ...wrapped, storage, trash: storage.trash };
  }
  if (order !== "usual") addQuota();
  return wrapped;
}

/** Everything in a storage, with what is hidden in it. */
async function look(storage: StorageAdapter, folder = "/"): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name: own, kind, size, etag, modified } of storage.list(folder)) {
    const at = `${folder === "/" ? "" : folder}/${own}`;
    found.push(`${at} ${kind} ${size} ${etag} ${modified.getTime()}`);
    if (kind === "folder") found.push(...(await look(storage, at)));
  }
  return found.sort();
}

function toFiles(files: readonly { readonly path: string; readonly content: string }[], folder: string) {
  return Object.fromEntries(files.map(({ path: at, content: text }) => [`${folder}${at}`, text]));
}

async function fill(storage: StorageAdapter, files: Readonly<Record<string, string>>): Promise<void> {
  // A file may be where another one has a folder around it.
  for (const [at, text] of Object.entries(files)) await fillStorage(storage, { [at]: text }).catch(() => undefined);
}

async function open(given: Situation) {
  const { folders, mounted, account, isMounted, virtual } = given;
  const [base, other] = [createMemoryStorage(), createMemoryStorage()];
  const beside = toFiles(given.shared, isMounted ? "" : "/shared");
  const files = { ...toFiles(given.files, "/alice"), ...(isMounted ? {} : beside) };
  // What is there at first may be more than a limit allows.
  await fill(base, { ...files, "/alice/": "", "/shared/": "" });
  if (isMounted) await fill(other, beside);
  const main = wrap(
    base,
    given,
    folders.map((one) => toLimit(one, files)),
  );
  const second = wrap(
    other,
    given,
    mounted.map((one) => toLimit({ ...one, path: "/" }, beside)),
  );
  const own = toLimit({ path: "/alice", ...account }, files);
  const real = isMounted ? "/other" : "/shared";
  const { storage, trash, versions }: Wrapped = isMounted
    ? {
        storage: mountStorage({ "/": main.storage, "/other": second.storage }),
        ...(main.trash && { trash: mountTrash({ "/": main.trash, "/other": second.trash }) }),
        ...(main.versions && { versions: mountVersions({ "/": main.versions, "/other": second.versions }) }),
      }
    : main;
  const events: FileEvent[] = [];
  const stores = { locks: createMemoryKeyValueStore(), keys: createMemoryKeyValueStore() };
  const test = await createTestService({
    storage,
    ...(main.quota && { quota: main.quota }),
    ...(trash && { trash }),
    ...(versions && { versions }),
    webdav: { lockStore: stores.locks },
    idempotency: { store: stores.keys },
    groups: {
      DEFAULT_GROUP: {
        permissions: [["allow-full-control"]],
        ...(virtual !== undefined && { virtual_folders: [[virtual, real]] }),
        ...(own.bytes !== undefined && { quota_bytes: own.bytes }),
        ...(own.files !== undefined && { quota_files: own.files }),
      },
    },
    isDescribed: false,
    isWatched: false,
    onEvent: (event) => events.push(event),
  });

  async function post(url: string, commands: readonly object[], headers: Readonly<Record<string, string>> = {}) {
    const body = JSON.stringify({ commands });
    const all = { "content-type": "application/json", ...headers };
    const answer = await test.call("POST", url, { headers: all, body, variant: "json" });
    return { status: answer.status, text: answer.text, isReplayed: answer.header("idempotency-replayed") !== null };
  }

  /** The state of everything, and of what is reserved. */
  async function snapshot() {
    const paths = ["/", "/alice", "/alice/d", "/alice/d/d", "/alice/e", "/shared"];
    const usage = [];
    for (const quota of [main.quota, second.quota])
      for (const at of paths) usage.push(given.isCounted && (await quota?.usage(at)));
    return { trees: [await look(base), await look(other)], usage, events: events.filter(({ id }) => id !== 40007) };
  }

  return { ...test, post, snapshot };
}

/** The outcomes of a response. The ID of an entry of the trash is not known before. */
function toOutcomes({ status, text }: { readonly status: number; readonly text: string }) {
  const { results, errors, ...others } = JSON.parse(text);
  const outcomes = (results ?? errors ?? []).map(({ trash: _, ...one }: Record<string, unknown>) => one);
  return { status, outcomes, others };
}

type Opened = Awaited<ReturnType<typeof open>>;

/** Returns the commands of a situation, with the IDs that are there. */
async function toRequest({ call, post }: Opened, { request }: Situation) {
  if ("commands" in request) return { url: request.at, commands: request.commands };
  const isTrash = "trash" in request;
  const url = isTrash ? "/home/__svc__/trash" : `/home/__svc__/versions?path=${request.of}`;

  async function findIds(): Promise<readonly string[]> {
    const answer = await call("GET", url, { variant: "json" });
    return answer.status === 200 ? answer.json<{ content: { id: string }[] }>().content.map(({ id }) => id) : [];
  }

  if ((await findIds()).length === 0) {
    if (isTrash)
      await post(
        "/home/",
        ["a", "d", "e"].map((target) => ({ command: "delete", target })),
      );
    else for (const body of ["one", "three"]) await call("PUT", `/home${request.of}`, { body });
  }
  const ids = await findIds();
  if (ids.length === 0) return undefined;
  const commands = (isTrash ? request.trash : request.versions).map(({ command: own, at, to }) => ({
    command: own,
    target: ids[at % ids.length] as string,
    ...(isTrash && own === "restore" && to !== undefined && { to }),
  }));
  return { url, commands };
}

describe("a dry run of commands, whatever is around the storage", () => {
  it("has the outcomes of the real run after it, and no effect", { timeout: 600_000 }, async () => {
    let [compared, full] = [0, 0];
    const numRuns = amount({ short: 150, ci: 300, long: 10_000 });
    await fc.assert(
      fc.asyncProperty(situation, async (given) => {
        const opened = await open(given);
        try {
          for (const one of given.steps) {
            if ("put" in one) await opened.call("PUT", `/home${one.put}`, { body: one.content });
            else await opened.post(one.run.at, one.run.commands);
          }
          const request = await toRequest(opened, given);
          if (request === undefined) return;
          const before = await opened.snapshot();
          const key = { "idempotency-key": "one" };
          const dry = await opened.post(request.url, request.commands, { prefer: "dry-run", ...key });
          expect(await opened.snapshot()).toEqual(before);
          const real = await opened.post(request.url, request.commands, key);
          expect(toOutcomes(dry)).toEqual(toOutcomes(real));
          expect(real.isReplayed).toBe(false);
          compared += 1;
          if (real.text.includes("quota is used up")) full += 1;
        } finally {
          await opened.service.close();
        }
      }),
      { numRuns, seed: 20_261_129 },
    );
    // Otherwise most situations would compare nothing.
    expect(compared).toBeGreaterThan(0.5 * numRuns);
    expect(full).toBeGreaterThan(0.05 * numRuns);
  });
});
