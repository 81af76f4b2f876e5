/** How many members of a folder are gone through before others have their turn. */
export const MEMBERS_PER_TURN = 1000;

/** Lets whatever else waits have its turn: promises alone would keep going without it. */
export function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
