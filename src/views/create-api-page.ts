import type { ApiPage } from "../contracts/pages/api-page.ts";

/**
 * The interactive page of the API, for the option `apiPage`: Swagger UI, served by the service itself.
 * Its files, about 2 MB, are loaded when the page is first requested.
 */
export function createApiPage(): ApiPage {
  // The runtime caches the module, so the files are made once.
  return { load: async () => (await import("./swagger-ui.ts")).VIEWER_FILES };
}
