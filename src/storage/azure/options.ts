import type { Presign } from "../../contracts/downloads/presign.ts";
import { checkOption } from "../../contracts/option-error.ts";
import type { StorageAdapter } from "../../contracts/storage-adapter.ts";
import {
  type StoreOptions,
  type StoreSettings,
  toEndpoint,
  toInteger,
  toKeyPrefix,
  toStoreSettings,
} from "../object-store/http/options.ts";
import { MAX_HELD_PART_BYTES } from "../object-store/part-memory.ts";
import { toBlobName } from "./names.ts";

/** The part of `fetch` that the storage uses. */
export type AzureFetch = (url: string, init: RequestInit) => Promise<Response>;

/** Options of `createAzureStorage`. */
export interface AzureStorageOptions extends StoreOptions {
  /** The name of the storage account. */
  readonly account: string;
  readonly container: string;
  /** One of the two keys of the account, in base64. */
  readonly key: string;
  /** URL of the Blob service. Default: `https://<account>.blob.core.windows.net`. */
  readonly endpoint?: string;
  /** Folder of the container that is the storage's root, such as `a/b`. Default: the whole container. */
  readonly prefix?: string;
  /**
   * Size of a block in bytes. Files up to this size are sent by one request. 1 to 64 MiB; default 8 MiB. Blocks double
   * after each 1,000, up to 64 MiB.
   */
  readonly blockBytes?: number;
  /**
   * How many blocks of one upload are sent in parallel. All uploads together send at most four times as many. 1 to 64;
   * default 4.
   */
  readonly parallelBlocks?: number;
}

/** A storage in a container of Azure. */
export interface AzureStorage extends StorageAdapter {
  /**
   * Checks with one request whether the container responds. Rejects with a `StorageError` whose message says what is
   * wrong.
   */
  check(): Promise<void>;
  /**
   * Makes a URL at which everyone can download a file for a time, with the type and name that the service gives it. Of
   * a file that has another version meanwhile there is none. The URL is for what is at the path when it is used. For
   * the option `offload` of the service.
   */
  readonly presignRead: Presign;
}

/** Checked and complete options. Durations are in milliseconds. */
export interface AzureSettings extends StoreSettings {
  /** URL of the container, with a `/` at its end. */
  readonly url: string;
  readonly account: string;
  readonly container: string;
  readonly key: Uint8Array<ArrayBuffer>;
  /** Empty, or with a `/` at its end. */
  readonly prefix: string;
  readonly blockBytes: number;
  readonly parallelBlocks: number;
}

const MEBIBYTE = 1_048_576;

/**
 * Checks the options.
 * @throws OptionError that names the first wrong option.
 */
export function toAzureSettings(options: AzureStorageOptions): AzureSettings {
  const { account, container, endpoint = `https://${account}.blob.core.windows.net`, prefix = "" } = options;
  checkOption(isText(account) && /^[a-z0-9]{3,24}$/.test(account), "account", "the name of a storage account");
  const isContainer = isText(container) && /^[a-z0-9](?:-?[a-z0-9]){2,62}$/.test(container);
  checkOption(isContainer, "container", "the name of a container");
  const { origin, pathname } = toEndpoint(endpoint);
  return {
    ...toStoreSettings(options),
    account,
    container,
    key: toKey(options.key),
    url: `${origin}${pathname.replace(/\/+$/, "")}/${container}/`,
    prefix: toKeyPrefix(prefix, toBlobName),
    blockBytes: toInteger(options, "blockBytes", 8 * MEBIBYTE, MEBIBYTE, MAX_HELD_PART_BYTES),
    parallelBlocks: toInteger(options, "parallelBlocks", 4, 1, 64),
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** The message must not quote the key. */
function toKey(key: unknown): Uint8Array<ArrayBuffer> {
  const isKey = isText(key) && /^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(key);
  checkOption(isKey, "key", "a key of the account, in base64");
  return Uint8Array.from(atob(key as string), (sign) => sign.charCodeAt(0));
}
