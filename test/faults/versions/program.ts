import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createQuotaStorage } from "../../../src/storage/quota.ts";
import { createTrashStorage } from "../../../src/storage/trash.ts";
import { createVersionsStorage } from "../../../src/storage/versions.ts";
import { createFaultyStorage } from "../../../src/testing/faulty-storage.ts";

/*
 * A process that writes, moves, removes, restores and sweeps files with versions on a disk. It kills itself at one of
 * the steps of its storage, or is killed at any moment. After each write it says `wrote NAME TEXT`.
 */

const [root = "", seed = "", steps = "", start = ""] = process.argv.slice(2);
let state = Number(seed);
let left = Number(steps);

function below(limit: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}

const disk = createDiskStorage({ root, durability: "rename" });
const stepped = createFaultyStorage(disk, ({ step }) => {
  if (step !== "call" && step !== "response") return undefined;
  left -= 1;
  if (left === 0) process.kill(process.pid, "SIGKILL");
  return undefined;
});
/** An hour passes in a second, from the start of the test: so a sweep removes what a crash has left. */
const clock = (): number => Number(start) + (Date.now() - Number(start)) * 3600;
const kept = createVersionsStorage(createQuotaStorage(stepped), { clock, keep: 10_000 });
const storage = createTrashStorage(kept, { clock, keepSeconds: 0 });

/** The files: `a` is at `/home/a`, at `/home/moved/a`, or in the trash. */
const NAMES = ["a", "b", "c"];

async function* content(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

async function find(name: string): Promise<string | undefined> {
  for (const path of [`/home/${name}`, `/home/moved/${name}`]) {
    if ((await storage.stat(path)) !== undefined) return path;
  }
  return undefined;
}

async function restoreFromTrash(name: string): Promise<void> {
  for await (const { id, path } of storage.trash.list("/home")) {
    if (path.endsWith(`/${name}`)) await storage.trash.restore(id);
  }
}

async function restoreVersion(path: string): Promise<void> {
  for await (const { id } of kept.versions.list(path))
    if (below(3) === 0) return void (await kept.versions.restore(path, id));
}

for (;;) {
  const name = NAMES[below(NAMES.length)] ?? "";
  const path = await find(name);
  if (path === undefined) {
    await restoreFromTrash(name);
    continue;
  }
  switch (below(10)) {
    case 0:
      await kept.versions.sweep();
      await storage.trash.sweep();
      break;
    case 1:
    case 2:
      await storage.move(path, path === `/home/${name}` ? `/home/moved/${name}` : `/home/${name}`);
      break;
    case 3:
    case 4:
      await storage.remove(path);
      break;
    case 5:
      await restoreVersion(path);
      break;
    default: {
      const text = `${below(2 ** 31)}`;
      await storage.write(path, content(text), { size: text.length });
      process.stdout.write(`wrote ${name} ${text}\n`);
    }
  }
}
