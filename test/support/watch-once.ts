const watched = new Set<string>();

/**
 * Runs a function that changes a global object, once per process. Files of one process share its globals, and each file
 * runs the setup files.
 */
export function watchOnce(name: string, watch: () => void): void {
  if (watched.has(name)) return;
  watched.add(name);
  watch();
}
