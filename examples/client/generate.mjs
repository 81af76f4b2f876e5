// Writes service.d.ts: the types of the service that runs at SERVICE, from its OpenAPI document.
// `npx openapi-typescript http://127.0.0.1:8080/__svc__/openapi.json --output service.d.ts` generates strings for
// bytes; this script generates Blobs.

import { writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

const service = (process.env.SERVICE ?? "http://127.0.0.1:8080").replace(/\/$/, "");
const blob = ts.factory.createTypeReferenceNode("Blob");
const types = await openapiTS(new URL(`${service}/__svc__/openapi.json`), {
  transform: ({ format }) => (format === "binary" ? blob : undefined),
});
await writeFile(new URL("service.d.ts", import.meta.url), astToString(types));
