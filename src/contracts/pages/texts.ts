import type { KeyTexts } from "./key-texts.ts";
import type { LinkTexts } from "./link-texts.ts";
import type { ScriptTexts } from "./script-texts.ts";
import type { TrashTexts } from "./trash-texts.ts";
import type { VersionTexts } from "./version-texts.ts";

export type { KeyTexts, LinkTexts, ScriptTexts, TrashTexts, VersionTexts };

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
  /** A box next to a field for a password: `Show password` */
  readonly showPassword: string;
  /** While a password is typed: `Caps Lock is on.` */
  readonly capsLock: string;
  /** The field of the login for a one-time password or a recovery code. */
  readonly oneTimePassword: string;
  /** Below it. */
  readonly oneTimePasswordHint: string;
  /** The heading of the page that asks for the password of a link. */
  readonly linkPassword: string;
  /** Below the heading. */
  readonly linkPasswordHint: string;
  /** Its button. */
  readonly openLink: string;
  /** On the pages of a link, when it ends: `Available until {time}` */
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
  /** The link to the login at another site: `Log in with {name}` */
  readonly logInWith: string;
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
  /** The field after it: `Repeat the new password` */
  readonly repeatPassword: string;
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
  /** The link to the folder above: `Up to {name}` */
  readonly up: string;
  /** The number of members of a folder, if it is one: `1 item` */
  readonly itemsOne: string;
  /** `{count} items` */
  readonly items: string;
  /** The field that hides members without a text in their names. */
  readonly filter: string;
  /** The field and the button that search below a folder: `Search` */
  readonly search: string;
  /** The heading of what was found: `Found for “{text}”` */
  readonly found: string;
  /** `Nothing was found.` */
  readonly nothingFound: string;
  /** After what was found: `There may be more. Search for a longer text, or in a folder further down.` */
  readonly foundTruncated: string;
  /** The menu at the top of a folder: how it is shown, and what is for all of it. */
  readonly moreActions: string;
  readonly sortBy: string;
  /** How high the rows are, and the two choices. */
  readonly rows: string;
  readonly compact: string;
  readonly comfortable: string;
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
  /** Opens the field and the buttons that move and copy. */
  readonly moveOrCopy: string;
  readonly download: string;
  readonly delete: string;
  /** The button of the form for one member: `Rename` */
  readonly rename: string;
  /** The column with the links of the next text. */
  readonly actions: string;
  /** The link of a row to what can be done with its member: `Actions for {name}` */
  readonly actionsFor: string;
  /** Leads into a folder. */
  readonly open: string;
  /** Whether a member is a file or a folder. */
  readonly kind: string;
  /** Leads from the properties of a member back to the folder. */
  readonly close: string;
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
  /** The texts of the page for the API keys of an account. */
  readonly keys: KeyTexts;
  /** The texts of the page of the trash. */
  readonly trash: TrashTexts;
  /** The texts of the page with the versions of a file. */
  readonly versions: VersionTexts;
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
export const DONE_CODES = [
  "folder-created",
  "uploaded",
  "deleted",
  "renamed",
  "moved",
  "copied",
  "password-changed",
  "triggered",
] as const;

/**
 * What a form has done, as a code in the query of the redirect after it.
 *
 * @useDeclaredType
 */
export type DoneCode = (typeof DONE_CODES)[number];
