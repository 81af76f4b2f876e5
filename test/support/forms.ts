import type { FormPermits } from "../../src/uploads/form-files.ts";
import type { Answer, CallOptions, TestService } from "./service.ts";

/** A text of a form, or a file: its field's name, its own name and its content. */
export type FormEntry =
  | readonly [name: string, value: string]
  | readonly [name: string, filename: string, content: string | Uint8Array];

/** The boundary of every form here. */
export const BOUNDARY = "----WebKitFormBoundary7MA4YWxkTrZu0gW";
export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** What a browser says of itself when it sends a form, without a script. */
export const BROWSER_HEADERS: Readonly<Record<string, string>> = {
  "content-type": FORM_TYPE,
  accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  origin: "http://files.example",
  "sec-fetch-site": "same-origin",
  "sec-fetch-mode": "navigate",
};

/** A form's body as browsers write it (the HTML standard's multipart encoding). */
export function formOf(...entries: readonly FormEntry[]): Uint8Array {
  const parts = entries.flatMap(([name, text, content]) => [toHead(name, text, content), content ?? text, "\r\n"]);
  return Buffer.concat([...parts, `--${BOUNDARY}--\r\n`].map((part) => Buffer.from(part as string)));
}

/** Files of the field that uploads are in. */
export function uploadsOf(files: Readonly<Record<string, string | Uint8Array>>): readonly FormEntry[] {
  return Object.entries(files).map(([name, content]) => ["upload-file", name, content] as const);
}

/** Sends a form as a browser does. */
export function sendForm(
  { call }: TestService,
  path: string,
  entries: readonly FormEntry[],
  more: CallOptions = {},
): Promise<Answer> {
  return call("POST", path, { body: formOf(...entries), ...more, headers: { ...BROWSER_HEADERS, ...more.headers } });
}

/** Sends a form and wants JSON. */
export function sendFormForJson(
  test: TestService,
  path: string,
  entries: readonly FormEntry[],
  more: CallOptions = {},
): Promise<Answer> {
  return sendForm(test, path, entries, { ...more, headers: { accept: "application/json", ...more.headers } });
}

function toHead(name: string, filename: string, content: unknown): string {
  const disposition = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${toQuotable(name)}"`;
  if (content === undefined) return `${disposition}\r\n\r\n`;
  return `${disposition}; filename="${toQuotable(filename)}"\r\nContent-Type: application/octet-stream\r\n\r\n`;
}

function toQuotable(name: string): string {
  return name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

/** The permits of a form that nothing limits. */
export const UNCOUNTED: FormPermits = { holdFiles: () => undefined, holdBytes: () => undefined };
