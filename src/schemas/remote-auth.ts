import * as z from "zod";
import { CREDENTIAL_TYPES } from "../contracts/authenticator.ts";
import { remoteAccountSchema } from "./account.ts";

/** Maximum size in bytes of a request or response of the external authentication method (CONTRACT 9.1). */
export const MAX_MESSAGE_BYTES = 1024 * 1024;

const peerSchema = z.object({
  address: z.string().min(1),
  port: z.int().min(0).max(65_535),
  family: z.enum(["IPv4", "IPv6"]),
  protocol: z.string().min(1),
});

/** A UUID of any version, or the nil UUID (RFC 9562). */
export const uuidSchema = z.guid();

/**
 * The body of an authentication request (2.3). Unknown members are ignored, because a later version of a service may
 * send more.
 */
export const authenticationRequestSchema = z.object({
  credentials: z.object({
    type: z.enum(CREDENTIAL_TYPES),
    username: z.string(),
    content: z.string(),
    peer: peerSchema,
    creator: z.object({ uuid: uuidSchema, type: z.string().min(1) }),
  }),
  server: z.object({ uuid: uuidSchema }),
});

/**
 * The request of a service to an authentication endpoint (2.3).
 *
 * @interface
 */
export type AuthenticationRequest = z.infer<typeof authenticationRequestSchema>;

/** The body of a response that accepts (2.4). An unknown member is an error. */
export const authenticationSuccessSchema = z.strictObject({ account: remoteAccountSchema.exactOptional() });

/** The JSON body of a 403 (2.5). An unknown member is an error. */
export const authenticationRejectionSchema = z.strictObject({
  code: z.number().exactOptional(),
  message: z.string().exactOptional(),
  extra: z.unknown().optional(),
  public_response: z.record(z.string(), z.unknown()).exactOptional(),
});

/**
 * The possible members of the JSON body of a refusal (2.5).
 *
 * @interface
 */
export type AuthenticationRejection = z.infer<typeof authenticationRejectionSchema>;
