import type { StorageAdapter } from "../storage-adapter.ts";

/** What a URL for the download of a file must say. */
export interface PresignRequest {
  /** How long the URL is valid, in seconds. */
  readonly seconds: number;
  /** The entity-tag of the version that is meant. */
  readonly etag?: string;
  readonly contentType: string;
  readonly contentDisposition: string;
}

/**
 * Makes a URL at which a client downloads a file from where it is stored, without a login: `presignRead` of a storage
 * in S3, or a function of your own.
 */
export interface Presign {
  /** Resolves with `undefined` for a file that the service has to send itself. */
  (path: string, request: PresignRequest): Promise<string | undefined>;
  /**
   * The storage that it is for. It is then asked for the files of this storage only, by their paths there. Default: it
   * is asked for every file, by its path in the storage of the service.
   */
  readonly storage?: StorageAdapter;
}
