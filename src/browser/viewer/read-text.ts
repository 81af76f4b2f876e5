import type { ScriptTexts } from "../../contracts/pages/script-texts.ts";
import { fill, formatSize } from "../format.ts";
import { HEADERS, type Problem, toProblem } from "../requests.ts";

/** How much of a text is read: 256 KiB. */
const MAX_BYTES = 262_144;

/** What is shown of a text. */
export interface ReadText {
  readonly text: string;
  /** Why there is none, or not all of it. */
  readonly note?: string;
  /** Why the service does not send it. */
  readonly problem?: Problem;
}

/** Finds out why an image, audio or video is not shown. Rejects if the connection breaks. */
export async function findReason(url: string, texts: ScriptTexts, signal: AbortSignal): Promise<ReadText> {
  const { problem } = await readShownText(url, texts, signal, 1);
  return { text: "", ...(problem === undefined ? { note: texts.cannotShow } : { problem }) };
}

/** Reads the beginning of a file as text, as far as `length`. Rejects if the connection breaks. */
export async function readShownText(
  url: string,
  texts: ScriptTexts,
  signal: AbortSignal,
  length = MAX_BYTES,
): Promise<ReadText> {
  const response = await fetch(url, { headers: { ...HEADERS, Range: `bytes=0-${length - 1}` }, signal });
  // An empty file has no range.
  if (response.status === 416) return { text: "", note: texts.emptyFile };
  if (!response.ok) return { text: "", problem: toProblem(response.status, await response.text(), texts) };
  const { bytes, isCut } = await readBytes(response);
  if (bytes.length === 0) return { text: "", note: texts.emptyFile };
  const text = decode(bytes, isCut);
  if (text === undefined) return { text: "", note: texts.cannotShow };
  return isCut ? { text, note: fill(texts.firstPart, { size: formatSize(MAX_BYTES) }) } : { text };
}

/** Reads a bounded part, even if the range was ignored. */
async function readBytes(response: Response): Promise<{ bytes: Uint8Array; isCut: boolean }> {
  const reader = response.body?.getReader();
  const bytes = new Uint8Array(MAX_BYTES);
  let length = 0;
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    const room = part.value.subarray(0, MAX_BYTES - length);
    bytes.set(room, length);
    length += room.length;
    if (room.length === part.value.length) continue;
    await reader?.cancel();
    return { bytes, isCut: true };
  }
  const size = Number(/\/(\d+)$/.exec(response.headers.get("content-range") ?? "")?.[1] ?? length);
  return { bytes: bytes.subarray(0, length), isCut: size > length };
}

/** The text of bytes; `undefined` if they are none. Text of old systems is in Windows-1252 most of the time. */
function decode(bytes: Uint8Array, isCut: boolean): string | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  if (bytes.includes(0)) return undefined;
  try {
    // The last character may be cut, which is no error in a stream.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isCut });
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}
