import * as z from "zod";
import { KEY_PERMISSIONS } from "../contracts/api-keys.ts";
import { CREDENTIAL_TYPES } from "../contracts/authenticator.ts";
import type { FileEvent } from "../contracts/events/file-event.ts";
import { LINK_REFUSALS } from "../contracts/events/links.ts";
import { LINK_PERMISSIONS } from "../contracts/links.ts";

/*
 * The JSON of events in files and webhooks (6, CONTRACT 8), for receivers and for the tests of the service. An unknown
 * member is an error.
 */

const peerSchema = z.strictObject({
  address: z.string(),
  port: z.int(),
  family: z.enum(["IPv4", "IPv6"]),
  protocol: z.literal("TCP"),
});

const envelope = {
  message: z.string().min(1),
  timestamp: z.strictObject({ timestamp: z.number(), iso_8601: z.iso.datetime() }),
  account: z
    .strictObject({ uuid: z.string(), name: z.string(), email: z.string(), peer: peerSchema.exactOptional() })
    .exactOptional(),
  link: z.strictObject({ id: z.string(), label: z.string(), sender: z.string().exactOptional() }).exactOptional(),
  key: z.strictObject({ id: z.string(), label: z.string() }).exactOptional(),
  component: z.strictObject({ uuid: z.guid(), type: z.string() }),
  server: z.strictObject({ uuid: z.guid() }),
  trace: z.strictObject({ traceparent: z.string(), tracestate: z.string().exactOptional() }).exactOptional(),
} as const;

const location = { path: z.string(), real_path: z.string() };
const reason = { details: z.string() };
const locations = { ...location, destination: z.string(), destination_real_path: z.string() };
const lock = { scope: z.enum(["exclusive", "shared"]), depth: z.enum(["0", "infinity"]) };
const amount = z.number().min(0);
const written = { total_write: amount, duration: amount, write_speed: amount };
const read = { total_read: amount, duration: amount, read_speed: amount };
const ofVersion = { version: z.string().exactOptional() };
const opened = { ...location, ...ofVersion };
const download = { ...opened, ...read, handed_over: z.enum(["nginx", "apache", "presigned"]).exactOptional() };
const upload = { ...opened, metadata: z.record(z.string(), z.array(z.string())).exactOptional() };
const session = { duration: amount };
const request = { ...reason, method: z.string(), path: z.string(), peer: peerSchema.exactOptional() };

const leftOut = { others: z.int().min(1).exactOptional() };
const rejectionReason = ["credentials", "unavailable", "failure"] as const;
const login = {
  credentials: z.strictObject({ type: z.enum([...CREDENTIAL_TYPES, "identity", "api-key"]) }),
  verdicts: z.array(
    z.strictObject({
      method: z.string(),
      outcome: z.enum(["accepted", "unknown", "rejected"]),
      reason: z.enum(rejectionReason).exactOptional(),
      message: z.string().exactOptional(),
      audit: z.unknown().exactOptional(),
    }),
  ),
};
const refusal = {
  reason: z.enum([
    "unknown",
    ...rejectionReason,
    "throttled",
    "account",
    "cross-site",
    "expired",
    "key-required",
    "second-factor-required",
    "second-factor-wrong",
    "second-factor-throttled",
  ]),
  details: z.string().exactOptional(),
  ...leftOut,
};

const trashed = { trash: z.string().exactOptional() };

function event<Id extends FileEvent["id"], Data extends z.ZodRawShape>(id: Id, data: Data) {
  return z.strictObject({ id: z.literal(id), ...envelope, data: z.strictObject(data) });
}

/** Every event. */
export const fileEventSchema = z.discriminatedUnion("id", [
  event(40000, { ...login, ...refusal }),
  event(40004, opened),
  event(40006, location),
  event(40007, { ...login, session: z.boolean() }),
  event(40010, location),
  event(40011, { ...location, ...reason }),
  event(40012, { ...location, ...trashed }),
  event(40013, { ...location, ...reason }),
  event(40014, { ...location, ...read, ...reason }),
  event(40015, session),
  event(40016, location),
  event(40017, { ...upload, ...written, scan: z.enum(["clean", "skipped", "unavailable"]).exactOptional() }),
  event(40018, { ...download, ...reason }),
  event(40019, { ...request, ...leftOut }),
  event(40021, upload),
  event(40022, { ...upload, ...written, ...reason }),
  event(40023, request),
  event(40025, { ...location, ...read }),
  event(40026, { ...location, ...trashed }),
  event(40027, { ...location, ...reason }),
  event(40030, { ...location, ...reason }),
  event(40034, { ...location, ...read }),
  event(40035, { ...opened, ...reason }),
  event(40037, session),
  event(40039, download),
  event(40040, { ...download, ...reason }),
  event(40041, { ...location, ...read, ...reason }),
  event(40042, { url: z.string(), details: z.string(), suspended: z.number() }),
  event(40043, { trigger: z.string(), path: z.string(), details: z.string().nullable() }),
  event(40055, { ...locations, replaced: z.boolean() }),
  event(40056, { ...locations, ...reason }),
  event(49001, { ...locations, replaced: z.boolean() }),
  event(49002, { ...locations, ...reason }),
  event(49003, { ...location, ...lock, seconds: z.number() }),
  event(49004, { ...location, ...lock, ...reason }),
  event(49005, { ...location, ...lock }),
  event(49006, location),
  event(49007, { ...location, ...reason }),
  event(49101, {
    ...location,
    permissions: z.array(z.enum(LINK_PERMISSIONS)),
    expires: z.int(),
    has_password: z.boolean(),
    max_uses: z.int().nullable(),
  }),
  event(49102, { path: z.string() }),
  event(49103, { reason: z.enum(LINK_REFUSALS), ...leftOut }),
  event(49121, {
    permissions: z.array(z.enum(KEY_PERMISSIONS)).nullable(),
    path: z.string(),
    expires: z.int().nullable(),
  }),
  event(49122, { path: z.string() }),
  event(49111, { ...location, trash: z.string() }),
  event(49112, { ...location, trash: z.string(), reason: z.enum(["account", "age", "space"]) }),
  event(49113, { ...location, version: z.string() }),
]);

/** The body of a webhook request. */
export const webhookBodySchema = z.strictObject({ events: z.array(fileEventSchema).min(1) });
