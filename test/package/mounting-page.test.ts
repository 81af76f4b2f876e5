import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EXCEPTIONS } from "../runtimes/frameworks/exceptions.ts";
import { projectFolder } from "../support/built.ts";

const pages = ["docs/mounting.md", "docs/mounting-full-stack.md"].map((path) => join(projectFolder, path));
const page = (await Promise.all(pages.map((path) => readFile(path, "utf8")))).join("\n");
const deployment = await readFile(join(projectFolder, "docs/deployment.md"), "utf8");
const blocks = [...`${page}${deployment}`.matchAll(/^<!-- (examples\/\S+) -->\n```\w+\n([\s\S]*?)\n```$/gm)];

/** Not examples: what runs them. */
const PROGRAMS = ["link.mjs", "run.mjs"];

describe("the pages about mounting, and docs/deployment.md for nginx", () => {
  it("shows every example", async () => {
    const members = await readdir(join(projectFolder, "examples/frameworks"));
    const names = members.filter((name) => name.endsWith(".mjs") && !PROGRAMS.includes(name));
    const expected = [
      ...names.map((name) => `examples/frameworks/${name}`),
      "examples/nginx/nginx.conf",
      "examples/systemd/fileferry.logrotate",
      "examples/systemd/fileferry.service",
    ];
    expect(blocks.map(([, path]) => path).sort()).toEqual(expected.sort());
  });

  it.each(blocks.map(([, path = "", text = ""]) => [path, text]))("shows %s as it is", async (path, text) => {
    const example = await readFile(join(projectFolder, path), "utf8");
    // What is left out stands as a comment, and ends the part.
    const [part = ""] = text.split(/^ *\/\/ \.\.\.$/m);
    expect(example).toContain(part.trimEnd());
  });

  it("tells of each exception of a framework", () => {
    for (const reason of Object.values(EXCEPTIONS).flatMap((exceptions) => Object.values(exceptions))) {
      expect(page).toContain(reason);
    }
  });
});
