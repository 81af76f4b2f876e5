import type { ScriptTexts } from "../../contracts/pages/script-texts.ts";
import { fill } from "../format.ts";
import type { OnProgress } from "./send.ts";

/** The progress of an upload that is sent in parts, or in one. */
export interface PartsProgress {
  /** A part starts from the beginning. */
  start(index: number): void;
  /** The service has told how much it has of a part. */
  find(index: number, offset: number): void;
  /** This number of bytes of a part has left the browser. They may not all arrive. */
  send(index: number, bytes: number): void;
  /** A part was interrupted and is tried again later. */
  interrupt(): void;
}

/** What the progress of parts is made of. */
export interface PartsProgressOptions {
  /** The size of the file in bytes. */
  readonly size: number;
  readonly parts: number;
  /** Whether the parts were created earlier, so that the service has some bytes of them. */
  readonly isResumed: boolean;
  readonly texts: ScriptTexts;
  readonly onProgress: OnProgress;
  /** More bytes have been sent than ever before. Bytes that are sent again are no progress. */
  readonly onAdvance: () => void;
}

export function createPartsProgress(options: PartsProgressOptions): PartsProgress {
  const { size, parts, isResumed, texts, onProgress, onAdvance } = options;
  const sent = new Array<number>(parts).fill(0);
  /** The parts of which it is not known yet how much the service has. */
  const unknown = new Set(isResumed ? sent.keys() : []);
  let most = 0;
  let found = 0;
  let note: string | undefined;

  function set(index: number, bytes: number): void {
    sent[index] = bytes;
    const total = sum();
    if (total > most) onAdvance();
    most = Math.max(most, total);
    onProgress(total, note, found);
  }

  const sum = (): number => sent.reduce((total, bytes) => total + bytes, 0);

  return {
    start(index) {
      unknown.delete(index);
      note = undefined;
      set(index, 0);
    },
    find(index, offset) {
      unknown.delete(index);
      found += Math.max(0, offset - (sent[index] ?? 0));
      sent[index] = offset;
      note = unknown.size === 0 ? fill(texts.resumed, { percent: Math.floor((100 * sum()) / size) }) : undefined;
      set(index, offset);
    },
    send: set,
    interrupt() {
      note = texts.tryingAgain;
      onProgress(sum(), note, found);
    },
  };
}
