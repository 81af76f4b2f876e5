import {
  createStoreClient,
  type SignedAttempt,
  type StoreClient,
  type StoreRequest,
} from "../object-store/http/client.ts";
import { encodeKey, encodeQuery } from "../object-store/http/encode.ts";
import { toAzureCode } from "./errors.ts";
import type { AzureSettings } from "./options.ts";
import { API_VERSION, createSignText, type SignedReadParameters, toReadQuery, toSignedText } from "./signature.ts";

/** A request to a container, or to a blob of it. */
export interface AzureRequest extends StoreRequest {
  /** Sends this signed URL without a signature in the headers. */
  readonly signedUrl?: string;
}

/** A client of one container. */
export interface AzureClient extends StoreClient<AzureRequest> {
  readonly settings: AzureSettings;
  /** Returns a URL at which everyone can read a blob for a time. */
  presign(key: string, seconds: number, parameters: SignedReadParameters): Promise<string>;
}

/** Creates a client of one container. */
export function createAzureClient(settings: AzureSettings): AzureClient {
  const signText = createSignText(settings);

  /** Each attempt has its own time, and so its own signature. */
  async function sign(request: AzureRequest): Promise<SignedAttempt> {
    const { method, key = "", query = {}, headers = {}, body, signedUrl } = request;
    const path = key === "" ? settings.url.slice(0, -1) : `${settings.url}${encodeKey(key)}`;
    const url = new URL(signedUrl ?? `${path}${encodeQuery(query)}`);
    const sent: Record<string, string> = {
      ...headers,
      "x-ms-date": new Date(settings.clock()).toUTCString(),
      "x-ms-version": API_VERSION,
    };
    if (signedUrl === undefined) {
      const text = toSignedText(settings.account, { method, url, headers: sent, contentLength: body?.byteLength ?? 0 });
      sent["authorization"] = `SharedKey ${settings.account}:${await signText(text)}`;
    }
    // Not part of the signature.
    return { url: url.href, headers: new Headers({ ...sent, "accept-encoding": "identity" }) };
  }

  async function presign(key: string, seconds: number, parameters: SignedReadParameters): Promise<string> {
    return `${settings.url}${encodeKey(key)}?${await toReadQuery(signText, settings, { key, seconds, ...parameters })}`;
  }

  return {
    ...createStoreClient(settings, { sign, codeOf: toAzureCode, describe: describeAzureRequest }),
    settings,
    presign,
  };
}

/** Describes a request for the log, without keys and signatures. */
export function describeAzureRequest({ method, key, query = {} }: AzureRequest): string {
  return [method, key ?? "container", ...(query["comp"] === undefined ? [] : [query["comp"]])].join(" ");
}
