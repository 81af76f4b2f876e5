/** The texts of the page for the API keys of an account, in one language. `{name}` in a text stands for a value. */
export interface KeyTexts {
  /** The heading of the page, and what leads to it. */
  readonly list: string;
  /** Below the heading: what keys are for. */
  readonly hint: string;
  readonly empty: string;
  /** The column with the labels, and the field for one. */
  readonly label: string;
  /** The column with the paths, and the field for one. */
  readonly path: string;
  readonly pathHint: string;
  readonly permissions: string;
  /** In place of permissions: all that the account has. */
  readonly all: string;
  readonly permissionsHint: string;
  /** Permissions that links do not have. */
  readonly mayRename: string;
  readonly maySetAttributes: string;
  /** The column with the ends, and the field for one. */
  readonly expires: string;
  readonly never: string;
  readonly expired: string;
  /** The column with the buttons. */
  readonly action: string;
  readonly revoke: string;
  /** The accessible name of the button of one key: `{name}`. */
  readonly revokeOne: string;
  readonly revoked: string;
  /** The heading of the form, and its button. */
  readonly create: string;
  /** The heading of the page that shows a new key. */
  readonly ready: string;
  readonly readyHint: string;
  /** The label of the field with the key. */
  readonly key: string;
}
