import type { ApiPage, ApiPageFile } from "./contracts/api-page.ts";

export type { ApiPage, ApiPageFile };

/**
 * The interactive page of the API, for the option `apiPage`: Swagger UI, served by the service itself. Its files, some 2 MB, are loaded when the page is first asked for.
 */
export function createApiPage(): ApiPage {
  // A runtime keeps the module: the files are made once.
  return { load: async () => (await import("./api-page/viewer.ts")).VIEWER_FILES };
}
