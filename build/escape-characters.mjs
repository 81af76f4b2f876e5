/**
 * Writes the characters beyond ASCII in the built modules as escapes. esbuild does so in texts, but not in templates
 * with a tag, in regular expressions and in comments. V8 takes one byte for each character of such a module and two
 * for each of any other, as long as the module is loaded. Only `String.raw` sees a difference.
 * The argument is the folder of the built package.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const [, , built = "dist"] = process.argv;

for (const file of await readdir(built, { recursive: true })) {
  if (!file.endsWith(".js")) continue;
  const text = await readFile(join(built, file), "utf8");
  const escaped = text.replace(/[^\0-\x7f]/g, toEscape);
  if (escaped !== text) await writeFile(join(built, file), escaped);
}

function toEscape(unit) {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
