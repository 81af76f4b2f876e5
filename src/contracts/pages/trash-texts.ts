/** What a form of the trash has done, as a code in the query of the redirect after it. */
export const TRASH_DONE_CODES = ["restored", "purged", "emptied"] as const;

/** What a form of the trash has done. */
export type TrashDoneCode = (typeof TRASH_DONE_CODES)[number];

/** The texts of the page of the trash, in one language. */
export interface TrashTexts {
  /** The heading of the page, and what leads to it. */
  readonly list: string;
  readonly empty: string;
  /** The column with the time of the removal. */
  readonly removed: string;
  readonly restore: string;
  /** Also on the folder page, next to the button that moves items to the trash. */
  readonly purge: string;
  readonly purgeAll: string;
  readonly purgeAllHint: string;
  /** What a form has done, by its code. */
  readonly restored: string;
  readonly purged: string;
  readonly emptied: string;
}
