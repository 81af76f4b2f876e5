import { turn } from "../contracts/member-batches.ts";

/** So many members are sorted, or merged, before others have their turn: a folder may have 100,000. */
const RUN = 4096;

interface Named {
  readonly name: string;
}

/**
 * Members in the order of their names (UTF-16 code units), with turns for others between: runs are sorted, and merged by twos, from one
 * array to the other and back. Two arrays are all that it takes.
 */
export async function sortByName<T extends Named>(members: readonly T[]): Promise<T[]> {
  if (members.length <= RUN) return [...members].sort(compare);
  let from: T[] = [];
  for (let start = 0; start < members.length; start += RUN) {
    from.push(...members.slice(start, start + RUN).sort(compare));
    await turn();
  }
  let to = [...from];
  for (let length = RUN; length < members.length; length *= 2) {
    await mergeRuns(from, to, length);
    [from, to] = [to, from];
  }
  return from;
}

/** Merges each two runs of this length into one, at the same places of the other array. */
async function mergeRuns<T extends Named>(from: readonly T[], to: T[], length: number): Promise<void> {
  for (let start = 0; start < from.length; start += 2 * length) {
    const middle = Math.min(start + length, from.length);
    const end = Math.min(start + 2 * length, from.length);
    let [left, right] = [start, middle];
    for (let at = start; at < end; at++) {
      const isLeft = right === end || (left < middle && compare(from[left] as T, from[right] as T) <= 0);
      to[at] = from[isLeft ? left++ : right++] as T;
      if (at % RUN === 0) await turn();
    }
  }
}

function compare(one: Named, other: Named): number {
  if (one.name === other.name) return 0;
  return one.name < other.name ? -1 : 1;
}
