import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createTrashStorage } from "../../../src/storage/trash.ts";
import { createFaultyStorage } from "../../../src/testing/faulty-storage.ts";

/*
 * A process that removes, restores, purges and sweeps on a disk. It kills itself at one of the steps of its storage, or
 * is killed at any moment. Before each purge it says `purging ID`.
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
const storage = createTrashStorage(stepped, { clock, keepSeconds: 0 });

async function membersOf(folder: string): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name } of storage.list(folder)) names.push(`${folder}/${name}`);
  return names.sort();
}

async function entries(): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id } of storage.trash.list("/")) ids.push(id);
  return ids;
}

/** Another process, or a run before this one, may have been faster. */
function ignore(): void {}

for (;;) {
  const ids = await entries();
  const id = ids[below(ids.length)] ?? "";
  const paths = await membersOf("/home");
  const path = paths[below(paths.length)] ?? "";
  switch (below(8)) {
    case 0:
      await storage.trash.sweep();
      break;
    case 1:
      if (ids.length < 4) break;
      process.stdout.write(`purging ${id}\n`);
      await storage.trash.purge(id);
      break;
    case 2:
    case 3:
    case 4:
      await storage.trash.restore(id, undefined).catch(ignore);
      break;
    default:
      await storage.remove(path).catch(ignore);
  }
}
