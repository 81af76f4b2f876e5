import * as z from "zod";

const seconds = z.number().describe("POSIX seconds.");
const bytes = z.int().min(0);

const uploadSchema = z
  .strictObject({
    url: z.string().describe("The path of the upload's URL."),
    path: z.string().describe("The path of the file to be, as the account sees it."),
    offset: bytes.describe("The number of bytes that are stored."),
    length: bytes.nullable().describe("The number of bytes of the complete file; null if it is not known."),
    created: seconds,
    expires: seconds,
  })
  .readonly();

/** The JSON body of the list of an account's unfinished uploads. */
export const unfinishedUploadsSchema = z.strictObject({ uploads: z.array(uploadSchema).readonly() }).readonly();

/** {@link unfinishedUploadsSchema} */
export type UnfinishedUploads = z.infer<typeof unfinishedUploadsSchema>;
