import { createConfig, lintFromString } from "@redocly/openapi-core";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createTestService, type TestServiceOptions } from "../support/service.ts";

type Api = "fetch" | "rest" | "webdav" | "browser";

const full: TestServiceOptions = {
  basePath: "/files",
  metadataFields: { header: "X-Labels", required: true, keys: [{ name: "project" }, { name: "tag-*" }] },
  triggers: { publish: { label: "Publish", run: () => undefined } },
  limits: { maxFileBytes: 1000 },
};
const configurations: readonly (readonly [what: string, options: TestServiceOptions, api: Api])[] = [
  ["of the defaults", {}, "fetch"],
  ["of all that it says more", full, "fetch"],
  ["of sessions that are not announced", { session: { announce: false } }, "fetch"],
  ["of the REST API alone", full, "rest"],
  ["of the WebDAV API alone", full, "webdav"],
  ["of the browser's API alone", {}, "browser"],
];

/** The rules that are broken, and why on purpose. */
const ACCEPTED: Readonly<Record<string, string>> = {
  "no-path-trailing-slash": "A URL that ends in a slash is a folder, and any other a file (1.3).",
  "operation-2xx-response":
    "The ways to the files are redirects, and nothing else; so is POST of a file that is a folder.",
  "operation-4xx-response": "Nothing can be wrong with OPTIONS, with a redirect or with what anybody may read.",
  "info-license": "A license of what? Of the files that a service has, the library knows nothing.",
  "no-illogical-composition-keywords": "A list of exactly one item, as zod writes it in the dialect of OpenAPI 3.0.",
};

async function fetchDescription(options: TestServiceOptions, api: Api, path: string): Promise<string> {
  const { call } = await createTestService(options);
  const answer = await call("GET", `${options.basePath ?? ""}${path}`, { as: null, api });
  expect(answer.status).toBe(200);
  return answer.text;
}

describe.each(configurations)("the description %s", (_what, options, api) => {
  it("breaks none of Redocly's recommended rules", async () => {
    const source = await fetchDescription(options, api, "/__svc__/openapi.yaml");
    const config = await createConfig({ extends: ["recommended"] });
    const found = await lintFromString({ source, config });
    const problems = found.map(({ severity, ruleId, message, location: [place] }) => {
      return `${severity} ${ruleId}: ${message} (${place?.pointer})`;
    });
    expect(problems.filter((_problem, index) => ACCEPTED[found[index]?.ruleId ?? ""] === undefined)).toEqual([]);
  });

  it("says the same as JSON, and as YAML at both of its places", async () => {
    const yaml = await fetchDescription(options, api, "/__svc__/openapi.yaml");
    expect(await fetchDescription(options, api, "/____svc__/openapi.yaml")).toBe(yaml);
    expect(parse(yaml)).toEqual(JSON.parse(await fetchDescription(options, api, "/__svc__/openapi.json")));
  });
});

it("accepts no warnings that nobody gives any more", async () => {
  const source = await fetchDescription(full, "fetch", "/__svc__/openapi.yaml");
  const found = await lintFromString({ source, config: await createConfig({ extends: ["recommended"] }) });
  const rules = new Set(found.map(({ ruleId }) => ruleId));
  expect(Object.keys(ACCEPTED).filter((rule) => !rules.has(rule))).toEqual([]);
});
