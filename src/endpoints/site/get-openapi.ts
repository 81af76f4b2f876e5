import type { Reply } from "../../http/reply.ts";
import { JSON_FIELDS, textReply } from "../../http/reply.ts";
import type { RequestContext } from "../../request/context.ts";

/**
 * `GET /__svc__/openapi.yaml`, `/____svc__/openapi.yaml` and `/__svc__/openapi.json`: the OpenAPI document of the
 * service, for any client (1.1, item 3; CONTRACT 2.9).
 */
export async function getOpenApi({ target, openApi }: RequestContext): Promise<Reply> {
  const { yaml, json } = await openApi();
  return target.path.endsWith(".json")
    ? textReply(200, json(), JSON_FIELDS)
    : textReply(200, yaml(), { "Content-Type": "application/yaml; charset=utf-8" });
}
