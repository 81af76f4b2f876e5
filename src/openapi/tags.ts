/** The groups of operations, in the order of the document. */
export const TAGS = {
  Files: "Files of the account: a URL without a `/` at its end.",
  Folders: "Folders of the account: a URL with a `/` at its end.",
  Login: "Sessions and passwords.",
  Service: "What the service tells of itself, and the ways that lead to the files.",
} as const;

/** The name of a tag. */
export type TagName = keyof typeof TAGS;
