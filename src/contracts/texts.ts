import type { ScriptTexts } from "./script-texts.ts";

export type { ScriptTexts };

/**
 * The texts of the pages, in one language. `{name}` in a text stands for a value. Plain text, escaped where it is shown.
 */
export interface Texts {
  /** The language of the texts as a tag, such as `en` or `pt-BR`. */
  readonly language: string;
  /** Which way the language is written. */
  readonly direction: "ltr" | "rtl";

  readonly login: string;
  readonly userName: string;
  readonly password: string;
  /** Leads to the browser's own dialogue for name and password. */
  readonly loginWithoutCookies: string;
  readonly loginWithoutCookiesHint: string;
  readonly pleaseLogIn: string;
  readonly loggedIn: string;
  readonly logOut: string;
  readonly loggedOut: string;

  readonly changePassword: string;
  readonly currentPassword: string;
  readonly newPassword: string;
  readonly passwordChanged: string;
  readonly cancel: string;

  /** Stands behind a redirect, for browsers that do not follow it. */
  readonly moved: string;
  readonly continue: string;

  /** Titles of error pages. */
  readonly notFound: string;
  /** Below it, where no more is known. */
  readonly notFoundHint: string;
  readonly notPermitted: string;
  readonly failed: string;
  readonly toHome: string;

  /** The account's root folder. */
  readonly home: string;
  /** Says what the path at the top of a folder's page is. */
  readonly folderPath: string;
  /** `{folder}`. */
  readonly membersOf: string;
  readonly name: string;
  readonly size: string;
  readonly modified: string;
  /** The column of the boxes that choose members. */
  readonly selection: string;
  readonly selectAll: string;
  /** `{name}`. */
  readonly select: string;
  /** The kinds of members, for those who do not see the icons. */
  readonly folder: string;
  readonly file: string;
  readonly emptyFolder: string;
  /** Where something may be put into the empty folder. */
  readonly emptyFolderHint: string;

  readonly uploadFiles: string;
  readonly upload: string;
  readonly newFolder: string;
  readonly createFolder: string;
  readonly withSelected: string;
  readonly download: string;
  readonly delete: string;
  /** Above what went wrong with a form, where it is about members. */
  readonly problems: string;

  /** Heading of the interactive page of the API. */
  readonly api: string;
  readonly apiHint: string;
  /** Leads to the notices of who made the viewer of that page. */
  readonly viewerLicenses: string;
  /** Where a page is nothing without its script. */
  readonly needsScript: string;

  /** What has been done, by the code that the redirect behind a form carries. */
  readonly done: Readonly<Record<DoneCode, string>>;
  /**
   * Messages of failures by their English text, in which `{0}`, `{1}` ... stand for what differs from one to the next. What has no entry is shown as
   * it is.
   */
  readonly failures: Readonly<Record<string, string>>;
  /** What the script of a folder's page shows. */
  readonly script: ScriptTexts;
}

/** Texts of a language that leaves some out. */
export type PartialTexts = {
  readonly [Name in Exclude<keyof Texts, "language">]?: Texts[Name] extends string ? Texts[Name] : Partial<Texts[Name]>;
};

/** What a form has done, as the code in the query of the redirect behind it, `?done=uploaded`, says it (CONTRACT 4.6): never a text of anybody's. */
export const DONE_CODES = ["folder-created", "uploaded", "deleted", "triggered"] as const;

/**
 * What a form has done, as the code in the query of the redirect behind it.
 *
 * @useDeclaredType
 */
export type DoneCode = (typeof DONE_CODES)[number];
