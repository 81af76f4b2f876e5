export type { ApiPage, ApiPageFile } from "./contracts/pages/api-page.ts";
export { createApiPage } from "./views/create-api-page.ts";
