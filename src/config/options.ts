import type { GroupSettings } from "../contracts/account.ts";
import type { ApiPage } from "../contracts/api-page.ts";
import type { Authenticator } from "../contracts/authenticator.ts";
import type { Branding } from "../contracts/branding.ts";
import type { ClientCertificate } from "../contracts/connection.ts";
import type { OnEvent } from "../contracts/events/file-event.ts";
import type { KeyValueStore } from "../contracts/key-value-store.ts";
import type { Logger } from "../contracts/logger.ts";
import type { PasswordPolicy } from "../contracts/password-policy.ts";
import type { StorageAdapter } from "../contracts/storage-adapter.ts";
import type { PartialTexts } from "../contracts/texts.ts";
import type { Trigger } from "../contracts/trigger.ts";
import type { DecideUpload, UploadGuard } from "../contracts/upload.ts";
import type { MetadataFields } from "../uploads/metadata-fields.ts";
import type { LimitOptions } from "./limits.ts";

/** What a service is made of. A wrong value makes `createFileService` throw a `TypeError` that names the option. */
export interface FileServiceOptions {
  /** Where the files are. */
  readonly storage: StorageAdapter;
  /** The methods that validate credentials, asked in this order (7.2). At least one. */
  readonly authentication: Authenticator | readonly Authenticator[];
  /**
   * The groups of accounts by their identifier: what an account leaves out comes from its group, then from `DEFAULT_GROUP` (CONTRACT 7.1).
   * Default: a `DEFAULT_GROUP` with a home folder `/${USER}` that is created when missing, and full control.
   */
  readonly groups?: Readonly<Record<string, GroupSettings>>;
  /** The path below which everything stands, e.g. `/files` (CONTRACT 2.7). Default: `""`, the root. */
  readonly basePath?: string;
  readonly server?: {
    /** The name in the `Server` header (1.4), an RFC 9110 token. Default: `fileferry`. */
    readonly name?: string;
    /** Names this server in events and authentication requests (2.3). Default: the nil UUID. */
    readonly uuid?: string;
  };
  readonly component?: {
    /** Names this service among the components of the server, likewise. Default: the nil UUID. */
    readonly uuid?: string;
  };
  /**
   * Whether users are shown what the method that rejected them has for their eyes: `message`, and `response` in JSON bodies (7.2). Default:
   * false, nothing of it.
   */
  readonly publicError?: boolean;
  /**
   * The account that a verified client certificate logs in; `undefined` for none. Default: its common name, where there is exactly one
   * (CONTRACT 6.7).
   */
  readonly usernameOfCertificate?: (certificate: ClientCertificate) => string | undefined;
  readonly session?: {
    /**
     * Where sessions live; processes on one store share them. Any Keyv instance will do: its `throwOnErrors` is switched on, and its namespace tells it
     * from other services, whose sessions it must not have. Default: the memory of this process.
     */
    readonly store?: KeyValueStore;
    /** A session ends after so many seconds without a request. Default: 1800. */
    readonly idleSeconds?: number;
    /** A session ends so many seconds after its login. Default: 43200. */
    readonly maxSeconds?: number;
    /**
     * So many sessions an account may have at a time: with the next login the one that was not used for longest ends. 0 for any number, which spares a login a read and a write
     * of the store. Default: 100.
     */
    readonly maxPerAccount?: number;
    /** Whether `WWW-Authenticate: session` is among the challenges (CONTRACT 6.2). Default: true. */
    readonly announce?: boolean;
  };
  /** What new passwords must be (4.1). Default: 12 characters, and not the user name. */
  readonly passwordPolicy?: PasswordPolicy;
  /** How much is taken of anybody: bytes, commands, failed logins, transfers at a time. */
  readonly limits?: LimitOptions;
  readonly archive?: {
    /**
     * How files stand in ZIP archives: `stored` as they are, which is fast and has a length that browsers show progress by, or compressed by
     * `deflate` but for those that are compressed already. Default: `stored`.
     */
    readonly method?: "stored" | "deflate";
  };
  /**
   * The header in which a proxy in front names the client (CONTRACT 6.7): `Forwarded`, `X-Forwarded-For`, or one with an address such as
   * `X-Real-IP`. Its first entry counts, so only a proxy that replaces what clients send makes it trustworthy. Default: `""`, the
   * socket's peer.
   */
  readonly clientForwardedHeader?: string;
  /**
   * The proxies in front, as addresses or networks such as `["10.0.0.0/8", "::1"]`. If this is given,
   * `clientForwardedHeader` counts only on connections from one of them, and names as the client the last entry that is
   * not one of them: proxies may append to the header. Connections without an address, as on a Unix socket, are not from
   * a proxy. Default: every connection is taken to be from the proxy, and the first entry counts.
   */
  readonly trustedProxies?: readonly string[];
  /**
   * The origin that clients reach the service at, e.g. `https://files.example`, where a proxy in front ends TLS or replaces `Host`: cookies are `Secure`, and events
   * and authentication requests name the protocol, by it; browsers may send unsafe requests from it (CONTRACT 6.3, 6.5). Default: `""`, what the request itself says.
   */
  readonly publicOrigin?: string;
  /** Origins beside the service's own from which browsers may send unsafe requests (CONTRACT 6.5), e.g. `https://app.example`. Default: none. */
  readonly acceptedOrigins?: readonly string[];
  /** Commands of the integrator's own on members of folders, by their name (4.3, 4.6). Default: none. */
  readonly triggers?: Readonly<Record<string, Trigger>>;
  /** Name, logo, colour and footnote of the pages. Default: none of ours. */
  readonly branding?: Branding;
  /**
   * Texts of the pages in further languages, or in other words, by language tag such as `fr` or `pt-BR`; what one leaves out is English. `en` and `de` are there already.
   * Which a page is in, `Accept-Language` decides. Default: none.
   */
  readonly languages?: Readonly<Record<string, PartialTexts>>;
  /**
   * The interactive page of the API's description at `/__svc__/openapi.html`, where anybody can read it, log in and try each call: `createApiPage()` of `fileferry/api-page`.
   * Default: none, the URL is as any unknown one.
   */
  readonly apiPage?: ApiPage;
  /** Origins that may show our pages in a frame, e.g. `https://intranet.example`. Default: none. */
  readonly frameAncestors?: readonly string[];
  /**
   * The metadata that uploads bring along in a header (4.4, CONTRACT 5): an object, or text in one of the two forms of the spec. Default: none is read.
   */
  readonly metadataFields?: MetadataFields | string;
  /** Decides on each upload when its last byte has come, before it can be seen; see {@link UploadGuard} for who has to see its content. Default: all are taken. */
  readonly beforeCommit?: DecideUpload | UploadGuard;
  /** Is told of every event (6, CONTRACT 8), or are. Default: nobody is. */
  readonly onEvent?: OnEvent | readonly OnEvent[];
  /** Where failures are reported. Default: the console. */
  readonly logger?: Logger;
  /** The time in POSIX milliseconds. Default: `Date.now`. */
  readonly clock?: () => number;
}
