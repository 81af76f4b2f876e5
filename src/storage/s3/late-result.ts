import { wait } from "../../platform/wait.ts";
import { isSuccessful, type StoreRequest, type StoreResponse } from "../object-store/http/client.ts";
import { isTemporary, toWait } from "../object-store/http/retry.ts";
import { childText, parseResponse } from "../object-store/http/xml.ts";
import type { S3Client } from "./client.ts";
import { toCode } from "./errors.ts";

/** Additional milliseconds that a store may take for a large object. */
const PATIENCE_MS = 300_000;

/**
 * Sends a request that may take long. Stores respond 200 early to such requests, and report the outcome in the body:
 * the element `result`, or an error. The returned status is that of the outcome. `attempts` counts all requests.
 */
export async function callForResult(client: S3Client, request: StoreRequest, result: string): Promise<StoreResponse> {
  for (let attempts = 1; ; attempts += 1) {
    const response = await client.call({ ...request, patience: PATIENCE_MS });
    const root = isSuccessful(response) ? parseResponse(response.text) : undefined;
    if (!isSuccessful(response) || root?.name === result) {
      return { ...response, attempts: response.attempts + attempts - 1 };
    }
    const code = toCode(childText(root, "Code"));
    if (attempts > client.settings.retries || !isTemporary(0, code)) {
      return { ...response, status: code === "PreconditionFailed" ? 412 : 500, attempts: response.attempts + attempts };
    }
    await wait(toWait(attempts, null, client.settings), request.signal);
  }
}
