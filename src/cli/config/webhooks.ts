import * as z from "zod";
import type { FileEvent } from "../../contracts/events/file-event.ts";
import { createWebhookSink, type WebhookSinkOptions } from "../../sinks/webhook.ts";
import { checkByFactory } from "./option-checks.ts";

/** One entry of `events.webhooks`. */
type WebhookEntry = z.infer<typeof webhookSchema>;

/** The members of a webhook and their types. The sink itself checks the values. */
const webhookSchema = z
  .strictObject({
    url: z.string(),
    username: z.string().exactOptional(),
    password: z.string().exactOptional(),
    headers: z.string().exactOptional(),
    secret: z.string().exactOptional(),
    filter: z.array(z.number()).exactOptional(),
    retries: z.number().exactOptional(),
    timeoutSeconds: z.number().exactOptional(),
    suspendSeconds: z.number().exactOptional(),
    capacity: z.number().exactOptional(),
  })
  .superRefine(checkByFactory((options) => void createWebhookSink(toWebhookOptions(options))));

/** The key `events`: the file of events, as in `NdjsonSinkOptions`, and webhooks. */
export const eventsSchema = z.strictObject({
  file: z.string().min(1, "must not be empty").exactOptional(),
  maxBytes: z.int().min(0, "must be 0 or more").exactOptional(),
  maxFiles: z.int().min(0, "must be 0 or more").exactOptional(),
  webhooks: z.array(webhookSchema).exactOptional(),
});

/** The options of the sink of a webhook. The sink checks the identifiers of events. */
export function toWebhookOptions(webhook: WebhookEntry): WebhookSinkOptions {
  const { filter, ...options } = webhook;
  return { ...options, ...(filter !== undefined && { filter: filter as readonly FileEvent["id"][] }) };
}
