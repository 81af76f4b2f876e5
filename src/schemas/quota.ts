import * as z from "zod";

const count = z.int().min(0);

/** The JSON response of `GET /home/__svc__/quota`: an entry for the home, and one for each limited virtual folder. */
export const quotaSchema = z.strictObject({
  results: z.array(
    z.strictObject({
      /** The path of the folder below the account's root. */
      path: z.string(),
      used_bytes: count,
      /** `null`: no limit. */
      limit_bytes: count.nullable(),
      /** `null`: no limit. Never negative. */
      available_bytes: count.nullable(),
      used_files: count,
      limit_files: count.nullable(),
      available_files: count.nullable(),
    }),
  ),
});

/** The response of {@link quotaSchema}. */
export type QuotaResponse = z.infer<typeof quotaSchema>;
