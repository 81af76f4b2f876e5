import { turn } from "../contracts/member-batches.ts";

/** So many members are sorted, or merged, before others have their turn: a folder may have 100,000. */
const RUN = 4096;

/** Members in the order of their names (UTF-16 code units), with turns for others between: runs are sorted, and merged by twos. */
export async function sortByName<T extends { readonly name: string }>(members: readonly T[]): Promise<T[]> {
  if (members.length <= RUN) return [...members].sort(compare);
  let runs: T[][] = [];
  for (let start = 0; start < members.length; start += RUN) {
    runs.push(members.slice(start, start + RUN).sort(compare));
    await turn();
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let index = 0; index < runs.length; index += 2)
      merged.push(await merge(runs[index] ?? [], runs[index + 1] ?? []));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge<T extends { readonly name: string }>(one: readonly T[], other: readonly T[]): Promise<T[]> {
  const merged: T[] = [];
  let [left, right] = [0, 0];
  for (;;) {
    const [first, second] = [one[left], other[right]];
    if (first === undefined && second === undefined) return merged;
    if (second === undefined || (first !== undefined && compare(first, second) <= 0)) {
      merged.push(first as T);
      left += 1;
    } else {
      merged.push(second);
      right += 1;
    }
    if (merged.length % RUN === 0) await turn();
  }
}

function compare(one: { readonly name: string }, other: { readonly name: string }): number {
  if (one.name === other.name) return 0;
  return one.name < other.name ? -1 : 1;
}
