/**
 * The texts that the script of the folder page shows, in one language. The page passes them to the script as JSON.
 * `{name}` in a text stands for a value.
 */
export interface ScriptTexts {
  /** Heading of the uploads: `Uploads`. */
  readonly uploads: string;
  /** Below the file field: `Or drop files and folders anywhere on this page.` */
  readonly dropHint: string;
  /** The button that uploads files: `Choose files`. */
  readonly chooseFiles: string;
  /** The button after it, which uploads a whole folder: `Choose a folder`. */
  readonly chooseFolder: string;
  /** If files are chosen first, on a page that asks for the sender: `Enter your name, then the files are sent.` */
  readonly senderMissing: string;
  /** While the script reads a dropped folder: `Reading: {count} files so far`. */
  readonly reading: string;
  /** The progress of all uploads: `{done} of {count} uploaded`. */
  readonly uploaded: string;
  /** The same in one line: `{done} of {count} · {percent} %` */
  readonly progress: string;
  /** For screen readers, now and then: `{percent} % uploaded` */
  readonly reached: string;
  /** `{count} failed` */
  readonly failedCount: string;
  /** The speed and the remaining time, such as `2.3 MB/s` and `2 min`: `{speed}, {time} left`. */
  readonly speed: string;
  /** The number of entries that are not shown: `And {count} more`. */
  readonly more: string;
  readonly waiting: string;
  readonly done: string;
  readonly cancelled: string;
  readonly skipped: string;
  /** `A file with this name already exists.` */
  readonly exists: string;
  readonly cancel: string;
  readonly cancelAll: string;
  readonly retry: string;
  readonly retryAll: string;
  readonly replace: string;
  /** The second answer if a file with this name exists: `Keep both` */
  readonly keepBoth: string;
  readonly skip: string;
  /** A box next to the answers: `Do this for all` */
  readonly forAll: string;
  readonly close: string;
  /** `The network connection was lost.` */
  readonly networkLost: string;
  /** For a dropped file or folder: `The file or folder cannot be read on this device.` */
  readonly unreadable: string;
  /** After the percentage of an upload that is tried again by itself: `Interrupted, trying again` */
  readonly tryingAgain: string;
  /** After the percentage of an upload that goes on: `resumed at {percent} %` */
  readonly resumed: string;
  /** Heading of the uploads that broke off earlier: `Unfinished uploads` */
  readonly unfinished: string;
  /** `Choose the file again` */
  readonly chooseAgain: string;
  /** If that file is another one: `This is another file than the one of the unfinished upload, or it has changed.` */
  readonly otherFile: string;
  /** Ends an unfinished upload: `Discard` */
  readonly discard: string;
  /** `The upload was interrupted.` */
  readonly interrupted: string;
  /** `Your session has ended.` */
  readonly sessionEnded: string;
  /** The link after it, which opens another tab: `Log in again in a new tab, then retry`. */
  readonly logInAgain: string;
  /** For a refusal without a reason: `The server rejected the request (status {status}).` */
  readonly refused: string;
  /** If a folder of an upload could not be created: `The folder {name} could not be created: {message}` */
  readonly folderFailed: string;
  /** For screen readers, when uploads start: `Uploading files: {count}` */
  readonly started: string;
  /** For screen readers, when an upload has failed: `{name}: {message}` */
  readonly failed: string;
  /** For screen readers, when all uploads have ended: `Uploads finished: {done} of {count} uploaded.` */
  readonly ended: string;
  /** In the bar of actions, before the size of the files: `{count} selected` */
  readonly selected: string;
  /** `Clear selection` */
  readonly clearSelection: string;
  /** For screen readers, while the user filters: `{shown} of {count} items match.` */
  readonly matches: string;
  /** A link while the user filters: `Search for it in the folders below` */
  readonly searchBelow: string;
  /** In place of the rows: `No item has this text in its name.` */
  readonly noMatch: string;
  /** The question for one member: `Delete {name}?` */
  readonly deleteOne: string;
  /** The question for several members: `Delete {count} items?` */
  readonly deleteMany: string;
  /** `Folders are deleted with everything in them. This cannot be undone.` */
  readonly deleteHint: string;
  readonly delete: string;
  /** For screen readers: `Deleted: {count}` */
  readonly deleted: string;
  /** The field of the dialog that renames a member: `New name of {name}` */
  readonly newName: string;
  readonly rename: string;
  /** For screen readers: `Renamed: {name}` */
  readonly renamed: string;
  /** `Download as ZIP` */
  readonly downloadZip: string;
  /** In the menu of a row: `Open` */
  readonly open: string;
  /** `Download` */
  readonly download: string;
  /** It asks for the folder: `Move…` */
  readonly moveItem: string;
  /** `Copy…` */
  readonly copyItem: string;
  /** `Properties` */
  readonly properties: string;
  /** `Delete for good` */
  readonly purge: string;
  /** After a deletion, if there is a trash: `Restore` */
  readonly restore: string;
  /** `Restored: {count}` */
  readonly restored: string;
  /** The labels of the properties: `Kind` */
  readonly kind: string;
  /** `Size` */
  readonly size: string;
  /** `Modified` */
  readonly modified: string;
  /** `Folder` */
  readonly folder: string;
  /** `File` */
  readonly file: string;
  /** The heading of the dialog that chooses a folder: `Move {name}` */
  readonly moveTo: string;
  /** `Copy {name}` */
  readonly copyTo: string;
  /** In place of the name, if there are several: `{count} items` */
  readonly itemCount: string;
  /** The field for the path: `To folder` */
  readonly destination: string;
  /** The list of folders: `Folders` */
  readonly folders: string;
  /** `Up` */
  readonly up: string;
  /** `There are no folders in it.` */
  readonly noFolders: string;
  /** `This folder cannot be shown.` */
  readonly noFolder: string;
  /** `Move` */
  readonly move: string;
  /** `Copy` */
  readonly copy: string;
  /** `Moved: {count}` */
  readonly moved: string;
  /** `Copied: {count}` */
  readonly copied: string;
  /** While files hover over the page: `Drop to upload to {name}` */
  readonly dropTo: string;
  /** The heading of the list of keys: `Keyboard shortcuts` */
  readonly shortcuts: string;
  /** In the viewer of files, where it is among those that can be shown: `{position} of {count}` */
  readonly position: string;
  /** The file before: `Previous` */
  readonly previous: string;
  /** `Next` */
  readonly next: string;
  /** `Zoom in` */
  readonly zoomIn: string;
  /** `Zoom out` */
  readonly zoomOut: string;
  /** A button that shows an image as large as the window: `Fit` */
  readonly fit: string;
  /** What it does: `Fit to the window` */
  readonly fitHint: string;
  /** A button that shows an image as large as it is: `Actual size` */
  readonly actualSize: string;
  /** `This file cannot be shown here. You can download it.` */
  readonly cannotShow: string;
  /** `This file is empty.` */
  readonly emptyFile: string;
  /** After the beginning of a text: `Only the first {size} are shown.` */
  readonly firstPart: string;
  /** For a PDF: `Open in a new tab` */
  readonly openInTab: string;
  /** `Go to another item` */
  readonly keyMove: string;
  /** `Open a folder or a file` */
  readonly keyOpen: string;
  /** The name of a key: `Space` */
  readonly keySpace: string;
  /** `Select or deselect` */
  readonly keySelect: string;
  /** `Select all` */
  readonly keySelectAll: string;
  /** `Filter` */
  readonly keyFilter: string;
  /** The number of members that a trigger has run on; `{label}` is the text of its button: `{label}: {count} done` */
  readonly triggered: string;
  /** Next to the button for a ZIP archive: `The names of these items are too long for one archive. Select fewer.` */
  readonly namesTooLong: string;
  /** Next to the button for a ZIP archive, if there are too many members: `Select at most {count} items at a time.` */
  readonly tooMany: string;
  /** For screen readers: `The folder {name} was created.` */
  readonly folderCreated: string;
}
