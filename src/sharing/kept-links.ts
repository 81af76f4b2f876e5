import { foldName } from "../contracts/account-name.ts";
import { createError } from "../http/errors.ts";
import { inParallel } from "../platform/in-parallel.ts";
import { memoize } from "../platform/memoize.ts";
import { type LinkRecord, parseLinkRecord } from "./record.ts";
import { type StoreTexts, toLinkKey } from "./store-text.ts";

/** The links in a store. All methods reject with HttpError `unavailable` if the store fails. */
export interface KeptLinks {
  /** Checks that an account may have one link more, before work is done for it. @throws HttpError `too-many-links` */
  requireRoom(username: string, max: number): Promise<void>;
  /** Keeps a link until it expires. @throws HttpError `too-many-links` if the account has `max` already. */
  add(record: LinkRecord, max: number): Promise<void>;
  /** Returns a link; `undefined` if there is none, or none any more. */
  find(id: string): Promise<LinkRecord | undefined>;
  /** Returns the links of an account, newest first. */
  list(username: string): Promise<readonly LinkRecord[]>;
  /** Removes a link. Returns whether this call has removed it. */
  remove(record: LinkRecord): Promise<boolean>;
  /** Removes the links of an account. Calls `onRemoved` for each that it has removed, and returns how many. */
  removeAll(username: string, onRemoved: (record: LinkRecord) => void): Promise<number>;
}

/** The ID of a link of an account, and when it expires in POSIX seconds. */
type Listed = readonly [id: string, expires: number];

/** How many records of a list are read or removed at the same time. */
const PARALLEL = 16;

/** Creates the links of a store. `clock` returns milliseconds. */
export function createKeptLinks(texts: StoreTexts, clock: () => number): KeptLinks {
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

  async function requireRoom(username: string, max: number): Promise<void> {
    requireFewer(await readListed(username), max);
  }

  async function add(record: LinkRecord, max: number): Promise<void> {
    const { id, username, expires } = record;
    await updateList(username, (listed) => {
      requireFewer(listed, max);
      return [...listed, [id, expires]];
    });
    await texts.update(
      toLinkKey("link", id),
      () => expires * 1000,
      () => JSON.stringify(record),
    );
  }

  async function find(id: string): Promise<LinkRecord | undefined> {
    const text = await texts.get(toLinkKey("link", id));
    const record = text === undefined ? undefined : parse(text);
    return record !== undefined && record.id === id && isLive([id, record.expires]) ? record : undefined;
  }

  async function list(username: string): Promise<readonly LinkRecord[]> {
    const listed = await readListed(username);
    const found = new Map<string, LinkRecord>();
    await inParallel(listed, { most: PARALLEL }, async ([id]) => {
      const record = await find(id);
      if (record !== undefined) found.set(id, record);
    });
    return listed
      .flatMap(([id]) => found.get(id) ?? [])
      .toReversed()
      .toSorted((one, other) => other.created - one.created);
  }

  async function removeRecord({ id, expires }: LinkRecord): Promise<boolean> {
    let wasThere = false;
    await texts.update(
      toLinkKey("link", id),
      () => expires * 1000,
      (text) => {
        wasThere = text !== undefined;
        return undefined;
      },
    );
    return wasThere;
  }

  async function remove(record: LinkRecord): Promise<boolean> {
    const { id, username } = record;
    const wasThere = await removeRecord(record);
    await updateList(username, (listed) => listed.filter(([one]) => one !== id));
    return wasThere;
  }

  async function removeAll(username: string, onRemoved: (record: LinkRecord) => void): Promise<number> {
    const records = await list(username);
    const ids = new Set(records.map(({ id }) => id));
    let count = 0;
    await inParallel(records, { most: PARALLEL }, async (record) => {
      if (!(await removeRecord(record))) return;
      count += 1;
      onRemoved(record);
    });
    // The list once for all of them: it has up to 10,000 links.
    await updateList(username, (listed) => listed.filter(([id]) => !ids.has(id)));
    return count;
  }

  return { requireRoom, add, find, list, remove, removeAll };
}

function parseListed(text: string | undefined): readonly Listed[] {
  return text === undefined ? [] : (JSON.parse(text) as readonly Listed[]);
}

/** @throws HttpError `too-many-links` */
function requireFewer({ length }: readonly Listed[], max: number): void {
  if (length >= max) throw createError("too-many-links", { values: { max } });
}
