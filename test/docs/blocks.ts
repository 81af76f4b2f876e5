import type { Page } from "./pages.ts";

/** A fenced block of a page, with what the comments right in front of it say. */
export interface Block {
  /** The path of its page. */
  readonly page: string;
  /** Of its first line. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** What the reader is not shown: where it is a part of something, `before` and `after` are the rest. */
  readonly before: string;
  readonly after: string;
  /** `<!-- continues -->`: it continues the previous block of its page and language. */
  readonly continues: boolean;
  /** `<!-- not checked: reason -->`. */
  readonly reason?: string;
  /** `<!-- not run: reason -->`, of commands. */
  readonly notRun?: string;
  /** `<!-- typed: text -->`: what its commands read. */
  readonly typed?: string;
  /** `<!-- saved: path -->`: what the commands behind it find as a file. */
  readonly saved?: string;
  /** `<!-- not a configuration -->`, of JSON. */
  readonly isOther: boolean;
  /** `<!-- path of a file -->`: it is a part of that. */
  readonly file?: string;
  /** Comments that are none of these. */
  readonly unknown: readonly string[];
}

type Said = Omit<Block, "page" | "line" | "language" | "text">;

/** The fenced blocks of a page, in lists and quotations too. */
export function findBlocks({ path, tokens }: Page): readonly Block[] {
  return tokens.flatMap((token, index) => {
    if (token.type !== "fence") return [];
    const comments: string[] = [];
    for (let place = index - 1; tokens[place]?.type === "html_block"; place -= 1) {
      comments.unshift(tokens[place]?.content ?? "");
    }
    const line = (token.map?.[0] ?? 0) + 2;
    return [{ page: path, line, language: token.info.trim(), text: token.content, ...read(comments.join("\n")) }];
  });
}

/** What comments say. */
function read(html: string): Said {
  const said = [...html.matchAll(/<!--\s*([\s\S]*?)\s*-->/g)].map(([, text = ""]) => text);
  return said.reduce(readOne, { before: "", after: "", continues: false, isOther: false, unknown: [] });
}

/** What one more comment says. */
function readOne(found: Said, text: string): Said {
  if (text === "continues") return { ...found, continues: true };
  if (text === "not a configuration") return { ...found, isOther: true };
  if (/^(?:[\w./-]+\.\w+|Dockerfile)$/.test(text)) return { ...found, file: text };
  const [, name, rest = ""] = /^([a-z ]+):\s*([\s\S]*)$/.exec(text) ?? [];
  const [before = "", after = ""] = rest.split("…");
  switch (name) {
    case "given":
      return { ...found, before: `${found.before}${rest}\n` };
    case "within":
      return { ...found, before: `${found.before}${before}\n`, after: `${after}\n` };
    case "not checked":
      return { ...found, reason: rest };
    case "not run":
      return { ...found, notRun: rest };
    case "typed":
      return { ...found, typed: `${rest}\n` };
    case "saved":
      return { ...found, saved: rest };
    default:
      return { ...found, unknown: [...found.unknown, text] };
  }
}

/** A block with what stands before and behind it. */
export function toWhole({ before, text, after }: Block): string {
  return `${before}${text}${after}`;
}

/** Where a line of a block stands. */
export function toPlace({ page, line }: Block, offset = 0): string {
  return `${page}:${line + offset}`;
}
