import type { commandsResponseSchema } from "../schemas/commands.ts";
import { createHash, toDigestHeader, verifyResponse, WANTED_DIGEST } from "./digests.ts";
import { FileferryError, throwFailure, toResponseError } from "./error.ts";
import type { FileClient } from "./file-client.ts";
import { toCommonHeaders, toConditionHeaders, toEntityTag, toMetadataHeader, toModified } from "./headers.ts";
import { parseListing } from "./listing.ts";
import type {
  ClientOptions,
  PutOptions,
  RequestOptions,
  ResumeOptions,
  SavedUpload,
  UploadContent,
} from "./options.ts";
import { toFilePath, toFolderPath, toNames, toVersionsPath } from "./paths.ts";
import type { AccountDescription, Entry, FileVersionEntry, FoundEntry, PutResult } from "./results.ts";
import { toResumableContent } from "./resumable-content.ts";
import { uploadResumably } from "./resumable-upload.ts";
import { isStream, openContent, sizeOf } from "./streams.ts";
import { type ClientRequest, createUpload, type Transport } from "./upload.ts";

/** The body of a response to commands that all succeeded. */
type CommandsBody = ReturnType<(typeof commandsResponseSchema)["parse"]>;

/** Smaller content is sent in one request, unless the caller says otherwise: it is sent again as quickly. */
const MIN_RESUMABLE_BYTES = 8 * 1024 ** 2;

/** Creates a client of the service's JSON API. */
export function createClient({ baseUrl, credentials, fetch, metadataHeader, createSha256 }: ClientOptions): FileClient {
  const base = String(baseUrl).replace(/\/+$/, "");
  const common = toCommonHeaders(credentials);
  const byFetch: Transport = fetch ?? globalThis.fetch;

  /** Sends a request. @throws FileferryError for a failure, or the reason of an aborted signal. */
  async function send(
    path: string,
    { headers, signal, ...request }: RequestOptions & Partial<Omit<ClientRequest, "signal">>,
    transport = byFetch,
  ): Promise<Response> {
    const sent = { ...request, headers: { ...common, ...headers }, signal: signal ?? null };
    const response = await transport(base + path, sent).catch((cause) => throwFailure(cause, signal));
    if (response.ok || response.status === 304) return response;
    const error = await toResponseError(response);
    return throwFailure(error, signal);
  }

  async function* list(path: string, { signal }: RequestOptions = {}): AsyncGenerator<Entry, void, undefined> {
    const { body } = await send(toFolderPath(path), { signal });
    try {
      if (body !== null) yield* parseListing(body);
    } catch (cause) {
      throwFailure(cause, signal);
    }
  }

  /** Uploads in several requests. Returns `undefined` if the service has no such uploads. */
  async function putResumably(
    saved: Omit<SavedUpload, "id"> & { readonly id?: string },
    content: UploadContent,
    options: ResumeOptions,
  ): Promise<PutResult | undefined> {
    const { id, path, size, metadata, ...conditions } = saved;
    const readable = toResumableContent(content, size);
    if (readable === undefined || (id !== undefined && size !== undefined && readable.size !== size)) {
      throw new TypeError(`The content must be readable again, and have ${size ?? "the same number of"} bytes.`);
    }
    const headers = {
      "Upload-Complete": "?0",
      ...(readable.size !== undefined && { "Upload-Length": `${readable.size}` }),
      ...toConditionHeaders(conditions),
      ...toMetadataHeader(metadata, metadataHeader),
    };
    return uploadResumably({
      send,
      content: readable,
      id,
      options,
      fetch,
      file: { path, size: readable.size, metadata, ...conditions },
      // By POST: a server without such uploads would store an empty file by PUT.
      create: () => send(toFilePath(path), { method: "POST", headers }).catch(ignoreUnsupported),
    });
  }

  async function put(path: string, content: UploadContent, options: PutOptions = {}): Promise<PutResult> {
    const { metadata, ifMatch, ifNoneMatch, size, digest = false, resumable, ...rest } = options;
    const isLarge = (sizeOf(content) ?? Number.POSITIVE_INFINITY) >= MIN_RESUMABLE_BYTES;
    if (!digest && (resumable ?? isLarge) && !isStream(content)) {
      const result = await putResumably({ path, size, metadata, ifMatch, ifNoneMatch }, content, rest);
      if (result !== undefined) return result;
    }
    const headers = {
      "Content-Type": "application/octet-stream",
      ...toConditionHeaders({ ifMatch, ifNoneMatch }),
      ...toMetadataHeader(metadata, metadataHeader),
      ...(digest && (await toDigestHeader(content, createSha256, rest.signal))),
    };
    const readable = typeof content === "function" ? await openContent(content, 0, rest.signal) : content;
    const upload = createUpload(readable, rest.onProgress, fetch);
    const response = await send(toFilePath(path), { method: "PUT", headers, signal: rest.signal }, upload);
    return { etag: toEntityTag(response), modified: toModified(response) };
  }

  async function run(
    url: string,
    commands: readonly object[],
    { signal }: RequestOptions = {},
  ): Promise<CommandsBody["results"]> {
    const headers = { "Content-Type": "application/json" };
    const response = await send(url, { method: "POST", headers, body: JSON.stringify({ commands }), signal });
    return (await readJson<CommandsBody>(response, signal)).results;
  }

  return {
    list,

    async listPage(path, { limit, cursor, signal }) {
      const query = new URLSearchParams({ limit: String(limit), ...(cursor !== undefined && { cursor }) });
      const response = await send(`${toFolderPath(path)}?${query}`, { signal });
      const { content } = await readJson<{ content: Entry[] }>(response, signal);
      return { entries: content, cursor: /[?&]cursor=([\w-]+)/.exec(response.headers.get("Link") ?? "")?.[1] };
    },

    async search(path, text, { signal } = {}) {
      const response = await send(`${toFolderPath(path)}?q=${encodeURIComponent(text)}`, { signal });
      const { content, truncated } = await readJson<{ content: FoundEntry[]; truncated: boolean }>(response, signal);
      return { entries: content, truncated };
    },

    async stat(path, { signal } = {}) {
      const response = await send(toFilePath(path), { method: "HEAD", signal });
      const isFolder = isFolderUrl(response);
      return {
        name: toNames(path).at(-1) ?? "",
        is_directory: isFolder,
        modified: toModified(response),
        size: isFolder ? 0 : Number(response.headers.get("Content-Length")),
        etag: isFolder ? undefined : toEntityTag(response),
      };
    },

    async get(path, { signal, verify = false, version, ...conditions } = {}) {
      if (verify && conditions.range) throw new TypeError("A range cannot be verified.");
      // Before the request: a failure after it would leave the response unread.
      const hash = verify && createHash(createSha256);
      const headers = { ...toConditionHeaders(conditions), ...(hash && WANTED_DIGEST) };
      const url = version === undefined ? toFilePath(path) : toVersionsPath(path, version);
      const response = await send(url, { headers, signal });
      if (!isFolderUrl(response)) return hash ? verifyResponse(response, hash) : response;
      await response.body?.cancel();
      throw new FileferryError("A folder exists where a file is needed.", { code: "not-a-file", status: 422 });
    },

    put,

    async resume(saved, content, options) {
      const result = await putResumably(saved, content, options ?? {});
      return result ?? put(saved.path, content, { ...saved, ...options, resumable: false });
    },

    async remove(path, { signal, ...conditions } = {}) {
      await send(toFilePath(path), { method: "DELETE", headers: toConditionHeaders(conditions), signal });
    },

    async createFolder(path, { signal } = {}) {
      await send(toFolderPath(path), { method: "PUT", signal });
    },

    async archive(path, { members, signal } = {}) {
      const url = toFolderPath(path);
      if (members !== undefined) return send(url, { method: "POST", body: toArchiveForm(members), signal });
      return send(url, { headers: { Accept: "application/zip, application/json;q=0.5" }, signal });
    },

    run: (folder, commands, options) => run(toFolderPath(folder), commands, options),

    async versions(path, { signal } = {}) {
      const response = await send(toVersionsPath(path), { signal });
      return (await readJson<{ content: FileVersionEntry[] }>(response, signal)).content;
    },

    runOnVersions: (path, commands, options) => run(toVersionsPath(path), commands, options),

    async whoami({ signal } = {}) {
      return readJson<AccountDescription>(await send("/home/__svc__/account", { signal }), signal);
    },
  };
}

function toArchiveForm(members: readonly string[]): FormData {
  const form = new FormData();
  form.append("action", "download-members");
  // One field for all: a form may have fewer parts. What cannot be a name would be several names there.
  form.append("download-list", members.filter(isListable).join("/"));
  for (const name of members) if (!isListable(name)) form.append("selected-members", name);
  return form;
}

function isListable(name: string): boolean {
  return name !== "" && !name.includes("/");
}

/** Whether the service redirected from the URL of a file to that of a folder. */
function isFolderUrl({ url }: Response): boolean {
  return url.endsWith("/");
}

/** A service without uploads in several requests; on a proxy that does not know the method, 404. */
function ignoreUnsupported(error: FileferryError): undefined {
  const { status, code } = error;
  if (status !== 501 && status !== 405 && (status !== 404 || code !== undefined)) throw error;
}

function readJson<T>(response: Response, signal: AbortSignal | undefined): Promise<T> {
  return response.json().catch((cause: unknown) => throwFailure(cause, signal));
}
