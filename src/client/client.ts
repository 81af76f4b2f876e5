import type { commandsResponseSchema } from "../schemas/commands.ts";
import { FileferryError, throwFailure, toResponseError } from "./error.ts";
import { toCommonHeaders, toConditionHeaders, toMetadataHeader } from "./headers.ts";
import { parseListing } from "./listing.ts";
import { toFilePath, toFolderPath, toNames } from "./paths.ts";
import type { AccountDescription, ClientOptions, Entry, FileClient, RequestOptions } from "./types.ts";
import { type ClientRequest, createUpload, type Transport } from "./upload.ts";

/** The body of a response to commands that all succeeded. */
type CommandsBody = ReturnType<(typeof commandsResponseSchema)["parse"]>;

/** Creates a client of the service's JSON API. */
export function createClient({ baseUrl, credentials, fetch, metadataHeader }: ClientOptions): FileClient {
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

  return {
    list,

    async listPage(path, { limit, cursor, signal }) {
      const query = new URLSearchParams({ limit: String(limit), ...(cursor !== undefined && { cursor }) });
      const response = await send(`${toFolderPath(path)}?${query}`, { signal });
      const { content } = await readJson<{ content: Entry[] }>(response, signal);
      return { entries: content, cursor: /[?&]cursor=([\w-]+)/.exec(response.headers.get("Link") ?? "")?.[1] };
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

    async get(path, { signal, ...conditions } = {}) {
      const response = await send(toFilePath(path), { headers: toConditionHeaders(conditions), signal });
      if (!isFolderUrl(response)) return response;
      await response.body?.cancel();
      throw new FileferryError("A folder exists where a file is needed.", { code: "not-a-file", status: 422 });
    },

    async put(path, content, { onProgress, signal, metadata, ...conditions } = {}) {
      const headers = {
        "Content-Type": "application/octet-stream",
        ...toConditionHeaders(conditions),
        ...toMetadataHeader(metadata, metadataHeader),
      };
      const upload = createUpload(content, onProgress, fetch);
      const response = await send(toFilePath(path), { method: "PUT", headers, signal }, upload);
      return { etag: toEntityTag(response), modified: toModified(response) };
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

    async run(folder, commands, { signal } = {}) {
      const headers = { "Content-Type": "application/json" };
      const body = JSON.stringify({ commands });
      const response = await send(toFolderPath(folder), { method: "POST", headers, body, signal });
      return (await readJson<CommandsBody>(response, signal)).results;
    },

    async whoami({ signal } = {}) {
      return readJson<AccountDescription>(await send("/home/__svc__/account", { signal }), signal);
    },
  };
}

function toArchiveForm(members: readonly string[]): FormData {
  const form = new FormData();
  form.append("action", "download-members");
  for (const name of members) form.append("selected-members", name);
  return form;
}

/** Whether the service redirected from the URL of a file to that of a folder. */
function isFolderUrl({ url }: Response): boolean {
  return url.endsWith("/");
}

function toModified({ headers }: Response): number | null {
  const date = headers.get("Last-Modified");
  return date === null ? null : Date.parse(date) / 1000;
}

function toEntityTag({ headers }: Response): string | undefined {
  return headers.get("ETag") ?? undefined;
}

function readJson<T>(response: Response, signal: AbortSignal | undefined): Promise<T> {
  return response.json().catch((cause: unknown) => throwFailure(cause, signal));
}
