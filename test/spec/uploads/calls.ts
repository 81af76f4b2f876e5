import {
  type Answer,
  type CallOptions,
  createTestService,
  type TestService,
  type TestServiceOptions,
} from "../../support/service.ts";

/** A service with calls of tus and of the draft. */
export interface UploadTestService extends TestService {
  /** Sends a request of tus. */
  tus(method: string, target: string, headers?: Fields, options?: CallOptions): Promise<Answer>;
  /** Sends a request of the draft, in its newest version. */
  draft(method: string, target: string, headers?: Fields, options?: CallOptions): Promise<Answer>;
  /** Creates an upload by tus in the folder of the account, or in another one; returns its URL. */
  createByTus(name: string, headers?: Fields, options?: CallOptions & { readonly folder?: string }): Promise<string>;
  /** Creates an upload by the draft; returns its URL. */
  createByDraft(target: string, headers?: Fields, options?: CallOptions): Promise<string>;
  /** Adds a text at an offset, by tus. */
  patch(
    url: string,
    offset: number,
    body: CallOptions["body"],
    headers?: Fields,
    options?: CallOptions,
  ): Promise<Answer>;
  /** The events that uploads have, by id, without the times. */
  readonly events: readonly UploadEvent[];
}

/** What tests look at of an event. */
export interface UploadEvent {
  readonly id: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly account?: { readonly name: string; readonly uuid: string; readonly peer?: { readonly address: string } };
  readonly trace?: unknown;
  readonly component: { readonly type: string };
}

type Fields = Readonly<Record<string, string>>;

/** The media type of content of tus. */
export const TUS_CONTENT = "application/offset+octet-stream";
/** The media type of content of the draft. */
export const DRAFT_CONTENT = "application/partial-upload";
/** The URL of an upload. */
export const UPLOAD_URL = /^\/home\/__svc__\/uploads\/[0-9a-f]{32}$/;
/** The URL of an upload that does not exist. */
export const UNKNOWN_UPLOAD = `/home/__svc__/uploads/${"0".repeat(32)}`;

const UPLOAD_EVENTS = [40017, 40021, 40022];

export function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

/** A value of `Upload-Metadata` with a name. */
export function named(name: string): string {
  return `filename ${base64(name)}`;
}

export async function createUploadService(options: TestServiceOptions = {}): Promise<UploadTestService> {
  const events: UploadEvent[] = [];
  const service = await createTestService({
    ...options,
    onEvent: [
      (event) => {
        if (UPLOAD_EVENTS.includes(event.id)) events.push(event as unknown as UploadEvent);
      },
      ...[options.onEvent ?? []].flat(),
    ],
  });
  const { call } = service;

  const tus: UploadTestService["tus"] = (method, target, headers = {}, own = {}) =>
    call(method, target, { ...own, headers: { "tus-resumable": "1.0.0", ...headers } });
  const draft: UploadTestService["draft"] = (method, target, headers = {}, own = {}) =>
    call(method, target, { ...own, headers: { "upload-draft-interop-version": "8", ...headers } });

  return {
    ...service,
    events,
    tus,
    draft,
    async createByTus(name, headers = {}, { folder = "/home/", ...own } = {}) {
      const answer = await tus("POST", folder, { "upload-metadata": named(name), ...headers }, own);
      return locationOf(answer);
    },
    async createByDraft(target, headers = {}, own = {}) {
      return locationOf(await draft("PUT", target, { "upload-complete": "?0", ...headers }, own));
    },
    patch: (url, offset, body, headers = {}, own = {}) =>
      tus("PATCH", url, { "content-type": TUS_CONTENT, "upload-offset": String(offset), ...headers }, { ...own, body }),
  };
}

function locationOf(answer: Answer): string {
  const location = answer.header("location");
  if (answer.status !== 201 || location === null) throw new Error(`No upload: ${answer.status} ${answer.text}`);
  return location;
}
