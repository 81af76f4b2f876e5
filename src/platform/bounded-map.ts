/** A map with a number of entries at most: those that were set last. */
export interface BoundedMap<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  delete(key: K): void;
  values(): IterableIterator<V>;
}

/** Creates a {@link BoundedMap}. */
export function createBoundedMap<K, V>(most: number): BoundedMap<K, V> {
  const entries = new Map<K, V>();

  function set(key: K, value: V): void {
    entries.delete(key);
    entries.set(key, value);
    for (const oldest of entries.keys()) {
      if (entries.size <= most) break;
      entries.delete(oldest);
    }
  }

  return {
    get: (key) => entries.get(key),
    set,
    delete: (key) => void entries.delete(key),
    values: () => entries.values(),
  };
}
