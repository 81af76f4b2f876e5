/** One version of an object that holds a text. */
export interface TextObject {
  readonly text: string;
  readonly etag: string;
}

/** The objects of a bucket that hold texts of the storage, such as properties. */
export interface TextObjects {
  readObject(key: string): Promise<TextObject | undefined>;
  /**
   * Replaces one version of an object, or creates it. Returns the new version, or `undefined` if another version is
   * there.
   */
  writeObject(key: string, text: string, current: TextObject | undefined): Promise<TextObject | undefined>;
}
