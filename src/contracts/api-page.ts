/** A file that the interactive page of the API loads. */
export interface ApiPageFile {
  /** Changes with what is in the file: browsers keep it for good. Letters, digits, `.` and `-`. */
  readonly name: string;
  /** How the page takes it: a stylesheet, a classic script, a module, or a text that it links. Scripts run in their order, modules behind what stands before them. */
  readonly type: "style" | "script" | "module" | "notices";
  /** Its content, kept once for all requests. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The viewer of the interactive page of the API. */
export interface ApiPage {
  /** What the page loads, in its order. Called whenever the page or one of its files is asked for, and not before. */
  load(): Promise<readonly ApiPageFile[]>;
}
