/** A file that the interactive page of the API loads. */
export interface ApiPageFile {
  /** A name that changes with the content, because browsers cache the file forever. Letters, digits, `.` and `-`. */
  readonly name: string;
  /**
   * How the page uses the file: as a stylesheet, a classic script, a module, or a text that it links to. Scripts run in
   * their order; modules run after everything before them.
   */
  readonly type: "style" | "script" | "module" | "notices";
  /** The content. It is kept in memory once, for all requests. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The viewer of the interactive page of the API. */
export interface ApiPage {
  /**
   * Returns what the page loads, in order. It is called when a client requests the page or one of its files, and not
   * before.
   */
  load(): Promise<readonly ApiPageFile[]>;
}
