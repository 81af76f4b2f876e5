/** What a form has done, as the code in the query of the redirect behind it, `?done=uploaded`, says it (CONTRACT 4.6): never a text of anybody's. */
export const DONE_CODES = ["folder-created", "uploaded", "deleted", "triggered"] as const;

/**
 * What a form has done, as the code in the query of the redirect behind it.
 *
 * @useDeclaredType
 */
export type DoneCode = (typeof DONE_CODES)[number];
