import type { KeyValueStore } from "../contracts/key-value-store.ts";
import { createError } from "../http/errors.ts";
import { createBoundedMap } from "../platform/bounded-map.ts";
import { type LinkRecord, type LinkToken, parseLinkToken } from "./record.ts";
import { createSeal, type Seal } from "./seal.ts";
import { createStoreTexts } from "./store-text.ts";
import { createStoredLinks, type StoredLinks } from "./stored-links.ts";
import { createLinkUses, type LinkUses } from "./uses.ts";

/** What a token has led to. */
export type OpenedLink =
  | { readonly outcome: "live"; readonly record: LinkRecord }
  /** The link has expired. */
  | { readonly outcome: "expired"; readonly id: string }
  /** It was withdrawn, or the store was emptied. */
  | { readonly outcome: "withdrawn"; readonly id: string };

/** The links of a service, by their records and tokens. */
export interface SealedLinks {
  /** The links in the store. Absent: there is no store, so a link has everything in its token. */
  readonly stored?: StoredLinks;
  /** The counts of uses in the store. */
  readonly uses?: LinkUses;
  /** Seals what the cookie of a link has. */
  readonly unlock: Seal;
  /** Seals the names of the files that a form has sent to a drop folder. */
  readonly sent: Seal;
  /** Seals a link. @throws HttpError `link-too-long` */
  toToken(record: LinkRecord): Promise<string>;
  /**
   * Opens a token. Returns `undefined` if it is none, before the store is asked.
   * @throws HttpError `unavailable` if the store fails.
   */
  open(token: string): Promise<OpenedLink | undefined>;
  /** Whether an opened link has everything in its token, although there may be a store now. */
  isFree(record: LinkRecord): boolean;
}

/** Options of {@link createSealedLinks}. */
export interface SealedLinksOptions {
  /** The first secret seals, all of them open. */
  readonly secrets: readonly string[];
  readonly store: KeyValueStore | undefined;
  /** POSIX milliseconds. */
  readonly clock: () => number;
}

/** How many opened tokens are kept. */
const MAX_CONTENTS = 1000;
/** Longer tokens do not fit into the URLs that all programs take. */
const MAX_TOKEN_CHARACTERS = 2000;

/** Creates the links of a service. */
export function createSealedLinks({ secrets, store, clock }: SealedLinksOptions): SealedLinks {
  const seal = createSeal(secrets, "fileferry link 1");
  const texts = store && createStoreTexts(store, clock);
  const stored = texts && createStoredLinks(texts, clock);
  const uses = texts && createLinkUses(texts);
  /** The contents of tokens. Not promises: on Workers these belong to the request that made them. */
  const contents = createBoundedMap<string, LinkToken>(MAX_CONTENTS);
  const free = new WeakSet<LinkRecord>();

  async function openToken(token: string): Promise<LinkToken | undefined> {
    const known = contents.get(token);
    if (known !== undefined) return known;
    const text = await seal.open(token);
    const content = text === undefined ? undefined : parseLinkToken(text);
    if (content === undefined) return undefined;
    if ("free" in content) free.add(content.free);
    contents.set(token, content);
    return content;
  }

  async function toToken(record: LinkRecord): Promise<string> {
    const { id, expires } = record;
    const content: LinkToken = stored ? { v: 1, kept: { id, expires } } : { v: 1, free: record };
    const token = await seal.seal(JSON.stringify(content));
    if (token.length > MAX_TOKEN_CHARACTERS) throw createError("link-too-long");
    return token;
  }

  async function open(token: string): Promise<OpenedLink | undefined> {
    const content = await openToken(token);
    if (content === undefined) return undefined;
    const { id, expires } = "kept" in content ? content.kept : content.free;
    if (clock() >= expires * 1000) return { outcome: "expired", id };
    const record = "kept" in content ? await stored?.find(id) : content.free;
    return record === undefined ? { outcome: "withdrawn", id } : { outcome: "live", record };
  }

  return {
    ...(stored && { stored }),
    ...(uses && { uses }),
    unlock: createSeal(secrets, "fileferry unlock 1"),
    sent: createSeal(secrets, "fileferry sent 1"),
    toToken,
    open,
    isFree: (record) => free.has(record),
  };
}
