/** Options of a sweep. */
export interface SweepOptions {
  /**
   * Ends the sweep before its next upload, entry, folder or file. The promise then rejects with the reason of the
   * signal, and the next sweep does the rest.
   */
  readonly signal?: AbortSignal | undefined;
}
