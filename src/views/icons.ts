import { html, type SafeHtml } from "../http/html.ts";

/** The extensions of each kind of file. The kind only decides the icon, which the style sheet has. */
const EXTENSIONS = {
  text: "txt md rtf pdf doc docx odt tex log epub pages",
  image: "png jpg jpeg gif webp avif svg heic tif tiff bmp ico psd raw",
  audio: "mp3 wav flac ogg opus m4a aac aiff mid",
  video: "mp4 mkv mov avi webm mpg mpeg m4v wmv",
  archive: "zip gz tgz bz2 xz zst 7z rar tar iso dmg jar",
  table: "csv tsv xls xlsx ods numbers parquet",
  code: "js ts jsx tsx json html htm css xml yaml yml toml py rb go rs c h cpp java sh sql ini php",
} as const;

type FileKind = keyof typeof EXTENSIONS | "file";

const KINDS: ReadonlyMap<string, FileKind> = new Map(
  Object.entries(EXTENSIONS).flatMap(([kind, names]) =>
    names.split(" ").map((name) => [name, kind as FileKind] as const),
  ),
);

/** The kind of a file, guessed from the extension of its name. */
export function toFileKind(name: string): FileKind {
  const dot = name.lastIndexOf(".");
  return (dot < 1 ? undefined : KINDS.get(name.slice(dot + 1).toLowerCase())) ?? "file";
}

/** SVG paths in a square of 24 by 24. */
const SHAPES = {
  up: "M5 12l7-7 7 7 M12 5v14",
  ascending: "M12 19V6 M6.5 11.5L12 6l5.5 5.5",
  down: "M12 5v13 M6.5 12.5L12 18l5.5-5.5",
  chevron: "M7 10l5 5 5-5",
  more: "M5 12h.01 M12 12h.01 M19 12h.01",
  upload: "M12 16V5 M7 9.5L12 4.5l5 5 M4 19h16",
  download: "M12 4v11 M7 10.5l5 5 5-5 M4 19h16",
  out: "M12 15V4 M8 7.5L12 3.5l4 4 M6 11H5v9h14v-9h-1",
  "new-folder": "M3 7a2 2 0 0 1 2-2h4l2 2.5h8a2 2 0 0 1 2 2V17a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z M12 10.5v5 M9.5 13h5",
  empty: "M3 8a2 2 0 0 1 2-2h4l2 2.5h8a2 2 0 0 1 2 2V17a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z M9 14h6",
} as const;

type IconName = keyof typeof SHAPES;

/** The shapes of all icons. A page contains them once, and the icons refer to them. */
export const ICONS: SafeHtml = html`<svg class="shapes" width="0" height="0" aria-hidden="true">
${Object.entries(SHAPES).map(([name, path]) => html`<symbol id="icon-${name}" viewBox="0 0 24 24"><path d="${path}"/></symbol>`)}
</svg>`;

/** A decorative icon, hidden from assistive technology. */
export function icon(name: IconName): SafeHtml {
  return html`<svg class="icon" width="24" height="24" aria-hidden="true"><use href="#icon-${name}"/></svg>`;
}
