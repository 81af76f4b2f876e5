/** Whether a lock excludes all others, or only exclusive ones (RFC 4918 6.2). */
export type LockScope = "exclusive" | "shared";

/** Whether a lock is for one file or folder, or for everything in a folder, too. */
export type LockDepth = "0" | "infinity";
