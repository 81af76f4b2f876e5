import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { load } from "js-yaml";
import { beforeAll, describe, expect, it } from "vitest";
import { toDescribedSchema } from "../../build/described-schema.ts";
import { ensureBuilt, projectFolder } from "../support/built.ts";

const page = await readFile(join(projectFolder, "docs/command.md"), "utf8");
const text = `${JSON.stringify(toDescribedSchema(page), undefined, 1)}\n`;

describe("config.schema.json", () => {
  beforeAll(() => ensureBuilt(), 300_000);

  it("is in the package", async () => {
    expect(await readFile(join(projectFolder, "dist/config.schema.json"), "utf8")).toBe(text);
  });

  const validate = new Ajv2020({ strict: false }).compile(JSON.parse(text));

  it("accepts the examples of the page of the command", async () => {
    const blocks = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, block = ""]) => JSON.parse(block));
    const configurations = blocks.filter((block) => "authentication" in block);
    expect(configurations.length).toBeGreaterThan(4);
    for (const one of configurations) expect(validate(one), JSON.stringify(validate.errors)).toBe(true);
  });

  it("describes each key that the page has in a table, once for each kind of storage", () => {
    const descriptions = findDescriptions(JSON.parse(text));
    const rows = [...page.matchAll(/^\| `([\w.<>]+)`(?:, `([\w.]+)`)* \|.*\|$/gm)].map(([, key = ""]) => key);
    const keys = rows.filter((key) => key.includes("."));
    expect(keys.length).toBeGreaterThan(80);
    expect(keys.filter((key) => !descriptions.has(key))).toEqual([]);
    expect(descriptions.get("storage.durability")).toEqual([
      "fsync: a confirmed upload survives a power cut. rename: it survives only the end of the process. Default: fsync.",
    ]);
    expect(descriptions.get("storage.endpoint")).toEqual([
      "The URL of the store. Default: AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, else AWS.",
      "The URL of the Blob service. Default: that of Azure.",
    ]);
    expect(descriptions.get("authentication.testAtStart")).toEqual([
      "Whether the command asks about a made-up account at start. Default: true.",
    ]);
    expect(descriptions.get("groups.<name>.max_file_bytes")).toEqual([
      "Size of a file that the account uploads, in bytes; 0 for no own limit. Default: 0.",
    ]);
    expect([...descriptions.values()].flat().filter((description) => /[`\]]\(|``/.test(description))).toEqual([]);
  });

  it("knows the names of keys, and where secrets come from", () => {
    const authentication = [{ type: "accounts", file: "accounts.json" }];
    const links = { secret: { file: "/run/secrets/links" } };
    const azure = { type: "azure", account: "abc", container: "files", key: { file: "/run/secrets/azure" } };
    expect(validate({ authentication, storage: azure })).toBe(true);
    expect(validate({ authentication, listen: { tls: { cert: "a", key: { file: "b" } } } })).toBe(false);
    expect(validate({ $schema: "x", authentication, links, log: { format: "$status" } })).toBe(true);
    expect(validate(load("authentication: [{ type: accounts, file: a }]\nbasePaht: /x\n"))).toBe(false);
    expect(validate({ authentication, listen: { port: "80" } })).toBe(false);
    expect(validate({})).toBe(false);
  });
});

/** The descriptions of keys by their paths, several where a key has several forms. */
function findDescriptions(schema: unknown, path = "", found = new Map<string, string[]>()): Map<string, string[]> {
  if (typeof schema !== "object" || schema === null) return found;
  for (const [word, part] of Object.entries(schema)) {
    if (word === "description") found.set(path, [...(found.get(path) ?? []), part]);
    else if (word === "properties") {
      for (const [name, member] of Object.entries(part))
        findDescriptions(member, path ? `${path}.${name}` : name, found);
    } else if (word === "additionalProperties") findDescriptions(part, `${path}.<name>`, found);
    else findDescriptions(part, path, found);
  }
  return found;
}
