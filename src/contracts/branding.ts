/** What pages show of whose service it is. */
export interface Branding {
  /** The name in titles and in the head of pages. Default: `Files`. */
  readonly name?: string;
  /** URL of an image beside the name: `https:`, or a path of the same origin such as `/logo.svg`. Default: none. */
  readonly logo?: string;
  /** The colour of links and buttons: `#rrggbb`. Default: our own. */
  readonly accent?: string;
  /** A line at the end of every page, as plain text. Default: none. */
  readonly footnote?: string;
}
