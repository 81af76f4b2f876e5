import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { load } from "js-yaml";
import { beforeAll, describe, expect, it } from "vitest";
import { toConfigJsonSchema } from "../../src/cli/config/json-schema.ts";
import { ensureBuilt, projectFolder } from "../support/built.ts";

const text = `${JSON.stringify(toConfigJsonSchema(), undefined, 1)}\n`;

describe("config.schema.json", () => {
  beforeAll(() => ensureBuilt(), 300_000);

  it("is in the package", async () => {
    expect(await readFile(join(projectFolder, "dist/config.schema.json"), "utf8")).toBe(text);
  });

  const validate = new Ajv2020({ strict: false }).compile(JSON.parse(text));

  it("accepts the examples of the page of the command", async () => {
    const page = await readFile(join(projectFolder, "docs/command.md"), "utf8");
    const blocks = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, block = ""]) => JSON.parse(block));
    const configurations = blocks.filter((block) => "authentication" in block);
    expect(configurations.length).toBeGreaterThan(4);
    for (const one of configurations) expect(validate(one), JSON.stringify(validate.errors)).toBe(true);
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
