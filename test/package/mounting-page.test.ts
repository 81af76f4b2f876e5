import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EXCEPTIONS } from "../runtimes/frameworks/exceptions.ts";
import { projectFolder } from "../support/built.ts";

const page = await readFile(join(projectFolder, "docs/mounting.md"), "utf8");
const deployment = await readFile(join(projectFolder, "docs/deployment.md"), "utf8");
const blocks = [...`${page}${deployment}`.matchAll(/^<!-- (examples\/\S+) -->\n```\w+\n([\s\S]*?)\n```$/gm)];

describe("docs/mounting.md, and docs/deployment.md for nginx", () => {
  it("shows every example", () => {
    const names = ["express.mjs", "fastify.mjs", "files.mjs", "hono.mjs", "koa.mjs", "next.mjs", "whatwg-server.mjs"];
    const expected = [...names.map((name) => `examples/frameworks/${name}`), "examples/nginx/nginx.conf"];
    expect(blocks.map(([, path]) => path).sort()).toEqual(expected);
  });

  it.each(blocks.map(([, path = "", text = ""]) => [path, text]))("shows %s as it is", async (path, text) => {
    const example = await readFile(join(projectFolder, path), "utf8");
    // What is left out stands as a comment, and ends the part.
    const [part = ""] = text.split("  // ...");
    expect(example).toContain(part.trimEnd());
  });

  it("tells of each exception of a framework", () => {
    for (const reason of Object.values(EXCEPTIONS).flatMap((exceptions) => Object.values(exceptions))) {
      expect(page).toContain(reason);
    }
  });
});
