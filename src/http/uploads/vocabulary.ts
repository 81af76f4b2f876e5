/** The version of tus. */
export const TUS_VERSION = "1.0.0";
/** The media type of a part of a file in tus. */
export const TUS_MEDIA_TYPE = "application/offset+octet-stream";
/** The media type of a part of a file in the draft. */
export const DRAFT_MEDIA_TYPE = "application/partial-upload";
