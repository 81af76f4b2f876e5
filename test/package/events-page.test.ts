import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { EVENT_MESSAGES } from "../../src/events/catalog.ts";
import { fileEventSchema } from "../../src/schemas/events.ts";
import { projectFolder } from "../support/built.ts";

/** The rows of the page, made of the types' comments and the schemas of the data. */
async function toRows(): Promise<readonly string[]> {
  const folder = join(projectFolder, "src/contracts/events");
  const files = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), "utf8")));
  const source = files.join("\n");
  const comments = [...source.matchAll(/^\/\*\* (\d{5}): ((?:[^*]|\*(?!\/))*?) \*\/\nexport interface (\w+)/gm)];
  const data = new Map(fileEventSchema.options.map(({ shape }) => [shape.id.value as number, toMembers(shape.data)]));
  expect(comments.map(([, id]) => Number(id)).sort()).toEqual(Object.keys(EVENT_MESSAGES).map(Number));
  return comments
    .map(([, id = "", text = "", name = ""]) => {
      const sentence = text.replace(/\s+/g, " ");
      return `| ${id} | \`${name}\` | ${sentence[0]?.toUpperCase()}${sentence.slice(1)} | ${data.get(Number(id))} |`;
    })
    .sort();
}

function toMembers({ shape }: z.ZodObject): string {
  return Object.entries(shape)
    .map(
      ([name, schema]) =>
        `\`${name}\`${(schema as z.ZodType).safeParse(undefined).success || isExactOptional(schema) ? "?" : ""}`,
    )
    .join(", ");
}

function isExactOptional(schema: unknown): boolean {
  return (schema as { _zod: { optin?: string } })._zod.optin === "optional";
}

describe("docs/events.md", () => {
  it("lists every event as the code has it", async () => {
    const page = await readFile(join(projectFolder, "docs/events.md"), "utf8");
    const listed = page.split("\n").filter((line) => /^\| \d{5} \|/.test(line));
    expect(listed).toEqual(await toRows());
  });
});
