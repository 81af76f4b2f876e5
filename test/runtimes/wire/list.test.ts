import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { wireCases } from "./cases.ts";
import { wireExceptions } from "./exceptions.ts";

describe("the list of cases over the wire", () => {
  it("has 120 at least, each with a name of its own", () => {
    const names = wireCases.map(({ name }) => name);
    expect(names.length).toBeGreaterThanOrEqual(120);
    expect(new Set(names).size).toBe(names.length);
  });

  it("has exceptions to its own cases alone", () => {
    const names = new Set(wireCases.map(({ name }) => name));
    expect(wireExceptions.filter(({ name }) => !names.has(name))).toEqual([]);
  });

  it("has those exceptions, with those reasons, that docs/runtimes.md has", async () => {
    const text = await readFile(new URL("../../../docs/runtimes.md", import.meta.url), "utf8");
    const [, table = ""] = text.split("<!-- exceptions -->");
    const rows = table.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| runtime "));
    const expected = wireExceptions.map(({ runtime, name, reason }) => `| ${runtime} | ${name} | ${reason} |`);
    expect(rows).toEqual(expected);
  });
});
