import * as z from "zod";

/** The body of `POST /home/__svc__/password-update`, as JSON (4.1). */
export const passwordUpdateRequestSchema = z.strictObject({ current_password: z.string(), new_password: z.string() });

/** A form may repeat the new password, as the page does. */
export const passwordUpdateFormSchema = passwordUpdateRequestSchema.extend({
  repeated_password: z.string().optional(),
});

/** The JSON response to a password change (CONTRACT 7.6). */
export const passwordUpdateResponseSchema = z.strictObject({
  results: z.tuple([z.strictObject({ message: z.string() })]),
});

export type PasswordUpdateRequest = z.infer<typeof passwordUpdateRequestSchema>;
export type PasswordUpdateResponse = z.infer<typeof passwordUpdateResponseSchema>;
