/** How much time accounts have used of late. */
export interface RecentUsage {
  /** Adds milliseconds. */
  add(account: string, milliseconds: number): void;
  /** Returns the entry of the account that has used the least time. */
  findLeast<T>(accounts: ReadonlyMap<string, T>): [string, T];
}

/** After this time, in milliseconds, what an account has used counts half. */
const HALF_LIFE_MS = 1000;
/** Less than this, in milliseconds, is forgotten. */
const LEAST_USED_MS = 0.1;

/** Makes the record of what accounts use. */
export function createRecentUsage(): RecentUsage {
  const used = new Map<string, number>();
  let halvedAt = performance.now();

  const usedBy = (account: string): number => used.get(account) ?? 0;

  function add(account: string, milliseconds: number): void {
    forget();
    used.set(account, usedBy(account) + milliseconds);
  }

  function forget(): void {
    const times = Math.floor((performance.now() - halvedAt) / HALF_LIFE_MS);
    if (times === 0) return;
    halvedAt += times * HALF_LIFE_MS;
    for (const [account, milliseconds] of used) {
      const left = milliseconds / 2 ** times;
      if (left < LEAST_USED_MS) used.delete(account);
      else used.set(account, left);
    }
  }

  function findLeast<T>(accounts: ReadonlyMap<string, T>): [string, T] {
    return [...accounts].reduce((least, entry) => (usedBy(entry[0]) < usedBy(least[0]) ? entry : least));
  }

  return { add, findLeast };
}
