import { describe, expect, it } from "vitest";
import type { StorageAdapter } from "../../../../src/contracts/storage-adapter.ts";
import { createQuotaStorage } from "../../../../src/storage/quota.ts";
import { createTrashStorage, type TrashStorage } from "../../../../src/storage/trash.ts";
import { createVersionsStorage, type VersionsStorage } from "../../../../src/storage/versions.ts";
import { put, readFileText, textChunks } from "../../../../src/testing/storage/content.ts";
import { fillStorage } from "../../../support/storage.ts";
import { entriesOf, pathsIn } from "../trash/setup.ts";
import { createFailing, type FailingStorage, TRIED } from "../trials.ts";
import { textsOf, versionsOf } from "./setup.ts";

const KEY = { owner: "", id: "0".repeat(32) };

interface Opened {
  readonly storage: TrashStorage;
  readonly kept: VersionsStorage;
}

/** Changes that use every verb. Each file has a version before them, and `/old` is in the trash. */
const CHANGES: Readonly<Record<string, (opened: Opened) => Promise<unknown>>> = {
  "a write": ({ storage }) => put(storage, "/a", "a3", { size: 2 }),
  "a write of equal content": ({ storage }) => put(storage, "/a", "a2", { size: 2 }),
  "a write without a length": ({ storage }) => put(storage, "/a", "a3"),
  "a copy over a file": ({ storage }) => storage.copy("/a", "/b", { replace: true }),
  "a move": ({ storage }) => storage.move("/a", "/c"),
  "a move over a file": ({ storage }) => storage.move("/a", "/b", { replace: true }),
  "a move of a folder": ({ storage }) => storage.move("/folder", "/other"),
  "a removal": ({ storage }) => storage.remove("/a"),
  "a removal of a folder": ({ storage }) => storage.remove("/folder"),
  "a removal for good": ({ storage }) => storage.remove("/a", { permanent: true }),
  "a completed upload": async ({ storage }) => {
    await storage.uploads?.create(KEY, "/a", { note: "", expires: new Date(0), size: 2 });
    await storage.uploads?.append(KEY, 0, textChunks("a3"));
    await storage.uploads?.complete(KEY);
  },
  "a restoration of a version": async ({ kept }) => {
    const [version] = await versionsOf(kept, "/a");
    await kept.versions.restore("/a", version?.id ?? "");
  },
  "a restoration from the trash": async ({ storage }) => {
    const [entry] = await entriesOf(storage);
    await storage.trash.restore(entry?.id ?? "");
  },
  "a restoration from the trash to another place": async ({ storage }) => {
    const [entry] = await entriesOf(storage);
    await storage.trash.restore(entry?.id ?? "", "/new/old");
  },
};

/** What calls nothing that another change does not: they are not repeated on a disk. */
const OF_MEMORY: readonly string[] = [
  "a write of equal content",
  "a write without a length",
  "a removal for good",
  "a restoration from the trash to another place",
];

/** Each file in its place with its content and its versions, and what is in the trash. */
async function stateOf({ storage, kept }: Opened, inner: StorageAdapter): Promise<Readonly<Record<string, unknown>>> {
  const files = (await pathsIn(storage)).filter((path) => !path.endsWith("/"));
  const state = await Promise.all(
    files.map(async (path) => [path, await readFileText(storage, path), ...(await textsOf(kept, path))].join(" ")),
  );
  const hidden = (await pathsIn(inner)).filter((path) => path.startsWith("/__svc__/trash/"));
  const paths = hidden.filter((path) => /\/data|\/versions\/.*Z-/.test(path));
  return { files: state, trash: paths.map((path) => path.replace(/\d{8}T\d{9}Z-[0-9a-f]{16}/g, "ID")).sort() };
}

/** Plays a change in a new storage, of which a step may fail. */
async function play(
  inner: StorageAdapter,
  change: (opened: Opened) => Promise<unknown>,
  faulty: FailingStorage,
  isFirst: boolean,
) {
  let now = Date.UTC(2026, 0, 1);
  const counted = createQuotaStorage(faulty.storage, { folders: [{ path: "/", bytes: 10_000 }] });
  const clock = () => (now += 1);
  const kept = createVersionsStorage(counted, { clock });
  const opened = { kept, storage: createTrashStorage(kept, { clock }) };
  const files = { "/a": "a", "/b": "b", "/folder/c": "c", "/folder/sub/d": "d", "/old": "o" };
  await fillStorage(opened.storage, files);
  for (const [path, text] of Object.entries(files)) await put(opened.storage, path, `${text}2`);
  await opened.storage.remove("/old");
  // It is the same before each trial.
  const before = isFirst ? await stateOf(opened, inner) : undefined;
  faulty.arm();
  const isDone = await change(opened).then(
    () => true,
    () => false,
  );
  const steps = faulty.disarm();
  now += 4_000_000;
  for (let sweeps = 0; sweeps < 2; sweeps += 1) {
    await kept.versions.sweep();
    await opened.storage.trash.sweep();
    now += 4_000_000;
  }
  const records = (await pathsIn(inner)).filter((path) => path.startsWith("/__svc__/versions-moves/2"));
  const left = (await pathsIn(inner)).filter((path) => !path.endsWith("/") && !path.endsWith("info.json"));
  return { before, after: await stateOf(opened, inner), isDone, steps, records, left, quota: counted.quota };
}

describe.each(TRIED)("a storage with versions %s, if a step below it fails", (where, create, failable) => {
  const changes = Object.entries(CHANGES).filter(([name]) => where === "in memory" || !OF_MEMORY.includes(name));
  it.each(changes)("has the former state or the new one: %s", async (_, change) => {
    function playIn(inner: StorageAdapter, failing: number) {
      return play(inner, change, createFailing(inner, failable, failing), failing === 0);
    }
    const whole = await playIn(create(), 0);
    expect(whole.isDone).toBe(true);
    for (let failing = 1; failing <= whole.steps; failing += 1) {
      const { after, isDone, records, left, quota } = await playIn(create(), failing);
      const message = `step ${failing} of ${whole.steps}`;
      if (isDone) expect(after, message).toEqual(whole.after);
      else expect([whole.before, whole.after], message).toContainEqual(after);
      expect(records, message).toEqual([]);
      expect(await quota.recount("/"), message).toMatchObject({ files: left.length });
    }
  });
});
