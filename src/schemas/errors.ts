import * as z from "zod";

/** One error (7.1). */
const errorSchema = z.strictObject({
  message: z.string(),
  /** Members from the method that rejected a login, for clients of the JSON API, if the service shows them (7.2). */
  response: z.record(z.string(), z.unknown()).readonly().optional(),
  title: z.literal("Unauthorized").optional(),
});

/** The JSON body of every failure (7.1). */
export const errorsSchema = z.strictObject({ errors: z.array(errorSchema).min(1) });

export type ErrorsBody = z.infer<typeof errorsSchema>;
