import { expect } from "vitest";
import type { RecordedSequence } from "../unit/webdav/recorded-sequences.ts";

/** Where a sequence is played: a service, in process or over the wire, and an empty folder there. */
export interface SequencePlace {
  readonly origin: string;
  /** The URL path of the folder, with its trailing slash. */
  readonly folder: string;
  call(method: string, target: string, options: SequenceCall): Promise<SequenceAnswer>;
  /** The names in the folder. */
  names(): Promise<readonly string[]>;
}

export interface SequenceCall {
  /** Their names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly as?: null;
  readonly chunked?: boolean;
  readonly undescribed: string;
}

export interface SequenceAnswer {
  readonly status: number;
  readonly text: string;
  header(name: string): string | null;
}

/** Sends the requests of a sequence in their order, and holds each response against what its client needs. */
export async function playSequence(sequence: RecordedSequence, place: SequencePlace): Promise<void> {
  const { origin, folder } = place;
  const values: Record<string, string> = { origin, folder, self: folder.slice(0, -1) };
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all);

  for (const [name, content] of Object.entries(sequence.files ?? {})) {
    const { status } = await place.call("PUT", folder + name, { headers: {}, body: content, undescribed });
    expect([name, status]).toEqual([name, 201]);
  }
  for (const [template, status, needs = {}] of sequence.steps) {
    const { method, target, headers, body } = parseRequest(fill(template));
    const { "transfer-encoding": coding, ...own } = { ...lower(sequence.headers), ...headers };
    const answer = await place.call(method, target, {
      headers: own,
      ...(body !== undefined && { body }),
      ...(needs.isAnonymous && { as: null }),
      ...(coding !== undefined && { chunked: true }),
      undescribed,
    });
    const request = `${method} ${target}`;
    expect([request, answer.status, answer.status === status ? "" : answer.text]).toEqual([request, status, ""]);
    remember(answer, values);
    for (const [name, value] of Object.entries(needs.headers ?? {}))
      expect([request, name, answer.header(name)]).toEqual([request, name, fill(value)]);
    for (const text of needs.has ?? []) expect(`${request}\n${answer.text}`).toContain(fill(text));
    for (const text of needs.hasNot ?? []) expect(`${request}\n${answer.text}`).not.toContain(fill(text));
  }
  expect([...(await place.names())].sort()).toEqual([...sequence.left].sort());
}

const undescribed = "OpenAPI has no place for the methods of WebDAV";

function parseRequest(text: string) {
  const [head = "", ...rest] = text.split("\n\n");
  const [line = "", ...lines] = head.split("\n");
  const [method = "", target = ""] = line.split(" ");
  const pairs = lines.map((field) => /^([^:]+): (.*)$/.exec(field) ?? []).map(([, name, value]) => [name, value]);
  const headers: Record<string, string> = Object.fromEntries(pairs);
  return { method, target, headers: lower(headers), body: rest.length === 0 ? undefined : rest.join("\n\n") };
}

function lower(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Notes what later requests may name. */
function remember(answer: SequenceAnswer, values: Record<string, string>): void {
  const token = /^<(.+)>$/.exec(answer.header("lock-token") ?? "")?.[1];
  const found = { token, etag: answer.header("etag"), modified: answer.header("last-modified") };
  for (const [name, value] of Object.entries(found)) if (value) values[name] = value;
}
