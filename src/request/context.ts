import type { Account } from "../account/account.ts";
import type { AccountFiles } from "../account/files.ts";
import type { ResourcePath } from "../account/path.ts";
import type { AuthScheme } from "../auth/identification.ts";
import type { Identifier } from "../auth/identify.ts";
import type { ChainKeys } from "../auth/keys/chain-keys.ts";
import type { LinkAccess } from "../auth/link-access.ts";
import type { Login } from "../auth/login.ts";
import type { LoginAttempt, LoginAudit } from "../auth/login-audit.ts";
import type { PasswordHasher } from "../auth/passwords/hash.ts";
import type { PasswordUpdates } from "../auth/passwords/update.ts";
import type { Sessions } from "../auth/sessions/types.ts";
import type { SignOns } from "../auth/sign-on.ts";
import type { LinkConfig } from "../config/links.ts";
import type { ServiceConfig } from "../config/service-config.ts";
import type { UploadConfig } from "../config/uploads.ts";
import type { AccountSettings } from "../contracts/account.ts";
import type { ApiKey } from "../contracts/api-keys.ts";
import type { AccountLookup } from "../contracts/authenticator.ts";
import type { Connection } from "../contracts/connection.ts";
import type { EventKey, EventLink } from "../contracts/events/envelope.ts";
import type { Texts } from "../contracts/pages/texts.ts";
import type { Emit } from "../events/emitter.ts";
import type { FieldAlgorithm } from "../http/digests/digest-headers.ts";
import type { Variant } from "../http/negotiate.ts";
import type { HeaderFields, Reply } from "../http/reply.ts";
import type { Target } from "../http/request-target.ts";
import type { RequestPermits } from "../limits/permits.ts";
import type { ReservedNames } from "../limits/reserved-names.ts";
import type { UploadAllowances } from "../limits/upload-allowance.ts";
import type { WalkQueue } from "../limits/walk-queue.ts";
import type { OpenApiTexts } from "../openapi/render.ts";
import type { SealedLinks } from "../sharing/links.ts";
import type { LinkRecord } from "../sharing/record.ts";
import type { FailureOf, ReportError } from "./errors.ts";
import type { Offload } from "./offload.ts";

/** A request, what the service knows about it, and the parts of the service that endpoints use. */
export interface RequestContext {
  readonly request: Request;
  /** Its peer is the client, even if a proxy forwards the request (CONTRACT 6.7). */
  readonly connection: Connection;
  readonly target: Target;
  /** The method of the request, or the one that a request to the URL of an upload names in its place. */
  method: string;
  /**
   * The path of the root folder's URL, which ends in `/`: `/home/` below the base path, or the URL of a link. All paths
   * of files and folders are below it.
   */
  root: string;
  /** The API variant of the request and its response. */
  readonly variant: Variant;
  /**
   * The path below the root, which names something in the account only for URLs of files and folders; else the root.
   */
  readonly path: ResourcePath;
  /**
   * The options of the service except the storage: endpoints use files only by {@link AccountContext.files} (SECURITY
   * 19).
   */
  readonly config: Omit<ServiceConfig, "storage">;
  readonly identifier: Identifier;
  readonly sessions: Sessions;
  readonly passwords: PasswordUpdates;
  readonly signOns: SignOns;
  readonly audit: LoginAudit;
  /**
   * Returns the account of a login, prepares its home folder, and reports the login to the audit. A login for which
   * `remember` returns `false` was reported with another request.
   * @throws HttpError `denied` if the account cannot be used.
   */
  readonly admit: (login: Login, attempt: LoginAttempt, remember?: () => boolean) => Promise<Account>;
  readonly report: ReportError;
  readonly failureOf: FailureOf;
  /** Emits an event as it is. Endpoints use `emitEvent`, which adds what all events of a request have in common. */
  readonly emit: Emit;
  /** Whether anyone listens to events. Skip work that only serves events if not. */
  readonly hasListeners: () => boolean;
  /** Lets the archives of an account read folders a few at a time. */
  readonly walks: WalkQueue;
  /** Lets the partial listings of an account read folders a few at a time. */
  readonly listingWalks: WalkQueue;
  /** The OpenAPI document of the service (9), made at the first call. */
  readonly openApi: () => Promise<OpenApiTexts>;
  /** The texts of pages in the client's language. */
  readonly texts: Texts;
  /** Absent: the URL space of the request has no resumable uploads. */
  readonly uploads: UploadService | undefined;
  /** Absent: the service has no links. */
  readonly links: LinkService | undefined;
  /** The API keys of the accounts. Absent: no authentication method keeps keys. */
  readonly keys: ChainKeys | undefined;
  /** Absent: the service sends all content of this request itself. */
  readonly offload: Offload | undefined;
  /** Sets what is called if another server sends the content of the response, and reports that it was cut. */
  whenReportedCut?: (act: () => void) => void;
  /** Absent: the responses of the service have no digests. */
  readonly digests: DigestService | undefined;
  /** Absent: an `Idempotency-Key` has no effect. */
  readonly answers: KeptAnswers | undefined;
  /** The link that the request came by, as events have it. */
  eventLink?: EventLink;
  /** The API key of the request, as events have it. */
  eventKey?: EventKey;
  /** What the response to a request for an upload has in addition. Absent: the request is not for an upload. */
  upload?: UploadResponse;
}

/** What the resumable uploads of a service share. */
export interface UploadService {
  readonly times: UploadConfig;
  /** Whether the storage joins uploads. */
  readonly canJoin: boolean;
  /** Runs one task of a key at a time, in this process: completions of an upload, or creations of an account. */
  readonly withLock: <T>(key: string, task: () => Promise<T>) => Promise<T>;
  readonly allowances: UploadAllowances;
  /** Ends what has expired, if that was not done lately. Does not wait for it. */
  sweepSoon(connection: Connection): void;
}

/** What the links of a service share. */
export interface LinkService {
  readonly config: LinkConfig;
  readonly sealed: SealedLinks;
  readonly access: LinkAccess;
  readonly hasher: PasswordHasher;
  /** The names that running uploads to drop folders have chosen. */
  readonly names: ReservedNames;
  /** The settings of an account now; `undefined` if no authentication method knows them. */
  lookup(username: string): Promise<AccountLookup | undefined>;
}

/** What the digests of a service share. */
export interface DigestService {
  /** The size of the largest file that is read for its digest, in bytes. */
  readonly computeBytes: number;
  readonly known: KnownDigests;
  /** Runs one task of a key at a time, in this process: the computing of a version's digests. */
  readonly withLock: <T>(key: string, task: () => Promise<T>) => Promise<T>;
  /** Lets the accounts read files for digests a few at a time. */
  readonly walks: WalkQueue;
}

/** The digests of versions of files that are remembered. Paths are those of the storage. Its calls never reject. */
export interface KnownDigests {
  find(path: string, etag: string, algorithm: FieldAlgorithm): Promise<Uint8Array | undefined>;
  /** Remembers digests by their algorithms; nothing for a version without a strong tag. */
  remember(path: string, etag: string | undefined, digests: ReadonlyMap<string, Uint8Array>): Promise<void>;
}

/** The answers to requests with an `Idempotency-Key`, which are kept for a while. */
export interface KeptAnswers {
  /** Claims the right to run a request. @throws HttpError `unavailable` if the store fails. */
  claim(request: KeyedRequest): Promise<Claim>;
}

/** A request with a key. */
export interface KeyedRequest {
  /** Who sends it. */
  readonly holder: string;
  /** Whose answers are limited together. */
  readonly payer: string;
  readonly url: string;
  readonly key: string;
  /** Its parsed body, as a text. */
  readonly body: string;
}

/** What a claim has found. */
export type Claim =
  | {
      /** The request runs for the first time. Exactly one of the functions must be called; neither rejects. */
      readonly outcome: "first";
      /** Keeps its answer. `undefined`: it cannot be kept, but the request must not run again. */
      readonly keep: (answer: string | undefined) => Promise<void>;
      /** The request has changed nothing, and may run again. */
      readonly release: () => Promise<void>;
    }
  /** `answer`: what was kept; `undefined` if it was not kept. */
  | { readonly outcome: "answered"; readonly answer: string | undefined }
  /** The first request still runs. */
  | { readonly outcome: "running" }
  /** The key was used with another body. */
  | { readonly outcome: "other" };

/** What every response to a request for an upload has, errors included. */
export interface UploadResponse {
  /** The file of the upload, for `Server-Path`. Absent: it is not known. */
  readonly path?: readonly string[];
  readonly fields?: HeaderFields;
}

/** A request with the permits of its account. */
export interface LimitedContext extends RequestContext, RequestPermits {}

/** A request of an identified account. */
export interface AccountContext extends LimitedContext {
  readonly account: Account;
  /** The settings as the authentication method has them, without those of the account's group. */
  readonly settings: AccountSettings;
  /** The link that the request came by. The account and its files are then as the link has them. */
  readonly link?: RequestLink;
  /** How the account was identified. */
  readonly scheme: AuthScheme;
  /** The API key of the request. The account and its files are then as the key has them. */
  readonly key?: ApiKey | undefined;
  /** The ID of the session if the account was identified by one. A secret: never send or log it. */
  readonly session?: string | undefined;
  /** The files that the account may see and change. */
  readonly files: AccountFiles;
  /** The ID of the version that the request reads of a file. Absent: its present content. */
  readonly version?: string;
  /** Creates the same files for a dry run: changes are checked, and look as if they had been made. */
  readonly createDryFiles: () => AccountFiles;
  /**
   * Call it after the body was read, before a change of something other than files: a client may send the rest of its
   * request after a logout. It trusts an answer that is less than a second old, unless `isStrict`.
   * @throws HttpError `unauthorized` if the login has ended, `unavailable` if that is not known.
   */
  readonly confirmLogin: (isStrict?: boolean) => Promise<void>;
}

/** The link of a request. */
export interface RequestLink {
  readonly record: LinkRecord;
  /** The path of the account that is the root of the link. */
  readonly root: readonly string[];
  /** Whether it takes files and never shows what is there (SHARING 6.2). */
  readonly isDropFolder: boolean;
  /** What really is in the link's folder, and what is locked, to choose free names. A drop folder hides it. */
  readonly inside: Pick<AccountFiles, "kindOf" | "requireUnlocked">;
}

/** Responds to a row of the URL table for any client, also without a login. Throws on failure. */
export type OpenEndpoint = (context: LimitedContext) => Promise<Reply>;

/** Responds to a row of the URL table for an identified account. Throws on failure. */
export type AccountEndpoint = (context: AccountContext) => Promise<Reply>;
