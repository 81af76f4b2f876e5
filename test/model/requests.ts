import { Request } from "@whatwg-node/fetch";
import { FORM_TYPE, formOf, uploadsOf } from "../support/forms.ts";
import type { Seen } from "./explain.ts";
import type { Asked } from "./model.ts";
import type { Act, Condition } from "./operations.ts";

/** How much of what is sent comes at once. */
const CHUNK_BYTES = 30_000;
const JSON_TYPE = "application/json";

interface Sent {
  readonly method: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** How much of the body comes, and whether it breaks off then; default: all. */
  readonly bytes?: number;
  readonly isBroken?: boolean;
}

/** An operation as it is sent. */
export function toRequest(asked: Asked, signal: AbortSignal): Request {
  const { method, target, headers, body, bytes, isBroken = false } = toSent(asked);
  const { user, act, variant } = asked.operation;
  const accept = variant === "json" || ["list", "upload", "login"].includes(act.kind) ? JSON_TYPE : "*/*";
  const basic = `Basic ${btoa(`${user}:${asked.password}`)}`;
  const authorization = asked.session === undefined ? basic : `session ${asked.session}`;
  const init: RequestInit & { duplex?: "half" } = {
    method,
    signal,
    headers: {
      host: "files.example",
      accept,
      ...(act.kind !== "login" && { authorization }),
      ...(body !== undefined && { "content-length": String(body.byteLength) }),
      ...headers,
    },
    ...(body !== undefined && { body: toStream(body.subarray(0, bytes), isBroken), duplex: "half" as const }),
  };
  return new Request(`http://files.example${target}`, init);
}

function toSent({ operation: { act, user, variant }, contents, tag, password, newPassword }: Asked): Sent {
  const json = (method: string, target: string, value: object): Sent => ({
    method,
    target,
    headers: { "content-type": JSON_TYPE },
    body: Buffer.from(JSON.stringify(value)),
  });
  switch (act.kind) {
    case "login":
      return json("POST", "/__svc__/login", { username: user, password: act.isRight ? password : "another one" });
    case "logout":
      return { method: "POST", target: "/__svc__/logout" };
    case "change-password":
      return json("POST", "/home/__svc__/password-update", {
        current_password: act.isRight ? password : "another one",
        new_password: newPassword,
      });
    case "put":
      return toPut(act, contents[0]?.text ?? "", tag);
    case "get": {
      const range = act.range === null ? {} : { range: `bytes=${act.range[0]}-${act.range[0] + act.range[1]}` };
      return { method: "GET", target: `/home/${act.path}`, headers: { ...toFields(act.condition, tag), ...range } };
    }
    case "head":
      return { method: "HEAD", target: `/home/${act.path}` };
    case "list":
      return { method: "GET", target: toFolder(act.path) };
    case "make-folder":
      return { method: variant === "webdav" ? "MKCOL" : "PUT", target: toFolder(act.path) };
    case "delete":
      return { method: "DELETE", target: `/home/${act.path}`, headers: toFields(act.condition, tag) };
    case "delete-folder":
      return { method: "DELETE", target: toFolder(act.path) };
    case "commands":
      return json("POST", toFolder(act.path), { commands: act.commands });
    case "upload": {
      const files = Object.fromEntries(act.files.map(({ name }, index) => [name, contents[index]?.text ?? ""]));
      const body = formOf(["action", "upload-file"], ...uploadsOf(files));
      return { method: "POST", target: toFolder(act.path), headers: { "content-type": FORM_TYPE }, body };
    }
  }
}

function toPut({ path, condition, body }: Extract<Act, { kind: "put" }>, text: string, tag: string): Sent {
  const content = Buffer.from(body === "whole" ? text : `${text} and what does not come`);
  const bytes = body === "whole" ? content.byteLength : text.length;
  const headers = toFields(condition, tag);
  return { method: "PUT", target: `/home/${path}`, headers, body: content, bytes, isBroken: body === "broken" };
}

function toFolder(path: string): string {
  return path === "" ? "/home/" : `/home/${path}/`;
}

function toFields(condition: Condition, tag: string): Readonly<Record<string, string>> {
  switch (condition) {
    case "none":
      return {};
    case "absent":
      return { "if-none-match": "*" };
    case "present":
      return { "if-match": "*" };
    case "current":
    case "former":
      return { "if-match": tag };
    case "unchanged":
      return { "if-none-match": tag };
  }
}

function toStream(bytes: Uint8Array, isBroken: boolean): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (sent < bytes.byteLength) {
          controller.enqueue(bytes.subarray(sent, sent + CHUNK_BYTES));
          sent += CHUNK_BYTES;
        } else if (isBroken) controller.error(new Error("The connection was cut."));
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** What a client sees of an answer, until it goes. */
export async function readSeen(response: Response, signal: AbortSignal, act: Act): Promise<Seen> {
  const { status, headers } = response;
  const { text, isCut } = await readText(response, signal);
  const announced = headers.get("content-length");
  const isShort = announced !== null && act.kind !== "head" && status !== 304 && Number(announced) !== text.length;
  const isRead = !isCut && !signal.aborted && text !== "" && headers.get("content-type")?.startsWith(JSON_TYPE);
  const body = isRead && act.kind !== "get" && act.kind !== "list" ? (JSON.parse(text) as Body) : {};
  const outcomes = act.kind === "commands" || act.kind === "upload" ? toOutcomes(status, body) : undefined;
  return {
    status,
    text,
    etag: headers.get("etag") ?? undefined,
    length: announced === null ? undefined : Number(announced),
    session: status === 200 && act.kind === "login" ? body.results?.[0]?.session : undefined,
    outcomes,
    isBroken: isCut || isShort,
    isGone: signal.aborted,
  };
}

interface Body {
  readonly results?: readonly { readonly session?: string; readonly message?: string | null }[];
  readonly errors?: readonly { readonly target?: string; readonly message?: string | null }[];
}

function toOutcomes(status: number, { results, errors }: Body): readonly boolean[] | undefined {
  if (status === 200) return results?.map(({ message }) => message === null);
  return status === 422 ? errors?.map(({ message }) => message === null) : undefined;
}

/** All of these texts are ASCII. */
async function readText(response: Response, signal: AbortSignal): Promise<{ text: string; isCut: boolean }> {
  const reader = response.body?.getReader();
  if (reader === undefined) return { text: "", isCut: false };
  const chunks: Uint8Array[] = [];
  const leave = (): void => void reader.cancel(signal.reason).catch(() => undefined);
  signal.addEventListener("abort", leave);
  if (signal.aborted) leave();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value);
    return { text: Buffer.concat(chunks).toString(), isCut: false };
  } catch {
    return { text: Buffer.concat(chunks).toString(), isCut: true };
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
