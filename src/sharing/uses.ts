import type { LinkRecord } from "./record.ts";
import { type StoreTexts, toLinkKey } from "./store-text.ts";

/** Counts the uses of links with a limit. All methods reject with HttpError `unavailable` if the store fails. */
export interface LinkUses {
  /** Takes a use, or `count` of them together. Returns whether as many were left; else it takes none. */
  take(link: LimitedLink, count?: number): Promise<boolean>;
  /**
   * Gives a use back, or those of an upload that was several files. An upload that was refused or has failed always
   * does. Downloads that were cut count: a link gives back five of them in its life.
   */
  giveBack(link: LimitedLink, reason: "upload" | "download", count?: number): Promise<void>;
  /** The number of uses that were taken. */
  count(link: Pick<LinkRecord, "id">): Promise<number>;
}

/** A link whose uses are limited. */
export type LimitedLink = Pick<LinkRecord, "id" | "expires"> & { readonly maxUses: number };

/** How many cut downloads give their use back. */
const MAX_CUT = 5;

interface Count {
  readonly taken: number;
  /** How many cut downloads have given their use back. */
  readonly cut: number;
}

/** Creates the counts in a store. */
export function createLinkUses(texts: StoreTexts): LinkUses {
  const toKey = (id: string): string => toLinkKey("link-uses", id);

  async function change({ id, expires }: LimitedLink, next: (count: Count) => Count): Promise<void> {
    await texts.update(
      toKey(id),
      () => expires * 1000,
      (text) => JSON.stringify(next(parseCount(text))),
    );
  }

  async function take(link: LimitedLink, count = 1): Promise<boolean> {
    let isTaken = false;
    await change(link, ({ taken, cut }) => {
      isTaken = taken + count <= link.maxUses;
      return { taken: isTaken ? taken + count : taken, cut };
    });
    return isTaken;
  }

  async function giveBack(link: LimitedLink, reason: "upload" | "download", count = 1): Promise<void> {
    await change(link, ({ taken, cut }) => {
      if (reason === "upload") return { taken: Math.max(0, taken - count), cut };
      return cut < MAX_CUT ? { taken: Math.max(0, taken - 1), cut: cut + 1 } : { taken, cut };
    });
  }

  return { take, giveBack, count: async ({ id }) => parseCount(await texts.get(toKey(id))).taken };
}

function parseCount(text: string | undefined): Count {
  return text === undefined ? { taken: 0, cut: 0 } : (JSON.parse(text) as Count);
}
