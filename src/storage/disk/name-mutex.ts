/** The last of those who wait for a name, each name by its folder's identity. */
const lastInTurn = new Map<string, Promise<unknown>>();

/** Runs an action alone among all that this process does in turn to one name of one folder. */
export async function inTurn<T>(folder: { identity(): string }, name: string, action: () => Promise<T>): Promise<T> {
  const key = `${folder.identity()}/${name}`;
  const result = (lastInTurn.get(key) ?? Promise.resolve()).then(action);
  const ended = result.catch(() => {});
  lastInTurn.set(key, ended);
  try {
    return await result;
  } finally {
    if (lastInTurn.get(key) === ended) lastInTurn.delete(key);
  }
}
