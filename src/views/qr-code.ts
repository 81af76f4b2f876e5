import { encode } from "uqr";
import { html, type SafeHtml } from "../http/html.ts";

/** The blank frame that scanners need, in modules (ISO/IEC 18004). */
const BORDER = 4;
/** More bytes do not fit into the largest code. */
const MAX_BYTES = 2900;

/** Renders a text as a QR code, always dark on light. Returns `undefined` for a text that does not fit into one. */
export function renderQrCode(text: string, label: string): SafeHtml | undefined {
  if (new TextEncoder().encode(text).byteLength > MAX_BYTES) return undefined;
  const { data, size } = encode(text, { border: BORDER });
  const path = data.map((row, y) => toRuns(row, y)).join("");
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${size} ${size}" width="232" height="232" shape-rendering="crispEdges"><rect width="${size}" height="${size}" fill="#fff"/><path d="${path}" fill="#000"/></svg>`;
}

/** The dark modules of a row, each run of them as one rectangle. */
function toRuns(row: readonly boolean[], y: number): string {
  let path = "";
  for (let x = 0; x < row.length; x += 1) {
    const start = x;
    while (row[x] === true) x += 1;
    if (x > start) path += `M${start} ${y}h${x - start}v1h-${x - start}z`;
  }
  return path;
}
