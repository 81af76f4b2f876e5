import { foldName } from "../contracts/account-name.ts";
import { createError } from "../http/errors.ts";
import { inParallel } from "../platform/in-parallel.ts";
import { memoize } from "../platform/memoize.ts";
import { isLinkOf, type LinkAccount, type LinkRecord, parseLinkRecord } from "./record.ts";
import { type StoreTexts, toLinkKey } from "./store-text.ts";

/** The links in a store. All methods reject with HttpError `unavailable` if the store fails. */
export interface StoredLinks {
  /**
   * Checks that an account may have a number of links more, before work is done for them. Links that are over, or of an
   * account that had the name before, do not count. `more`: default 1.
   * @throws HttpError `too-many-links`
   */
  requireRoom(account: LinkAccount, max: number, more?: number): Promise<void>;
  /** Keeps a link until it expires. @throws HttpError `too-many-links` if the account has `max` already. */
  add(record: LinkRecord, max: number): Promise<void>;
  /** Returns a link; `undefined` if there is none, or none any more. */
  find(id: string): Promise<LinkRecord | undefined>;
  /**
   * Returns those links of a name, in any spelling, that are wanted: newest first, and a few at a time, as an account
   * may have 10,000 of them.
   */
  read(username: string, isWanted: IsWanted): AsyncGenerator<readonly LinkRecord[], void>;
  /** Removes a link. Returns whether this call has removed it. */
  remove(record: LinkRecord): Promise<boolean>;
  /**
   * Removes those links of a name, in any spelling, that are wanted, also those that are added meanwhile, as long as it
   * finds some. Calls `onRemoved` for each that it has removed, and returns how many.
   */
  removeAll(username: string, isWanted: IsWanted, onRemoved: (record: LinkRecord) => void): Promise<number>;
}

/** Whether a link is meant: the links of names that differ in spelling are in one list, for the limit of an account. */
type IsWanted = (record: LinkRecord) => boolean;

/** The ID of a link of an account, and when it expires in POSIX seconds. */
type Listed = readonly [id: string, expires: number];

/** How many records of a list are read or removed at the same time. */
const PARALLEL = 16;
/** How often the list is read again for links that were added during a removal of all. */
const MAX_ROUNDS = 10;

/** Creates the links of a store. `clock` returns milliseconds. */
export function createStoredLinks(texts: StoreTexts, clock: () => number): StoredLinks {
  // The same object for the same text: what is derived from a record can be kept with it.
  const parse = memoize(parseLinkRecord, { maxCharacters: 10_000 });

  const isLive = ([, expires]: Listed): boolean => expires * 1000 > clock();

  async function updateList(username: string, change: (listed: readonly Listed[]) => readonly Listed[]): Promise<void> {
    let last = 0;
    await texts.update(
      toLinkKey("links-of", foldName(username)),
      () => last,
      (text) => {
        const listed = change(parseListed(text).filter(isLive));
        last = 1000 * Math.max(0, ...listed.map(([, expires]) => expires));
        return listed.length === 0 ? undefined : JSON.stringify(listed);
      },
    );
  }

  async function readListed(username: string): Promise<readonly Listed[]> {
    return parseListed(await texts.get(toLinkKey("links-of", foldName(username)))).filter(isLive);
  }

  async function requireRoom(account: LinkAccount, max: number, more = 1): Promise<void> {
    const { name } = account;
    if ((await readListed(name)).length + more <= max) return;
    const isOwn = isLinkOf(account);
    await removeListed(name, (record) => record.username === name && !isOwn(record));
    requireFewer(await readListed(name), max, more);
  }

  async function unlist(username: string, ids: ReadonlySet<string>): Promise<void> {
    await updateList(username, (listed) => listed.filter(([id]) => !ids.has(id)));
  }

  async function add(record: LinkRecord, max: number): Promise<void> {
    const { id, username, expires } = record;
    const own: Listed = [id, expires];
    // First, because a link of the list without a record counts as over, and leaves the list.
    await changeRecord(own, () => JSON.stringify(record));
    try {
      await updateList(username, (listed) => {
        requireFewer(listed, max);
        return [...listed, own];
      });
    } catch (error) {
      await removeRecord(own);
      throw error;
    }
    // Another process without an atomic store may have written its list over this one. A link must not be missing
    // there: a removal of all would not end it.
    const isListed = (listed: readonly Listed[]): boolean => listed.some(([one]) => one === id);
    if (isListed(await readListed(username))) return;
    await updateList(username, (listed) => (isListed(listed) ? listed : [...listed, own]));
  }

  async function find(id: string): Promise<LinkRecord | undefined> {
    const text = await texts.get(toLinkKey("link", id));
    const record = text === undefined ? undefined : parse(text);
    return record !== undefined && record.id === id && isLive([id, record.expires]) ? record : undefined;
  }

  const read: StoredLinks["read"] = async function* (username, isWanted) {
    const listed = (await readListed(username)).toReversed();
    for (let start = 0; start < listed.length; start += PARALLEL) {
      const records = await Promise.all(listed.slice(start, start + PARALLEL).map(([id]) => find(id)));
      yield records.filter((record) => record !== undefined).filter(isWanted);
    }
  };

  async function changeRecord([id, expires]: Listed, change: (text?: string) => string | undefined): Promise<void> {
    await texts.update(toLinkKey("link", id), () => expires * 1000, change);
  }

  async function removeRecord(one: Listed): Promise<boolean> {
    let wasThere = false;
    await changeRecord(one, (text) => {
      wasThere = text !== undefined;
      return undefined;
    });
    return wasThere;
  }

  async function remove(record: LinkRecord): Promise<boolean> {
    const { id, username, expires } = record;
    const wasThere = await removeRecord([id, expires]);
    await unlist(username, new Set([id]));
    return wasThere;
  }

  /** Removes the wanted links of a list, and takes those off it that are over. Returns how many both are. */
  async function removeListed(
    username: string,
    isWanted: IsWanted,
    onRemoved?: (record: LinkRecord) => void,
  ): Promise<number> {
    const gone = new Set<string>();
    await inParallel(await readListed(username), { most: PARALLEL }, async (one) => {
      const record = await find(one[0]);
      if (record !== undefined) {
        if (!isWanted(record)) return;
        if (await removeRecord(one)) onRemoved?.(record);
      }
      gone.add(one[0]);
    });
    // The list once for all of them: it has up to 10,000 links.
    if (gone.size > 0) await unlist(username, gone);
    return gone.size;
  }

  const removeAll: StoredLinks["removeAll"] = async (username, isWanted, onRemoved) => {
    let count = 0;
    for (let round = 1; round <= MAX_ROUNDS; round += 1) {
      const found = await removeListed(username, isWanted, (record) => {
        count += 1;
        onRemoved(record);
      });
      if (found === 0) break;
    }
    return count;
  };

  return { requireRoom, add, find, read, remove, removeAll };
}

function parseListed(text: string | undefined): readonly Listed[] {
  return text === undefined ? [] : (JSON.parse(text) as readonly Listed[]);
}

/** @throws HttpError `too-many-links` */
function requireFewer({ length }: readonly Listed[], max: number, more = 1): void {
  if (length + more > max) throw createError("too-many-links", { values: { max } });
}
