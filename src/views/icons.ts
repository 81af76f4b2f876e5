import { html, type SafeHtml } from "../http/html.ts";

/** The kind of a member, guessed from its name. It only decides the icon. */
type Kind = "folder" | "file" | "text" | "image" | "audio" | "video" | "archive" | "table" | "code";

const EXTENSIONS: Readonly<Record<Exclude<Kind, "folder" | "file">, string>> = {
  text: "txt md rtf pdf doc docx odt tex log epub pages",
  image: "png jpg jpeg gif webp avif svg heic tif tiff bmp ico psd raw",
  audio: "mp3 wav flac ogg opus m4a aac aiff mid",
  video: "mp4 mkv mov avi webm mpg mpeg m4v wmv",
  archive: "zip gz tgz bz2 xz zst 7z rar tar iso dmg jar",
  table: "csv tsv xls xlsx ods numbers parquet",
  code: "js ts jsx tsx json html htm css xml yaml yml toml py rb go rs c h cpp java sh sql ini php",
};

const KINDS: ReadonlyMap<string, Kind> = new Map(
  Object.entries(EXTENSIONS).flatMap(([kind, names]) => names.split(" ").map((name) => [name, kind as Kind] as const)),
);

const SHEET = "M6 3h8l5 5v12a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1z M14 3v5h5";

/** SVG paths in a square of 24 by 24. */
const SHAPES: Readonly<Record<Kind | "up" | "down" | "empty", string>> = {
  folder: "M3 7a2 2 0 0 1 2-2h4l2 2.5h8a2 2 0 0 1 2 2V17a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z",
  file: SHEET,
  text: `${SHEET} M9 12h6 M9 15h6 M9 18h4`,
  image: "M4 5h16v14H4z M4 16l5-5 4 4 3-3 4 4 M15 9.5h.01",
  audio: "M9 18V6l10-2v12 M9 18a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0z M19 16a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0z",
  video: "M3 6h18v12H3z M10 9.5v5l4.5-2.5z",
  archive: "M4 8h16v12H4z M3 4h18v4H3z M10 12h4",
  table: "M4 5h16v14H4z M4 10h16 M4 14.5h16 M10 5v14",
  code: "M8 8l-4 4 4 4 M16 8l4 4-4 4 M13.5 6l-3 12",
  up: "M12 19V6 M6.5 11.5L12 6l5.5 5.5",
  down: "M12 5v13 M6.5 12.5L12 18l5.5-5.5",
  empty: "M3 8a2 2 0 0 1 2-2h4l2 2.5h8a2 2 0 0 1 2 2V17a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z M9 14h6",
};

/** The shapes of all icons. A page contains them once, and the icons refer to them. */
export const ICONS: SafeHtml = html`<svg class="shapes" width="0" height="0" aria-hidden="true">
${Object.entries(SHAPES).map(([name, path]) => html`<symbol id="icon-${name}" viewBox="0 0 24 24"><path d="${path}"/></symbol>`)}
</svg>`;

/** A decorative icon, hidden from assistive technology. */
export function icon(name: keyof typeof SHAPES): SafeHtml {
  return PLAIN_ICONS[name];
}

const PLAIN_ICONS = Object.fromEntries(
  Object.keys(SHAPES).map((name) => [
    name,
    html`<svg class="icon" width="24" height="24" aria-hidden="true"><use href="#icon-${name}"/></svg>`,
  ]),
) as unknown as Readonly<Record<keyof typeof SHAPES, SafeHtml>>;

/** The icon of a file, chosen by the extension of its name. */
export function fileIcon(name: string): SafeHtml {
  const dot = name.lastIndexOf(".");
  return icon((dot < 1 ? undefined : KINDS.get(name.slice(dot + 1).toLowerCase())) ?? "file");
}

/** The icon of a folder. It has a label, because only the icon distinguishes a folder from a file. */
export function folderIcon(label: string): SafeHtml {
  return html`<svg class="icon folder" width="24" height="24" role="img" aria-label="${label}"><use href="#icon-folder"/></svg>`;
}
