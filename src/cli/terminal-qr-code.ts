import type { Output } from "./log/terminal.ts";

/** A QR code of half blocks. On a terminal it has its own colours: scanners want dark on light. */
export async function toTerminalQrCode(text: string, output: Output): Promise<string> {
  const { renderUnicodeCompact } = await import("uqr");
  const code = renderUnicodeCompact(text, { border: 2 });
  return output.isTTY ? code.replaceAll(/^.*$/gm, "\u001b[97;40m$&\u001b[0m") : code;
}
