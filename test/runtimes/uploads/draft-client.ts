import { once } from "node:events";
import { createReadStream } from "node:fs";
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

/*
 * A client of the IETF draft over `node:http`, as its text describes one: it wants to send the whole file by one PUT,
 * and learns from a 104 where it can resume before a 100 asks for the content. After a failure it asks for the offset,
 * and sends what is missing.
 */

export interface DraftClientOptions {
  readonly url: string;
  readonly file: string;
  readonly size: number;
  readonly authorization: string;
  /** The version of the draft. Default: 8. */
  readonly interop?: string;
}

/** What a client has seen. */
export interface DraftUpload {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The URL of the upload, by the 104. */
  readonly location: string | undefined;
  /** The offsets at which it has resumed. */
  readonly offsets: readonly number[];
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/** Uploads a file. Rejects if the connection breaks before a 104, and for a status that is no success. */
export async function uploadByDraft(options: DraftClientOptions): Promise<DraftUpload> {
  const { url, file, size, authorization, interop = "8" } = options;
  const common = { authorization, "upload-draft-interop-version": interop };
  const offsets: number[] = [];
  let location: string | undefined;

  async function send(method: string, target: string, own: Record<string, string>, start?: number): Promise<Answer> {
    const sent = request(target, { method, agent: false, headers: { ...common, ...own } });
    sent.on("information", ({ statusCode, headers }) => {
      if (statusCode === 104) location = new URL(String(headers.location), url).href;
    });
    const responded = once(sent, "response") as Promise<[IncomingMessage]>;
    const sendContent = (): unknown => createReadStream(file, { start }).pipe(sent);
    if (start === undefined) sent.end();
    else if (own.expect === undefined) sendContent();
    else sent.on("continue", sendContent).flushHeaders();
    const [response] = await responded;
    response.resume();
    await once(response, "end");
    return { status: response.statusCode ?? 0, headers: response.headers };
  }

  async function resume(): Promise<Answer> {
    if (location === undefined) throw new Error("The upload has no URL.");
    const shown = await send("HEAD", location, {});
    if (shown.headers["upload-complete"] === "?1") return shown;
    const offset = Number(shown.headers["upload-offset"]);
    if (shown.status !== 204) throw new Error(`HEAD is answered ${shown.status}`);
    offsets.push(offset);
    const fields = {
      "content-type": "application/partial-upload",
      "content-length": `${size - offset}`,
      "upload-offset": `${offset}`,
      "upload-complete": "?1",
    };
    return send("PATCH", location, fields, offset);
  }

  let isBroken = false;
  for (;;) {
    try {
      const creation = { "content-length": `${size}`, "upload-complete": "?1", expect: "100-continue" };
      const { status, headers } = await (isBroken ? resume() : send("PUT", url, creation, 0));
      if (status !== 409) return { status, headers, location, offsets };
    } catch (error) {
      if (location === undefined) throw error;
      await delay(10);
    }
    isBroken = true;
  }
}
