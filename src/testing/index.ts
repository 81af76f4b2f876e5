export { type AuthenticatorCase, type AuthenticatorCaseContext, authenticatorCases } from "./authenticator-cases.ts";
export { type EndpointCase, type EndpointCaseContext, type EndpointCaseNeed, isPlayable } from "./endpoint/case.ts";
export { endpointCases } from "./endpoint-cases.ts";
export type { DecideFault, StorageFault, StorageStep, StorageVerb } from "./faulty-storage/faults.ts";
export { createFaultyStorage } from "./faulty-storage.ts";
export type { LinkTarget, StorageCase, StorageCaseContext } from "./storage/case.ts";
export { storageCases } from "./storage-cases.ts";
export { type StoreCase, type StoreCaseContext, storeCases } from "./store-cases.ts";
