/** What a form of the versions has done, as a code in the query of the redirect after it. */
export const VERSION_DONE_CODES = ["restored", "purged"] as const;

/** What a form of the versions has done. */
export type VersionDoneCode = (typeof VERSION_DONE_CODES)[number];

/** The texts of the page with the versions of a file, in one language. */
export interface VersionTexts {
  /** The column with the versions, and the tooltip of what leads to the page: `Versions` */
  readonly list: string;
  /** The heading: `Versions of {name}` */
  readonly ofFile: string;
  readonly empty: string;
  readonly emptyHint: string;
  /** The line about the file as it is now. */
  readonly present: string;
  /** The column with the buttons. */
  readonly action: string;
  readonly download: string;
  /** The accessible name of the link: `Download the version of {time}` */
  readonly downloadOne: string;
  readonly restore: string;
  /** The accessible name of the button: `Restore the version of {time}` */
  readonly restoreOne: string;
  readonly purge: string;
  /** The accessible name of the button: `Delete for good the version of {time}` */
  readonly purgeOne: string;
  /** What a form has done, by its code. */
  readonly restored: string;
  readonly purged: string;
}
