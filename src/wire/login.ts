import { z } from "zod";

/** The body of `POST /__svc__/login`, as JSON or as a form (4.1). */
export const loginRequestSchema = z.strictObject({ username: z.string(), password: z.string() });

/** The JSON answer to a login (4.1). */
export const loginResponseSchema = z.strictObject({
  results: z.tuple([z.strictObject({ session: z.string() })]),
});

export type LoginRequest = z.infer<typeof loginRequestSchema>;
export type LoginResponse = z.infer<typeof loginResponseSchema>;
