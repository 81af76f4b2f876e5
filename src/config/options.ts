import type { AccountSettings, GroupSettings } from "../contracts/account.ts";
import type { Authenticator } from "../contracts/authenticator.ts";
import type { ClientCertificate } from "../contracts/connection.ts";
import type { OnEvent } from "../contracts/events/file-event.ts";
import type { Identify } from "../contracts/identity.ts";
import type { RetentionRule } from "../contracts/kept/retention.ts";
import type { Trash } from "../contracts/kept/trash.ts";
import type { Versions } from "../contracts/kept/versions.ts";
import type { KeyValueStore } from "../contracts/key-value-store.ts";
import type { Logger } from "../contracts/logger.ts";
import type { ApiPage } from "../contracts/pages/api-page.ts";
import type { Branding } from "../contracts/pages/branding.ts";
import type { PartialTexts } from "../contracts/pages/texts.ts";
import type { PasswordPolicy } from "../contracts/password-policy.ts";
import type { Quota } from "../contracts/quota.ts";
import type { StorageAdapter } from "../contracts/storage-adapter.ts";
import type { Trigger } from "../contracts/trigger.ts";
import type { DecideUpload, UploadGuard } from "../contracts/upload.ts";
import type { MetadataFields } from "../uploads/metadata-fields.ts";
import type { DigestOptions } from "./digests.ts";
import type { IdempotencyOptions } from "./idempotency.ts";
import type { LimitOptions } from "./limits.ts";
import type { LinkOptions } from "./links.ts";
import type { OffloadOptions } from "./offload.ts";
import type { SessionCookieOptions } from "./session-cookie.ts";
import type { ResumableUploadOptions } from "./uploads.ts";
import type { WebdavOptions } from "./webdav.ts";

/** Options of `createFileService`, which throws an `OptionError` if one is wrong. */
export interface FileServiceOptions {
  /** Where the files are. */
  readonly storage: StorageAdapter;
  /** The methods that validate credentials, in the order in which they are asked (7.2). At least one. */
  readonly authentication: Authenticator | readonly Authenticator[];
  /**
   * Tells which user of the host's application sends a request. It is asked before all else; `undefined` lets the
   * service's own logins count. Default: only these count.
   */
  readonly identify?: Identify;
  /**
   * What tells the application who sends a request. `header`: a header that only the application's own scripts can set,
   * such as `Authorization: Bearer`. `cookie`: something that browsers send by themselves, also for pages of other
   * sites, so unsafe requests must come from the service's own origin (CONTRACT 6.5). Default: `cookie`.
   */
  readonly identifiedBy?: "cookie" | "header";
  /**
   * The account of requests for files and folders without a login, `anonymous` in events. Everyone has its permissions;
   * what these deny needs a login. It has no triggers, links, API keys and resumable uploads. Its `permissions` are by
   * default `[["allow-read", "allow-list"]]`, whatever its group has. Default: each request needs a login.
   */
  readonly anonymous?: AccountSettings;
  /**
   * The groups of accounts by their identifier. A setting that an account leaves out comes from its group, then from
   * `DEFAULT_GROUP` (CONTRACT 7.1). Default: a `DEFAULT_GROUP` with full control and the home folder `/${USER}`, which
   * is created if it is missing.
   */
  readonly groups?: Readonly<Record<string, GroupSettings>>;
  /** The path below which all URLs of the service are, e.g. `/files` (CONTRACT 2.7). Default: `""`, the root. */
  readonly basePath?: string;
  readonly server?: {
    /** The name in the `Server` header (1.4), an RFC 9110 token. Default: `fileferry`. */
    readonly name?: string;
    /** The identifier of this server in events and authentication requests (2.3). Default: the nil UUID. */
    readonly uuid?: string;
  };
  readonly component?: {
    /** The identifier of this service among the components of the server, in the same places. Default: the nil UUID. */
    readonly uuid?: string;
  };
  /**
   * Whether a rejected user sees the public text of the method that rejected the login: `message`, and `response` in
   * JSON bodies (7.2). Default: false.
   */
  readonly publicError?: boolean;
  /**
   * Returns the account that a verified client certificate logs in; `undefined` for none. Default: the common name of
   * the certificate, if there is exactly one (CONTRACT 6.7).
   */
  readonly usernameOfCertificate?: (certificate: ClientCertificate) => string | undefined;
  readonly session?: {
    /**
     * Where sessions are stored. Processes with the same store share their sessions. Any Keyv instance is a store: the
     * service sets its `throwOnErrors`. Give each service a namespace of its own, so that it does not accept the
     * sessions of another. Default: the memory of this process.
     */
    readonly store?: KeyValueStore;
    /** The number of seconds without a request after which a session ends. Default: 1800. */
    readonly idleSeconds?: number;
    /** The number of seconds after the login at which a session ends. Default: 43200. */
    readonly maxSeconds?: number;
    /**
     * The number of sessions that an account may have at a time, at most 1000. One more login ends the session that was
     * unused for longest. 0 for no limit, which saves each login a read and a write of the store. Default: 100.
     */
    readonly maxPerAccount?: number;
    /** Whether `WWW-Authenticate: session` is among the challenges (CONTRACT 6.2). Default: true. */
    readonly announce?: boolean;
    /** The name and the path of the session cookie. */
    readonly cookie?: SessionCookieOptions;
  };
  /** The rules for new passwords (4.1). Default: at least 12 characters, and not the user name. */
  readonly passwordPolicy?: PasswordPolicy;
  /**
   * Serves WebDAV classes 1, 2 and 3 (RFC 4918): PROPFIND, PROPPATCH, COPY, MOVE, LOCK and UNLOCK, in addition to the
   * methods that the service always has. Default: these methods are not implemented.
   */
  readonly webdav?: WebdavOptions;
  /**
   * Uploads in several requests, by tus 1.0.0 and by the IETF draft "Resumable Uploads for HTTP", if the storage has
   * `uploads`; `false` for none. Default: they exist, with the defaults of {@link ResumableUploadOptions}.
   */
  readonly uploads?: ResumableUploadOptions | false;
  /**
   * Links, by which people without an account download or upload files. A link never has more rights than its account
   * has now. Default: there are no links.
   */
  readonly links?: LinkOptions;
  /**
   * Digests of files in responses, for clients that ask for them by `Want-Repr-Digest` or `Want-Content-Digest` (RFC
   * 9530). Without it, digests that uploads send are verified all the same. Default: responses have no digests.
   */
  readonly digests?: DigestOptions;
  /**
   * Requests that may be sent twice: commands of a folder, and the creation of links, with an `Idempotency-Key` run
   * once, and are answered again as the first time. Default: the header has no effect.
   */
  readonly idempotency?: IdempotencyOptions;
  /**
   * How long an accepted login by HTTP Basic is remembered, in seconds, from 0 to 3,600; 0: each request's password is
   * verified (CONTRACT 6.4). A remembered login ends at once with a password change or `endSessions`, and as soon as
   * the `isCurrent` of its authenticator says so. No password is kept, and no refusal remembered. Default: 60 for
   * logins that the first authenticator accepts, if it has `isCurrent`, and for all logins with `webdav`; otherwise 0.
   */
  readonly basicCacheSeconds?: number;
  /**
   * The counts of the storage, `quota` of `createQuotaStorage`: clients can ask how much is used and left. Limits hold
   * without it, too. Default: clients cannot ask.
   */
  readonly quota?: Quota;
  /**
   * What was removed from the storage, `trash` of `createTrashStorage`: accounts can list it, restore it, and remove it
   * for good. What is removed goes to the trash without this option, too. Its paths must be those of `storage`: for a
   * tree of several storages, combine theirs with `mountTrash`. Default: accounts cannot ask.
   */
  readonly trash?: Trash;
  /**
   * How long files in some folders of the storage are kept after their last change: `sweep` removes older ones, at any
   * depth, to the trash if the storage has one. Folders stay, links are not followed, and locked files stay. Default:
   * files are kept.
   */
  readonly retention?: readonly RetentionRule[];
  /**
   * The versions of the storage, `versions` of `createVersionsStorage`: accounts can list the earlier contents of a
   * file, download them, and restore one. They are kept without this option, too. Its paths must be those of `storage`:
   * for a tree of several storages, combine theirs with `mountVersions`. Default: accounts cannot ask.
   */
  readonly versions?: Versions;
  /**
   * Lets another server send the content of downloads: nginx or Apache in front of the service, or the store that has
   * the files. Logins, permissions, conditions and events stay with the service. Default: the service sends everything.
   */
  readonly offload?: OffloadOptions;
  /** Limits on clients: bytes, commands, failed logins, concurrent transfers. */
  readonly limits?: LimitOptions;
  readonly archive?: {
    /**
     * How ZIP archives hold files. `stored` keeps them as they are: it is fast, and the length is known, so browsers
     * show the progress. `deflate` compresses the files that are not compressed yet. Default: `stored`.
     */
    readonly method?: "stored" | "deflate";
  };
  /**
   * The header in which a proxy names the client (CONTRACT 6.7): `Forwarded`, `X-Forwarded-For`, or one that holds an
   * address, such as `X-Real-IP`. The first entry counts, so the header is trustworthy only if the proxy replaces the
   * value that the client sends. Default: `""`, the peer of the socket is the client.
   */
  readonly clientForwardedHeader?: string;
  /**
   * The proxies in front, as addresses or networks such as `["10.0.0.0/8", "::1"]`. If this is given,
   * `clientForwardedHeader` counts only on connections from one of them, and names as the client the last entry that is
   * not one of them: proxies may append to the header. Connections without an address, as on a Unix socket, are not
   * from a proxy. Needs `clientForwardedHeader`. Default: every connection is taken to be from the proxy, and the first
   * entry counts.
   */
  readonly trustedProxies?: readonly string[];
  /**
   * The origin at which clients reach the service, e.g. `https://files.example`. Set it if a proxy ends TLS or replaces
   * `Host`. It decides whether cookies are `Secure`, and which protocol events and authentication requests name;
   * browsers may send unsafe requests from it (CONTRACT 6.3, 6.5). Default: `""`, the origin of the request.
   */
  readonly publicOrigin?: string;
  /**
   * Origins from which browsers may send unsafe requests, in addition to the service's own (CONTRACT 6.5), e.g.
   * `https://app.example`. Default: none.
   */
  readonly acceptedOrigins?: readonly string[];
  /**
   * Origins whose scripts may read the responses of the service, and how long browsers may remember that, in seconds
   * (CORS). A script of another origin must send an `Authorization` header of its own: cookies and other credentials
   * that the browser holds are never accepted from it. To let another origin send unsafe requests, see
   * `acceptedOrigins`. Default: none; `maxAgeSeconds` is 7200.
   */
  readonly cors?: { readonly origins: readonly string[]; readonly maxAgeSeconds?: number };
  /** The integrator's own commands on members of folders, by name (4.3, 4.6). Default: none. */
  readonly triggers?: Readonly<Record<string, Trigger>>;
  /** Name, logo, colour and footnote of the pages. Default: the name is `Files`, and there is nothing else. */
  readonly branding?: Branding;
  /**
   * Texts of the pages by language tag, such as `it` or `pt-BR`: further languages, or other wording for the built-in
   * `en`, `de`, `fr` and `es`. Texts that a new language leaves out are English. `Accept-Language` decides on the
   * language of a page. Default: none.
   */
  readonly languages?: Readonly<Record<string, PartialTexts>>;
  /**
   * The interactive page of the OpenAPI document at `/__svc__/openapi.html`: `createApiPage()` of `fileferry/api-page`.
   * Everyone can read it; on it users log in and try each call. Default: none; the URL is then like any unknown one.
   */
  readonly apiPage?: ApiPage;
  /**
   * Origins that may show the pages in a frame, e.g. `https://intranet.example`, or `'self'` with its quotes. Default:
   * none.
   */
  readonly frameAncestors?: readonly string[];
  /**
   * The metadata that uploads send in a header (4.4, CONTRACT 5): an object, or a text with the name of the header, or
   * with a line for the header and one for each key. Default: no metadata is read.
   */
  readonly metadataFields?: MetadataFields | string;
  /**
   * Decides on each upload after its last byte has arrived and before anyone can see the file. An {@link UploadGuard}
   * also gets the content. Of a list, each one gets every chunk; they are asked in order, and the first refusal counts.
   * Default: all uploads are accepted.
   */
  readonly beforeCommit?: DecideUpload | UploadGuard | readonly (DecideUpload | UploadGuard)[];
  /** One or more listeners that get every event (6, CONTRACT 8). Default: none. */
  readonly onEvent?: OnEvent | readonly OnEvent[];
  /** Gets failures and warnings. Default: the console. */
  readonly logger?: Logger;
  /** The time in POSIX milliseconds. Default: `Date.now`. */
  readonly clock?: () => number;
}
