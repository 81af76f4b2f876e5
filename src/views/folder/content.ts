import type { DoneCode } from "../../contracts/pages/texts.ts";
import type { EnteredValues, FolderActions } from "../folder-actions.ts";
import type { MemberOrder, PageMember } from "../member-order.ts";
import type { PageQuota } from "../quota-meter.ts";
import type { ShownError } from "../texts.ts";
import type { PageLink } from "../visitor-parts.ts";

/** What the page of a folder shows. */
export interface FolderPage {
  /** The names from the root of the account, or of the link, to the folder. */
  readonly segments: readonly string[];
  /** Absent if the account must not list them. */
  readonly members: readonly PageMember[] | undefined;
  readonly order: MemberOrder;
  readonly actions: FolderActions;
  /** The URL of the trash. Absent: what is deleted here does not go to one. */
  readonly trash?: string;
  /** What is used of the quota around the folder. Absent: there is none, or it is not known yet. */
  readonly quota?: PageQuota | undefined;
  /** The link that the page belongs to. Absent: a page of an account. */
  readonly link?: PageLink | undefined;
  /** The limits of a selection that is downloaded: the number of names, and the bytes of all of them together. */
  readonly downloadLimits: { readonly names: number; readonly bytes: number };
  /** The limits of one request with commands, which the script keeps. */
  readonly commandLimits: { readonly maxCommands: number; readonly maxJsonBytes: number };
  /** The result of the last form. */
  readonly done?: DoneCode | undefined;
  /** The files that the last form has sent, if the account must not list them. */
  readonly sent?: SentFiles | undefined;
  /** The problems of the last form. */
  readonly problems?: readonly FolderProblem[];
  /** What the user has entered in it. */
  readonly entered?: EnteredValues | undefined;
}

/** Whether the page offers to show files. A link that counts would count each of them as a download. */
export function mayView({ actions, link }: FolderPage): boolean {
  return actions.download && link?.isCounted !== true;
}

/** Files that a form has sent. */
export interface SentFiles {
  /** Without their size in a drop folder, which reveals nothing about them. */
  readonly files: readonly { readonly name: string; readonly size?: number }[];
  /** Whether there are more than those. */
  readonly hasMore: boolean;
}

/** A problem of a form. */
export interface FolderProblem {
  /** The member that has the problem. */
  readonly target?: string;
  /** The failure. The page shows its text in its own language. */
  readonly error: ShownError;
}
