import type { Entry } from "./results.ts";

/**
 * Yields the entries of a JSON listing while it arrives: `{ "content": [ entry, ... ] }`. It holds one entry and one
 * chunk in memory.
 * @throws SyntaxError if the text is not JSON, or ends too early.
 */
export async function* parseListing(body: ReadableStream<Uint8Array>): AsyncGenerator<Entry, void, undefined> {
  const scanner = createScanner();
  for await (const text of readTexts(body)) {
    for (const entry of scanner.scan(text)) yield JSON.parse(entry);
  }
  if (!scanner.isComplete()) throw new SyntaxError("The listing is incomplete.");
}

/** Cuts the entries out of the text of a listing: the objects inside its one object. */
function createScanner() {
  /** The text from the start of the current entry, and where its next character is. */
  let text = "";
  let next = 0;
  let depth = 0;
  let isInString = false;
  let isComplete = false;

  /** Yields the texts of the entries that a part completes. */
  function* scan(part: string): Generator<string, void, undefined> {
    text += part;
    for (; next < text.length; next++) {
      const character = text[next];
      if (isInString && character === "\\") next++;
      else if (character === '"') isInString = !isInString;
      else if (!isInString && character === "{") open();
      else if (!isInString && character === "}" && close()) yield text.slice(0, next + 1);
    }
  }

  function open(): void {
    depth++;
    text = text.slice(next);
    next = 0;
  }

  /** Whether this ends an entry. */
  function close(): boolean {
    depth--;
    isComplete = depth === 0;
    return depth === 1;
  }

  return { scan, isComplete: () => isComplete };
}

/** The texts of a stream. Safari cannot iterate over streams. */
async function* readTexts(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
