/** How long a text stands before the next one takes its place: a screen reader that is told two at once reads the last alone. */
const STAND_MS = 1000;
/** An empty text between makes the same words be read again. */
const PAUSE_MS = 100;
/** What is said while more than this waits is old news. */
const MAX_WAITING = 3;

/** Says one text after the other in a live region (ARIA `status`). */
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
