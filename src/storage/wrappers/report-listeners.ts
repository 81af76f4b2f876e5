/** Functions that are called with each report. */
export interface ReportListeners<T> {
  /** Adds a function. The function that it returns removes it. */
  watch(listener: (report: T) => void): () => void;
  /** Calls all of them. What one of them throws is ignored. */
  report(report: T): void;
}

/** Creates {@link ReportListeners}, with none at first. */
export function createReportListeners<T>(): ReportListeners<T> {
  const listeners = new Set<(report: T) => void>();
  return {
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    report(report) {
      for (const listener of listeners) {
        try {
          listener(report);
        } catch {}
      }
    },
  };
}
