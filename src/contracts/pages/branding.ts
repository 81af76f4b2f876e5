/** What pages show of the operator's brand. */
export interface Branding {
  /** The name in titles and in the header of pages. Default: `Files`. */
  readonly name?: string;
  /** URL of an image next to the name: `https:`, or a path of the same origin such as `/logo.svg`. Default: none. */
  readonly logo?: string;
  /** The colour of links and buttons: `#rrggbb`. Default: fileferry's own. */
  readonly accent?: string;
  /** A line at the end of every page, as plain text. Default: none. */
  readonly footnote?: string;
}
