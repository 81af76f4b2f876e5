import { z } from "zod";

/** One error (7.1). */
const errorSchema = z.strictObject({
  message: z.string(),
  /** What the method that rejected a login has for clients of the JSON API, where the service shows it (7.2). */
  response: z.record(z.string(), z.unknown()).readonly().optional(),
  title: z.literal("Unauthorized").optional(),
});

/** The JSON body of every failure (7.1). */
export const errorsSchema = z.strictObject({ errors: z.array(errorSchema).min(1) });

export type ErrorsBody = z.infer<typeof errorsSchema>;
