/** The groups of operations, in the order of the document. */
export const TAGS = {
  Files: "Files of the account: a URL without a `/` at its end (4.2, 4.5, 4.6).",
  Folders: "Folders of the account: a URL with a `/` at its end (4.2, 4.3, 4.5, 4.6).",
  Login: "Sessions and passwords (4.1, 5.1).",
  Service: "What the service tells of itself, and the ways that lead to the files.",
} as const;

/** One of {@link TAGS}. */
export type TagName = keyof typeof TAGS;
