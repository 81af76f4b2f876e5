import type { Page } from "playwright-core";

const BEARERS = [{ basic: [] }, { session: [] }, { cookie: [] }];
const PATH = { name: "path", in: "path", required: true, schema: { type: "string" } };
const LISTED = { description: "Its members.", content: { "application/json": { schema: { type: "object" } } } };

/** A description of three calls, as small as the page's own tests need. */
function toDescription(basePath: string): object {
  return {
    openapi: "3.0.3",
    info: { title: "Files", version: "1.0.0", description: "Moves *files*." },
    servers: [{ url: basePath === "" ? "/" : basePath }],
    security: BEARERS,
    paths: {
      "/home/": {
        get: { operationId: "listHome", summary: "Lists the root", responses: { 200: LISTED } },
      },
      "/home/{path}": {
        get: {
          operationId: "getFile",
          summary: "Gets a file",
          parameters: [PATH],
          responses: {
            200: { description: "It.", content: { "*/*": { schema: { type: "string", format: "binary" } } } },
          },
        },
        put: {
          operationId: "putFile",
          summary: "Stores a file",
          parameters: [PATH],
          requestBody: { content: { "text/plain": { schema: { type: "string" } } } },
          responses: { 201: { description: "Stored." } },
        },
      },
    },
    components: {
      securitySchemes: {
        basic: { type: "http", scheme: "basic" },
        session: { type: "apiKey", in: "header", name: "Authorization" },
        cookie: { type: "apiKey", in: "cookie", name: "SVC_HTTP_SESSION" },
      },
    },
  };
}

/** Puts the description in the place of the service's own. */
export async function describeApi(page: Page, basePath = ""): Promise<void> {
  await page.route("**/__svc__/openapi.json", (route) => route.fulfill({ json: toDescription(basePath) }));
}
