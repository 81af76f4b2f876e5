/** How far a finger moves for a swipe, in pixels; and how many times as far to the side as up or down. */
const DISTANCE = 60;
const SLOPE = 2;

/** Calls a function for each swipe of one finger to a side. Not while the page is zoomed: the finger moves it then. */
export function onSwipe(target: HTMLElement, swiped: (toRight: boolean, target: EventTarget | null) => void): void {
  let start: Touch | undefined;
  target.addEventListener("touchstart", ({ touches }) => {
    start = touches.length === 1 ? touches[0] : undefined;
  });
  target.addEventListener("touchend", ({ changedTouches: [end], target: touched }) => {
    if (start === undefined || end === undefined || (visualViewport?.scale ?? 1) > 1.01) return;
    const across = end.clientX - start.clientX;
    const along = Math.abs(end.clientY - start.clientY);
    start = undefined;
    if (Math.abs(across) > DISTANCE && Math.abs(across) > SLOPE * along) swiped(across > 0, touched);
  });
}
