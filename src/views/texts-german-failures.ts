/** The messages of failures in German, by their English text; `{0}`, `{1}` ... stand for what differs from one to the next. */
export const GERMAN_FAILURES: Readonly<Record<string, string>> = {
  "Not found.": "Nicht gefunden.",
};
