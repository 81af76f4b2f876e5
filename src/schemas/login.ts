import * as z from "zod";

/** The body of `POST /__svc__/login` as JSON (4.1). */
export const loginRequestSchema = z.strictObject({
  username: z.string(),
  password: z.string(),
  /** A one-time password or a recovery code, for accounts that need one. */
  one_time_password: z.string().exactOptional(),
});

/**
 * The body of `POST /__svc__/login` as a form (4.1). It may name the page after the login; further fields are ignored.
 */
export const loginFormSchema = z.object({ ...loginRequestSchema.shape, return: z.string().optional() });

/** The JSON response to a login (4.1). */
export const loginResponseSchema = z.strictObject({
  results: z.tuple([z.strictObject({ session: z.string() })]),
});

export type LoginRequest = z.infer<typeof loginRequestSchema>;
export type LoginResponse = z.infer<typeof loginResponseSchema>;
