/** One rule of the option `retention`: how long the files in a folder are kept. */
export interface RetentionRule {
  /** The path of the folder in the storage, such as `/inbox`. */
  readonly path: string;
  /** How long a file is kept after its last change, in whole seconds, at least 1. */
  readonly seconds: number;
}
