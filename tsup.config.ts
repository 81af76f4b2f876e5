import { defineConfig, type Options } from "tsup";
import { createEsbuildAssets } from "./build/assets.ts";
import { createExternalModule } from "./build/external-module.ts";
import { createLatePackage } from "./build/late-package.ts";
import { createBundleNotices, createViewerNotices } from "./build/notices.ts";

const common: Options = {
  format: "esm",
  target: "es2022",
  // Deno and workerd know the modules of Node by this prefix only.
  removeNodeProtocol: false,
  splitting: true,
  sourcemap: false,
};

const published = {
  index: "src/index.ts",
  "api-page": "src/api-page.ts",
  "auth/jwt": "src/auth/jwt.ts",
  "auth/oidc": "src/auth/oidc.ts",
  "bridges/files-sdk": "src/bridges/files-sdk.ts",
  "bridges/flydrive": "src/bridges/flydrive.ts",
  bun: "src/bun.ts",
  client: "src/client.ts",
  deno: "src/deno.ts",
  node: "src/node.ts",
  react: "src/react.ts",
  workers: "src/workers.ts",
  storage: "src/storage.ts",
  "storage/azure": "src/storage/azure.ts",
  "storage/disk": "src/storage/disk.ts",
  "storage/memory": "src/storage/memory.ts",
  "storage/quota": "src/storage/quota.ts",
  "storage/trash": "src/storage/trash.ts",
  "storage/versions": "src/storage/versions.ts",
  "storage/s3": "src/storage/s3.ts",
  "storage/r2": "src/storage/r2.ts",
  "stores/cloudflare-kv": "src/stores/cloudflare-kv.ts",
  "stores/durable-object": "src/stores/durable-object.ts",
  "stores/memory": "src/stores/memory.ts",
  "stores/redis": "src/stores/redis.ts",
  "stores/sqlite": "src/stores/sqlite.ts",
  "testing/index": "src/testing/index.ts",
  tracing: "src/tracing.ts",
};

/** The hooks for React, which are built on their own. */
const { react, ...platformNeutral } = published;

/** Files of their own, so that bundlers leave out what an application does not use. */
const parts = {
  "parts/swagger-ui": "src/views/swagger-ui.ts",
  "parts/http-authenticator": "src/remote-auth/http-authenticator.ts",
  "parts/authentication-endpoint": "src/remote-auth/endpoint.ts",
  "parts/webhook": "src/sinks/webhook.ts",
  "parts/metrics": "src/metrics/metrics.ts",
};

export default defineConfig([
  {
    ...common,
    entry: { ...platformNeutral, ...parts },
    platform: "neutral",
    external: [/^node:/],
    esbuildPlugins: [createEsbuildAssets(), createViewerNotices()],
    dts: { entry: published, compilerOptions: { ignoreDeprecations: "6.0" } },
  },
  // Server components of React need the directive to import the hooks, and esbuild removes it from a chunk. The class
  // of errors is that of the client, which stays one file.
  {
    ...common,
    entry: { react },
    platform: "neutral",
    external: ["react"],
    banner: { js: `"use client";` },
    esbuildPlugins: [createExternalModule(/\/client\/error\.ts$/, "./client.js")],
  },
  // The command is one bundle with its dependencies: hundreds of small modules took half of its start
  // (docs/decisions/0040-one-bundle.md).
  {
    ...common,
    entry: { "cli/main": "src/cli/main.ts" },
    esbuildOptions: (options) => {
      options.chunkNames = "cli/[name]-[hash]";
      // The same classes as modules, of which the bundle contains only those that are used.
      options.alias = { "@whatwg-node/fetch": "@whatwg-node/node-fetch" };
    },
    platform: "node",
    // Optional peers, which the operator installs.
    noExternal: [/^(?!redis$|openid-client$|@aws-sdk\/|@opentelemetry\/)/],
    // Names stay readable in the stacks of the log.
    minifyWhitespace: true,
    minifySyntax: true,
    // Some dependencies are CommonJS and load modules of Node.
    banner: { js: `import{createRequire as toRequire}from"node:module";const require=toRequire(import.meta.url);` },
    esbuildPlugins: [
      createEsbuildAssets(),
      // Two megabytes, which the library has too.
      createExternalModule(/\/swagger-ui\.ts$/, "../parts/swagger-ui.js"),
      // A tenth of what the command loads, for path expressions that most configurations do not have.
      createLatePackage("re2js", "RE2JS"),
      createBundleNotices("cli"),
    ],
  },
]);
