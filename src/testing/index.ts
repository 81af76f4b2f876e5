export { type AuthenticatorCase, type AuthenticatorCaseContext, authenticatorCases } from "./authenticator-cases.ts";
export { type StoreCase, type StoreCaseContext, storeCases } from "./store-cases.ts";
