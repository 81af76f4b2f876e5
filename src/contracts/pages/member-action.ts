/** An action that rules may deny on some members of a folder. Their rows name it in `data-denied`. */
export type MemberAction = "download" | "move" | "copy" | "delete" | "share";
