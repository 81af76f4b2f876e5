import type { LinkTexts } from "./link-texts.ts";
import type { ScriptTexts } from "./script-texts.ts";
import type { TrashTexts } from "./trash-texts.ts";

export type { LinkTexts, ScriptTexts, TrashTexts };

/**
 * The texts of the pages, in one language. `{name}` in a text stands for a value. Texts are plain text; pages escape
 * them.
 */
export interface Texts {
  /** The tag of the language, such as `en` or `pt-BR`. */
  readonly language: string;
  /** The direction in which the language is written. */
  readonly direction: "ltr" | "rtl";

  readonly login: string;
  readonly userName: string;
  readonly password: string;
  /** The heading of the page that asks for the password of a link. */
  readonly linkPassword: string;
  /** Below the heading. */
  readonly linkPasswordHint: string;
  /** Its button. */
  readonly openLink: string;
  /** On the pages of a link, when it ends: `Available until {time} UTC` */
  readonly availableUntil: string;
  /** The link to the ZIP archive of all that a link leads to. */
  readonly downloadAll: string;
  /** The link to the file that a link leads to. */
  readonly downloadFile: string;
  /** On a page where files can only be sent. */
  readonly dropFolderHint: string;
  /** The label of the field for the name of who sends files. */
  readonly sender: string;
  /** The limit of a file: `Each file may have up to {size}.` */
  readonly maxFileSize: string;
  /** Below the members, if there is a limit: `{used} of {limit} used, {available} free`. */
  readonly quotaBytes: string;
  /** The same for the number of files: `{used} of {limit} files, {available} free`. */
  readonly quotaFiles: string;
  /** The link to the browser's own dialogue for name and password. */
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

  /** The text of a redirect, for browsers that do not follow it. */
  readonly moved: string;
  readonly continue: string;

  /** Titles of error pages. */
  readonly notFound: string;
  /** Below the title, if no more is known. */
  readonly notFoundHint: string;
  readonly notPermitted: string;
  readonly failed: string;
  readonly toHome: string;
  /** As `toHome`, on the pages of a link. */
  readonly toLink: string;

  /** The account's root folder. */
  readonly home: string;
  /** The accessible name of the path at the top of a folder's page. */
  readonly folderPath: string;
  /** `{folder}`. */
  readonly membersOf: string;
  readonly name: string;
  readonly size: string;
  readonly modified: string;
  /** The column of the boxes that select members. */
  readonly selection: string;
  readonly selectAll: string;
  /** `{name}`. */
  readonly select: string;
  /** The kinds of members, for users who do not see the icons. */
  readonly folder: string;
  readonly file: string;
  readonly emptyFolder: string;
  /** Shown in an empty folder that the account may write to. */
  readonly emptyFolderHint: string;

  readonly uploadFiles: string;
  /** On the page of a link to one file. */
  readonly uploadFile: string;
  readonly upload: string;
  readonly newFolder: string;
  readonly createFolder: string;
  readonly withSelected: string;
  readonly download: string;
  readonly delete: string;
  /** The link of a row, and the button of its form: `Rename` */
  readonly rename: string;
  /** The link of a row, for users who do not see the row: `Rename {name}` */
  readonly renameMember: string;
  /** The label of the field: `New name of {name}` */
  readonly newName: string;
  /** The label of the field for a path: `To folder` */
  readonly destination: string;
  readonly move: string;
  readonly copy: string;
  /** The heading of a form's problems with members. */
  readonly problems: string;

  /** Heading of the interactive page of the API. */
  readonly api: string;
  readonly apiHint: string;
  /** The link to the licences of the viewer on that page. */
  readonly viewerLicenses: string;
  /** Shown on a page that does not work without its script. */
  readonly needsScript: string;

  /** What a form has done, by the code in the query of the redirect after it. */
  readonly done: Readonly<Record<DoneCode, string>>;
  /**
   * Messages of failures by their codes (`docs/errors.md`). `{name}` stands for a value. A failure without an entry is
   * shown in English.
   */
  readonly failures: Readonly<Record<string, string>>;
  /** The texts of the pages for the links of an account. */
  readonly links: LinkTexts;
  /** The texts of the page of the trash. */
  readonly trash: TrashTexts;
  /** The texts of the script of the folder page. */
  readonly script: ScriptTexts;
}

/** The texts of a language. Missing ones are shown in English. */
export type PartialTexts = {
  readonly [Name in Exclude<keyof Texts, "language">]?: Texts[Name] extends string ? Texts[Name] : Partial<Texts[Name]>;
};

/**
 * What a form has done, as a code in the query of the redirect after it, such as `?done=uploaded` (CONTRACT 4.6). It is
 * a code because a link must not be able to put a text of its own on the page.
 */
export const DONE_CODES = ["folder-created", "uploaded", "deleted", "renamed", "moved", "copied", "triggered"] as const;

/**
 * What a form has done, as a code in the query of the redirect after it.
 *
 * @useDeclaredType
 */
export type DoneCode = (typeof DONE_CODES)[number];
