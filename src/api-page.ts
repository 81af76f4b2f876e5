export type { ApiPage, ApiPageFile } from "./contracts/api-page.ts";
export { createApiPage } from "./views/create-api-page.ts";
