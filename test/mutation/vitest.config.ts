import { mergeConfig } from "vitest/config";
import whole from "../../vitest.config.ts";

/** Beside a folder's own tests, those of the service that are about it. All of them run in this process alone. */
const OF_THE_SERVICE: Readonly<Record<string, readonly string[]>> = {
  account: [
    "unit/{schemas/*,service/account-opener}",
    "spec/**/{home-folders,permissions,permissions-of-routes,virtual-folders,paths,before-commit,upload-limits,url-space}",
    "spec/**/{delete,links,create-folder,get-folder-json,post-commands}",
  ],
  auth: [
    "spec/**/{login,logout,authentication,sessions,session-keep-alive,password-update,throttling,account-changes}",
    "spec/**/{login-events,shared-store,basic-cache,login-ends,host-identity,jwt,session-cookie,account-info}",
  ],
  http: [
    "spec/**/{ranges,conditional-requests,cross-site,negotiation,large-bodies,body-already-read,post-form,platform-request}",
    "spec/**/{public-origin,put-file,response-headers}",
  ],
  "remote-auth": ["unit/schemas/*", "security/outbound"],
};

const { MUTANTS_OF: folder = "", MUTANTS_BY: by } = process.env;
const tests = [`unit/${folder}/**/*`, ...(by === "service" ? (OF_THE_SERVICE[folder] ?? []) : [])];

// What waits for ever is noticed soon. Modules are loaded once for all tests, which is most of the time that a mutant
// takes; so none that replaces a module is among them.
const config = mergeConfig(whole, { test: { isolate: false, testTimeout: 10_000 } });
// Lists are joined by a merge: these replace theirs.
Object.assign(config.test, {
  include: tests.map((name) => `test/${name}.test.ts`),
  projects: undefined,
  globalSetup: [],
  setupFiles: ["test/mutation/setup.ts"],
  // Stryker has the tests run in threads, which take no options of V8.
  execArgv: [],
  reporters: ["default"],
});

export default config;
