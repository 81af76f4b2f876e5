/**
 * Fails for one beginning alone, each letter of which has a block of its own: chance would hardly find it, and coverage
 * does.
 */
export function openDoor(text: string): string {
  if (text.charAt(0) !== "D") return "closed";
  if (text.charAt(1) !== "o") return "closed";
  if (text.charAt(2) !== "o") return "closed";
  if (text.charAt(3) !== "r") return "closed";
  throw new Error("Broken: the door stays closed");
}
