/** The texts of the pages for the links of an account, in one language. `{name}` in a text stands for a value. */
export interface LinkTexts {
  /** On the folder page, the link for the folder itself, and the button for one selected item. */
  readonly share: string;
  /** The same link for users who do not see where it stands. */
  readonly shareFolder: string;
  /** The heading of the list, and what leads to it. */
  readonly list: string;
  /** The heading of the page with the form: `{name}`. */
  readonly newLink: string;
  /** Below it. */
  readonly newLinkHint: string;
  /** Above the proposals, each of which chooses some permissions. */
  readonly purpose: string;
  readonly toDownload: string;
  /** A folder that takes files and shows nothing. */
  readonly toDrop: string;
  readonly toExchange: string;
  readonly toWorkTogether: string;
  /** Proposals for a file. */
  readonly toDownloadFile: string;
  readonly toUpdateFile: string;
  /** The heading of the permissions. */
  readonly permissions: string;
  /** The permissions of a link to a folder. */
  readonly mayRead: string;
  readonly mayList: string;
  readonly mayTraverse: string;
  readonly mayWrite: string;
  readonly mayCreateFolder: string;
  readonly mayDeleteFile: string;
  readonly mayDeleteFolder: string;
  /** The permissions of a link to a file. */
  readonly mayReadFile: string;
  readonly mayWriteFile: string;
  readonly mayReplaceFile: string;
  /** Explanations below permissions. */
  readonly traverseHint: string;
  readonly writeHint: string;
  readonly writeFileHint: string;
  readonly deleteFileHint: string;
  readonly deleteFolderHint: string;
  /** How long the link lasts. */
  readonly expiresIn: string;
  readonly password: string;
  readonly passwordHint: string;
  /** In its place, if the account needs one. */
  readonly passwordNeeded: string;
  /** Shows further fields. */
  readonly more: string;
  readonly label: string;
  readonly labelHint: string;
  readonly maxUses: string;
  readonly maxUsesHint: string;
  readonly maxFileBytes: string;
  readonly noLimit: string;
  readonly askName: string;
  readonly askNameHint: string;
  readonly create: string;
  /** The heading of the page of a new link. */
  readonly ready: string;
  /** Below it, if the service does not keep links. */
  readonly copyNow: string;
  /** The heading of the page of a link. */
  readonly link: string;
  readonly url: string;
  readonly fileUrl: string;
  readonly copy: string;
  /** The same for users who do not see the row: `{path}`. */
  readonly copyOne: string;
  readonly copied: string;
  /** What the picture is, for users who do not see it. */
  readonly qrCode: string;
  readonly leadsTo: string;
  readonly validUntil: string;
  readonly withPassword: string;
  readonly uses: string;
  /** `{uses}`, `{max}`. */
  readonly usesOf: string;
  readonly toFolder: string;
  /** The list without links. */
  readonly empty: string;
  readonly emptyHint: string;
  /** The column of the buttons, for users who do not see it. */
  readonly action: string;
  readonly withdraw: string;
  /** The same for users who do not see the row: `{path}`. */
  readonly withdrawOne: string;
  readonly withdrawAll: string;
  /** Before it is done. */
  readonly withdrawAllHint: string;
  /** The texts of redirects, for browsers that do not follow them. */
  readonly withdrawn: string;
  readonly allWithdrawn: string;
}
