/** The groups of operations, in the order of the document. */
export const TAGS = {
  Files: "Files of the account: URLs that do not end with `/`.",
  Folders: "Folders of the account: URLs that end with `/`.",
  Uploads:
    "Uploads in several requests: by tus 1.0.0 or the IETF draft Resumable Uploads for HTTP (interop versions 5 to 8).",
  Links: "Files and folders for people without an account. Below their URL is the same as below `/home/`.",
  Login: "Sessions and passwords.",
  Service: "This document, the assets of the pages, and redirects to the files.",
} as const;

/** The name of a tag. */
export type TagName = keyof typeof TAGS;
