import { z } from "zod";

/** One error (7.1). */
const errorSchema = z.strictObject({ message: z.string(), title: z.literal("Unauthorized").optional() });

/** The JSON body of every failure (7.1). */
export const errorsSchema = z.strictObject({ errors: z.array(errorSchema).min(1) });

export type ErrorsBody = z.infer<typeof errorsSchema>;
