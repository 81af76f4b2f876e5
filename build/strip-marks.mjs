/**
 * Removes the marks of clauses, such as `(4.1)` or `(CONTRACT 6.5)`, from the comments of the built type declarations.
 * They help in the sources, but name papers that users of the package do not have. References to RFCs stay.
 * The argument is the folder of the built package.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const [, , built = "dist"] = process.argv;

/** A line break inside a comment, with the asterisk of the next line. */
const GAP = String.raw`(?:\s|\n\s*\*)`;
const PARENTHESES = new RegExp(String.raw`${GAP}*\(([^()]*)\)`, "g");
const SEPARATOR = new RegExp(`[,;]${GAP}+`);
/** One clause: of the service description by its number, of another page by the page's name. */
const CLAUSE =
  /^(?:(?:CONTRACT|SECURITY|DESIGN|HOUSE|WEBDAV|RESUMABLE|SHARING|WRAPPERS) \d+(?:\.\d+)*|\d+\.\d+(?:-\d+\.\d+)?|rule \d+)$/;

for (const file of await readdir(built, { recursive: true })) {
  if (!file.endsWith(".d.ts")) continue;
  const text = await readFile(join(built, file), "utf8");
  const stripped = text.replace(/\/\*\*.*?\*\//gs, (comment) => comment.replace(PARENTHESES, stripClauses));
  if (stripped !== text) await writeFile(join(built, file), stripped);
}

function stripClauses(whole, content) {
  let page = "";
  const items = content.split(SEPARATOR);
  const kept = items.filter((item) => {
    const plain = item.replace(/\s+\*?\s*/g, " ").trim();
    // A number alone belongs to the page named before it: `(CONTRACT 6.3, 6.5)`, but `(RFC 9110 13.1, 14.2)` stays.
    page = /^(?:RFC \d+|[A-Z]+)/.exec(plain)?.[0] ?? page;
    const isNumber = items.length > 1 && /^\d+$/.test(plain);
    return page.startsWith("RFC") || (!CLAUSE.test(plain) && !isNumber);
  });
  if (kept.length === items.length) return whole;
  return kept.length === 0 ? "" : whole.replace(content, kept.join(", "));
}
