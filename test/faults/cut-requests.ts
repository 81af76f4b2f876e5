import { BOUNDARY, FORM_TYPE, formOf, uploadsOf } from "../support/forms.ts";
import { AUTHORIZATION } from "../support/served.ts";

/** Chance that can be had again. */
export interface Random {
  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number;
  pick<T>(list: readonly T[]): T;
  chance(share: number): boolean;
  bytes(length: number): Buffer;
}

/** What a request may do to a file once a number of its bytes were sent. */
interface Effect {
  readonly name: string;
  readonly content: Buffer;
  /** From here on it may have happened, before it must not. */
  readonly from: number;
}

/** What goes over a connection that will be cut. */
export interface CutRequest {
  readonly kind: string;
  readonly bytes: Buffer;
  readonly effects: readonly Effect[];
  /** Places in it where something ends. */
  readonly marks: readonly number[];
  /** Whether it is sent whole, and the cut is in its answer. */
  readonly isForAnswer: boolean;
  /** Where in the large file the bytes of the answer begin, if it is a part of that. */
  readonly readsFrom?: number;
}

/** The files of a lane that uploads go onto: the first half is there at the beginning. */
export const TARGETS = ["a.txt", "b.bin", "new.txt", "newer.bin"] as const;

/** The size of the large file. */
export const LARGE_BYTES = 2_000_000;

/** A generator of numbers by a seed (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed | 0;

  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  function below(limit: number): number {
    return Math.floor(next() * limit);
  }

  return {
    below,
    pick: (list) => list[below(list.length)] as (typeof list)[number],
    chance: (share) => next() < share,
    bytes(length) {
      const bytes = Buffer.alloc(length);
      for (let at = 0; at < length; at += 1) bytes[at] = next() * 256;
      return bytes;
    },
  };
}

/** A request of any kind to the folder of one lane. */
export function makeRequest(random: Random, lane: string): CutRequest {
  const make = random.pick([
    makePut,
    makePut,
    makePut,
    makeForm,
    makeForm,
    makePipeline,
    makeDownload,
    makeDownload,
    makeArchive,
    makeListing,
    makeLogin,
  ]);
  return make(random, lane);
}

function makePut(random: Random, lane: string): CutRequest {
  const name = random.pick(TARGETS);
  const content = random.bytes(random.pick([0, 1, 20, 5000, 70_000, 300_000]));
  const isChunked = random.chance(0.4);
  const more = random.chance(0.1) ? "Expect: 100-continue\r\n" : "";
  const length = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${content.byteLength}`;
  const head = toHead(`PUT /home/${lane}/${name}`, `${more}${length}`);
  const body = isChunked ? toChunks(random, content) : content;
  const bytes = Buffer.concat([head, body]);
  const effects = [{ name, content, from: bytes.byteLength }];
  const kind = `PUT ${isChunked ? "chunked" : "by length"} of ${content.byteLength}`;
  return { kind, bytes, effects, marks: [head.byteLength, bytes.byteLength], isForAnswer: false };
}

function toChunks(random: Random, content: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < content.byteLength; ) {
    const chunk = content.subarray(at, at + 1 + random.below(40_000));
    parts.push(Buffer.from(`${chunk.byteLength.toString(16)}\r\n`), chunk, Buffer.from("\r\n"));
    at += chunk.byteLength;
  }
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
}

/** The files of a form: each may be stored when the boundary behind it has come, and the form's action. */
function makeForm(random: Random, lane: string): CutRequest {
  const isActionFirst = random.chance(0.5);
  const action = ["action", "upload-file"] as const;
  const names = TARGETS.filter(() => random.chance(0.6));
  const files = Object.fromEntries(names.map((name) => [name, random.bytes(random.pick([0, 100, 90_000]))]));
  const uploads = uploadsOf(files);
  const body = formOf(...(isActionFirst ? [action, ...uploads] : [...uploads, action]));
  const head = toHead(`POST /home/${lane}/`, `Content-Type: ${FORM_TYPE}\r\nContent-Length: ${body.byteLength}`);
  const bytes = Buffer.concat([head, body]);
  const delimiter = Buffer.from(`\r\n--${BOUNDARY}`);
  const endOf = (text: string | Uint8Array): number =>
    bytes.indexOf(delimiter, bytes.indexOf(text, head.byteLength)) + delimiter.byteLength;
  const marks = names.map((name) => endOf(`filename="${name}"`));
  const decided = endOf('name="action"');
  const effects = names.map((name, index) => ({
    name,
    content: files[name] as Buffer,
    from: Math.max(marks[index] as number, decided),
  }));
  const kind = `form of ${names.length} files, its action ${isActionFirst ? "first" : "last"}`;
  return { kind, bytes, effects, marks: [head.byteLength, ...marks, decided, bytes.byteLength], isForAnswer: false };
}

function makePipeline(random: Random, lane: string): CutRequest {
  const parts = Array.from({ length: 2 + random.below(4) }, () =>
    random.pick([makePut, makePut, makeForm, makeDownload, makeListing])(random, lane),
  );
  const starts = parts.map((_, index) => parts.slice(0, index).reduce((sum, { bytes }) => sum + bytes.byteLength, 0));
  const behind = (from: number, index: number): number => from + (starts[index] as number);
  return {
    kind: `pipeline (${parts.map(({ kind }) => kind).join(", ")})`,
    bytes: Buffer.concat(parts.map(({ bytes }) => bytes)),
    effects: parts.flatMap(({ effects }, index) =>
      effects.map((effect) => ({ ...effect, from: behind(effect.from, index) })),
    ),
    marks: parts.flatMap(({ marks }, index) => marks.map((mark) => behind(mark, index))),
    isForAnswer: random.chance(0.3),
  };
}

function makeDownload(random: Random): CutRequest {
  const [range, readsFrom] = random.pick([
    ["", 0],
    ["", 0],
    ["Range: bytes=1000-1500000", 1000],
    ["Range: bytes=-900000", LARGE_BYTES - 900_000],
    ["Range: bytes=5-", 5],
  ] as const);
  const kind = range === "" ? "download" : "download of a range";
  return { ...toReading(kind, toHead("GET /home/big.bin", range)), readsFrom };
}

/** The archive of a folder, by the form and by `Accept`. */
function makeArchive(random: Random): CutRequest {
  if (random.chance(0.5)) return toReading("archive by GET", toHead("GET /home/tree/", "Accept: application/zip"));
  const body = formOf(["action", "download-members"], ["selected-members", "deep"], ["selected-members", "1.bin"]);
  const lines = `Content-Type: ${FORM_TYPE}\r\nContent-Length: ${body.byteLength}`;
  return toReading("archive by form", Buffer.concat([toHead("POST /home/tree/", lines), body]));
}

function makeListing(random: Random): CutRequest {
  const accept = random.pick(["application/json", "text/html"]);
  return toReading(`listing as ${accept}`, toHead("GET /home/many/", `Accept: ${accept}`));
}

/** It makes a session when it has come whole, and none before. */
function makeLogin(random: Random): CutRequest {
  const body = Buffer.from('{"username":"alice","password":"secret"}');
  const lines = `Accept: application/json\r\nContent-Type: application/json\r\nContent-Length: ${body.byteLength}`;
  const bytes = Buffer.concat([toHead("POST /__svc__/login", lines), body]);
  return { kind: "login", bytes, effects: [], marks: [bytes.byteLength], isForAnswer: random.chance(0.3) };
}

function toReading(kind: string, bytes: Buffer): CutRequest {
  return { kind, bytes, effects: [], marks: [bytes.byteLength], isForAnswer: true };
}

function toHead(start: string, lines: string): Buffer {
  const own = lines === "" ? "" : `${lines}\r\n`;
  return Buffer.from(`${start} HTTP/1.1\r\nHost: x\r\nAuthorization: ${AUTHORIZATION}\r\n${own}\r\n`);
}
