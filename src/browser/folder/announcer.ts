/**
 * How long a text stays before the next one replaces it. If two texts change quickly, a screen reader reads only the
 * last.
 */
const STAND_MS = 1000;
/** How long the text is empty between two texts. Without this, a screen reader does not repeat an equal text. */
const PAUSE_MS = 100;
/** If more texts than this wait, the oldest is dropped because it is outdated. */
const MAX_WAITING = 3;

/** Creates a function that announces one text after another in a live region (ARIA `status`). */
export function createAnnouncer(status: HTMLElement): (text: string) => void {
  const waiting: string[] = [];
  let isSpeaking = false;

  function speak(): void {
    const text = waiting.shift();
    isSpeaking = text !== undefined;
    if (text === undefined) return;
    status.textContent = "";
    setTimeout(() => {
      status.textContent = text;
      setTimeout(speak, STAND_MS);
    }, PAUSE_MS);
  }

  return function announce(text) {
    waiting.push(text);
    if (waiting.length > MAX_WAITING) waiting.shift();
    if (!isSpeaking) speak();
  };
}
