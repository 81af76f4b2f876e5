/*
 * All commands but `serve`, which are loaded together. A module that is loaded on its own divides the bundle into more
 * chunks, and 24 more of them made `serve` start 40 ms later (docs/decisions/0040-one-bundle.md).
 */
export { runAccountCommand } from "./account.ts";
export { checkConfiguration } from "./check.ts";
export { checkAuthEndpoint } from "./check-auth-endpoint.ts";
export { writeCompletion } from "./completion.ts";
export { runDoctor } from "./doctor.ts";
export { explain } from "./explain.ts";
export { hashPassword } from "./hash-password.ts";
export { createKey, printKeys, removeKey } from "./key.ts";
export { createLink, printLinks, revokeLink } from "./link.ts";
export { printQuota } from "./quota.ts";
export { runSweep } from "./sweep.ts";
export { runTrashCommand } from "./trash.ts";
export { unlock } from "./unlock.ts";
