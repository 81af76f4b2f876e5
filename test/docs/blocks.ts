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
  /** `<!-- continues -->`: it stands behind the former block of its page and language. */
  readonly continues: boolean;
  /** `<!-- not checked: reason -->`. */
  readonly reason?: string;
  /** `<!-- not a configuration -->`, of JSON. */
  readonly isOther: boolean;
  /** `<!-- path of a file -->`: it is a part of that. */
  readonly file?: string;
  /** Comments that are none of these. */
  readonly unknown: readonly string[];
}

type Said = Pick<Block, "before" | "after" | "continues" | "reason" | "isOther" | "file" | "unknown">;

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
  const unknown: string[] = [];
  let found: Said = { before: "", after: "", continues: false, isOther: false, unknown };
  for (const text of said) {
    const [, name, rest = ""] = /^(given|within|not checked|not run):\s*([\s\S]*)$/.exec(text) ?? [];
    const [before = "", after = ""] = rest.split("…");
    if (text === "continues") found = { ...found, continues: true };
    else if (text === "not a configuration") found = { ...found, isOther: true };
    else if (name === "given") found = { ...found, before: `${found.before}${rest}\n` };
    else if (name === "within") found = { ...found, before: `${found.before}${before}\n`, after: `${after}\n` };
    else if (name === "not checked") found = { ...found, reason: rest };
    // Commands are read either way, and run by the tests of the pages that say so.
    else if (name === "not run") continue;
    else if (/^[\w./-]+\.\w+$/.test(text)) found = { ...found, file: text };
    else unknown.push(text);
  }
  return found;
}

/** A block with what stands before and behind it. */
export function toWhole({ before, text, after }: Block): string {
  return `${before}${text}${after}`;
}

/** Where a line of a block stands. */
export function toPlace({ page, line }: Block, offset = 0): string {
  return `${page}:${line + offset}`;
}
