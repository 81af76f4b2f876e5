import type { Branding } from "../contracts/branding.ts";
import type { PartialTexts } from "../contracts/texts.ts";
import type { FileServiceOptions } from "./options.ts";

/** What the options say of pages, checked and complete. */
export interface PageConfig {
  readonly branding: Branding;
  /** By language tag as it was given. */
  readonly languages: ReadonlyMap<string, PartialTexts>;
  readonly frameAncestors: readonly string[];
}

/**
 * Checks the options of pages.
 * @throws TypeError naming the option that is wrong.
 */
export function toPageConfig({ branding = {}, languages = {}, frameAncestors = [] }: FileServiceOptions): PageConfig {
  return {
    branding: { ...branding },
    languages: new Map(Object.entries(languages)),
    frameAncestors: [...frameAncestors],
  };
}
