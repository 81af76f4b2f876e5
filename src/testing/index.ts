export { type AuthenticatorCase, type AuthenticatorCaseContext, authenticatorCases } from "./authenticator-cases.ts";
export { type EndpointCase, type EndpointCaseContext, type EndpointCaseNeed, isPlayable } from "./endpoint-case.ts";
export { endpointCases } from "./endpoint-cases.ts";
export type { LinkTarget, StorageCase, StorageCaseContext } from "./storage-case.ts";
export { storageCases } from "./storage-cases.ts";
export { type StoreCase, type StoreCaseContext, storeCases } from "./store-cases.ts";
