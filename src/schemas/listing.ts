import * as z from "zod";

/** One member of a folder (2.1). */
export const listingEntrySchema = z.strictObject({
  name: z.string(),
  is_directory: z.boolean(),
  /** POSIX seconds, with at most three decimals. */
  modified: z.number(),
  /** Bytes; 0 for folders. */
  size: z.int().nonnegative(),
});

/** The members of a folder, `{ content: [ entry, ... ] }` (2.1). */
export const listingSchema = z.strictObject({ content: z.array(listingEntrySchema) });

/** What was found below a folder: `path` leads from there to the member, without a `/` at its end. */
export const foundEntrySchema = listingEntrySchema.extend({ path: z.string() });

/** The members below a folder that a search has found. `truncated`: there may be more. */
export const searchSchema = z.strictObject({ content: z.array(foundEntrySchema), truncated: z.boolean() });

export type ListingEntry = z.infer<typeof listingEntrySchema>;
