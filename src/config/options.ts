import type { Authenticator } from "../contracts/authenticator.ts";
import type { KeyValueStore } from "../contracts/key-value-store.ts";
import type { Logger } from "../contracts/logger.ts";
import type { StorageAdapter } from "../contracts/storage-adapter.ts";

/** What a service is made of. A wrong value makes `createFileService` throw a `TypeError` that names the option. */
export interface FileServiceOptions {
  /** Where the files are. */
  readonly storage: StorageAdapter;
  /** The methods that validate credentials, asked in this order (7.2). At least one. */
  readonly authentication: Authenticator | readonly Authenticator[];
  /** The path below which everything stands, e.g. `/files` (CONTRACT 2.7). Default: `""`, the root. */
  readonly basePath?: string;
  readonly server?: {
    /** The name in the `Server` header (1.4), an RFC 9110 token. Default: `fileferry`. */
    readonly name?: string;
  };
  readonly session?: {
    /** Where sessions live; any Keyv instance will do. Default: the memory of this process. */
    readonly store?: KeyValueStore;
    /** A session ends after so many seconds without a request. Default: 1800. */
    readonly idleSeconds?: number;
    /** A session ends so many seconds after its login. Default: 43200. */
    readonly maxSeconds?: number;
    /** Whether `WWW-Authenticate: session` is among the challenges (CONTRACT 6.2). Default: true. */
    readonly announce?: boolean;
  };
  /** Origins beside the service's own from which browsers may send unsafe requests (CONTRACT 6.5), e.g. `https://app.example`. Default: none. */
  readonly acceptedOrigins?: readonly string[];
  /** Where failures are reported. Default: the console. */
  readonly logger?: Logger;
  /** The time in POSIX milliseconds. Default: `Date.now`. */
  readonly clock?: () => number;
}
