/** How a browser shows a file. */
export type ViewKind = "image" | "audio" | "video" | "pdf" | "text";

/** How a file is shown in a page, or as one. */
export interface InlineType {
  readonly kind: ViewKind;
  /** The media type that it is sent with, whatever it contains. */
  readonly type: string;
  /** Whether a browser may open it as a page of its own. Otherwise it is saved, and only pages embed it. */
  readonly isPage: boolean;
  readonly policy: string;
}

/** By media type, the extensions of names. What is not listed is never shown. */
const MEDIA = {
  image: {
    "image/png": "png",
    "image/apng": "apng",
    "image/jpeg": "jpg jpeg jpe jfif",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/avif": "avif",
    "image/bmp": "bmp",
    "image/x-icon": "ico",
  },
  audio: {
    "audio/mpeg": "mp3",
    "audio/mp4": "m4a",
    "audio/aac": "aac",
    "audio/ogg": "ogg oga opus",
    "audio/wav": "wav",
    "audio/flac": "flac",
    "audio/webm": "weba",
  },
  video: { "video/mp4": "mp4 m4v", "video/webm": "webm", "video/ogg": "ogv", "video/quicktime": "mov" },
  pdf: { "application/pdf": "pdf" },
  // Code and markup are shown as they are written.
  text: {
    "text/plain; charset=utf-8":
      "txt text log md markdown rst csv tsv json jsonl ndjson xml yaml yml toml ini conf cfg properties env diff patch " +
      "html htm xhtml css scss less js mjs cjs jsx ts tsx vue svelte py rb php java kt go rs c h cc cpp hpp cs swift " +
      "lua pl r sql sh bash zsh fish ps1 bat tex srt vtt ics vcf gitignore dockerfile makefile",
  },
} as const satisfies Readonly<Record<ViewKind, Readonly<Record<string, string>>>>;

/** No script in any of them, and no frame around them. */
const NO_SCRIPT = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/**
 * A page of its own has no origin by `sandbox`. Browsers refuse to play media and to show PDF there: their policy is
 * the same without it. A type of the list never makes them read a file as HTML (`nosniff`).
 */
const POLICIES: Readonly<Record<ViewKind, string>> = {
  image: `sandbox; ${NO_SCRIPT}; img-src 'self'`,
  audio: `${NO_SCRIPT}; media-src 'self'`,
  video: `${NO_SCRIPT}; media-src 'self'`,
  pdf: `${NO_SCRIPT}; object-src 'self'`,
  text: `sandbox; ${NO_SCRIPT}`,
};

/** SVG is a document that can have scripts. In an `img` none of them runs; as a page of its own it is not opened. */
const SVG: InlineType = {
  kind: "image",
  type: "image/svg+xml",
  isPage: false,
  policy: `sandbox; ${NO_SCRIPT}; img-src data:`,
};

const TYPES: ReadonlyMap<string, InlineType> = new Map([
  ["svg", SVG],
  ...Object.entries(MEDIA).flatMap(([kind, types]) =>
    Object.entries(types).flatMap(([type, extensions]) => {
      const own = { kind: kind as ViewKind, type, isPage: true, policy: POLICIES[kind as ViewKind] };
      return extensions.split(" ").map((extension) => [extension, own] as const);
    }),
  ),
]);

/** How a file is shown, by its name alone; `undefined` if it is only saved. */
export function findInlineType(name: string): InlineType | undefined {
  const dot = name.lastIndexOf(".");
  return dot === -1 ? undefined : TYPES.get(name.slice(dot + 1).toLowerCase());
}
