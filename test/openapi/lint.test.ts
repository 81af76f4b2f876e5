import { createConfig, lintFromString } from "@redocly/openapi-core";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { createQuotaStorage } from "../../src/storage/quota.ts";
import { createTrashStorage } from "../../src/storage/trash.ts";
import { createVersionsStorage } from "../../src/storage/versions.ts";
import { LINK_SECRET } from "../support/links.ts";
import { createTestService, type TestServiceOptions } from "../support/service.ts";

type Api = "fetch" | "rest" | "webdav" | "browser";

const full: TestServiceOptions = {
  basePath: "/files",
  metadataFields: { header: "X-Labels", required: true, keys: [{ name: "project" }, { name: "tag-*" }] },
  triggers: { publish: { label: "Publish", run: () => undefined } },
  limits: { maxFileBytes: 1000 },
};
const WITH_LINKS: TestServiceOptions = { links: { secret: LINK_SECRET } };
const counted = createQuotaStorage(createMemoryStorage());
const versioned = createVersionsStorage(counted);
const kept = createTrashStorage(versioned);
const WITH_KEPT: TestServiceOptions = {
  storage: kept,
  quota: counted.quota,
  trash: kept.trash,
  versions: versioned.versions,
  digests: {},
};
const configurations: readonly (readonly [what: string, options: TestServiceOptions, api: Api])[] = [
  ["of the defaults", {}, "fetch"],
  ["of all that it says more", full, "fetch"],
  ["of sessions that are not announced", { session: { announce: false } }, "fetch"],
  ["of the REST API alone", full, "rest"],
  ["of the WebDAV API alone", full, "webdav"],
  ["of the browser's API alone", {}, "browser"],
  ["of a service with links", WITH_LINKS, "fetch"],
  ["of the browser's API alone with links", WITH_LINKS, "browser"],
  ["of a service with quotas, a trash and versions", WITH_KEPT, "fetch"],
];

/**
 * The only rule that is broken, by folders alone: `/home/` and those below it end in a slash (1.3;
 * decisions/0018-openapi-document.md).
 */
const ACCEPTED: readonly string[] = ["#/paths/~1home~1", "#/paths/~1home~1{folder}~1"].map(
  (place) => `no-path-trailing-slash ${place}`,
);

/** The list of uploads, which pages alone do not have. */
const UPLOADS = "no-path-trailing-slash #/paths/~1home~1__svc__~1uploads~1";

/** The folders of links, and the list of uploads by one. */
const LINK_FOLDERS: readonly string[] = ["", "~1{folder}"].map(
  (place) => `no-path-trailing-slash #/paths/~1__svc__~1share~1{token}${place}~1`,
);
const LINK_UPLOADS = "no-path-trailing-slash #/paths/~1__svc__~1share~1{token}~1__svc__~1uploads~1";

/** What Redocly's recommended rules find, warnings too, each with its place. */
async function lint(source: string): Promise<readonly { readonly found: string; readonly message: string }[]> {
  const problems = await lintFromString({ source, config: await createConfig({ extends: ["recommended"] }) });
  return problems.map(({ ruleId, message, location: [place] }) => ({ found: `${ruleId} ${place?.pointer}`, message }));
}

async function fetchDescription(options: TestServiceOptions, api: Api, path: string): Promise<string> {
  const { call } = await createTestService(options);
  const answer = await call("GET", `${options.basePath ?? ""}${path}`, { as: null, api });
  expect(answer.status).toBe(200);
  return answer.text;
}

describe.each(configurations)("the description %s", (_what, options, api) => {
  it("breaks none of Redocly's recommended rules but that on folders", async () => {
    const problems = await lint(await fetchDescription(options, api, "/__svc__/openapi.yaml"));
    const hasLinks = options === WITH_LINKS;
    const uploads = api === "browser" ? [] : [UPLOADS, ...(hasLinks ? [LINK_UPLOADS] : [])];
    const accepted = [...uploads, ...ACCEPTED, ...(hasLinks ? LINK_FOLDERS : [])].sort();
    expect(problems.filter(({ found }) => !accepted.includes(found))).toEqual([]);
    expect(problems.map(({ found }) => found).sort()).toEqual(accepted);
  });

  it("says the same as JSON, and as YAML at both of its places", async () => {
    const yaml = await fetchDescription(options, api, "/__svc__/openapi.yaml");
    expect(await fetchDescription(options, api, "/____svc__/openapi.yaml")).toBe(yaml);
    expect(parse(yaml)).toEqual(JSON.parse(await fetchDescription(options, api, "/__svc__/openapi.json")));
  });
});
