/** React hooks over the client: the members of a folder, and uploads with their progress. */

export type {
  FolderListing,
  FolderState,
  UploadActions,
  UploadItem,
  UploadItemState,
  UploadList,
  UploadListOptions,
  UploadOptions,
} from "./react/types.ts";
export { useFolder } from "./react/use-folder.ts";
export { useUploads } from "./react/use-uploads.ts";
