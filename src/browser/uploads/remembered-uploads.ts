/** An unfinished upload that the browser remembers: what identifies it, and where it goes on. Never any content. */
export interface RememberedUpload extends UploadIdentity {
  /** The URL of the upload, or those of its parts. */
  readonly urls: readonly string[];
  /** When the service forgets it, in milliseconds. */
  readonly expires: number;
  /** Whether the upload may replace an existing file: the user was asked at its start. */
  readonly mayReplace: boolean;
}

/** What a file must have to be that of an upload. */
export interface UploadIdentity {
  readonly account: string;
  /** The decoded path of the folder's URL. */
  readonly folder: string;
  readonly name: string;
  readonly size: number;
  /** When the file was last modified on this device, in milliseconds. */
  readonly modified: number;
}

/** The unfinished uploads that a browser remembers, after a reload too. */
export interface RememberedUploads {
  /** The uploads of an account to a folder. */
  list(account: string, folder: string): RememberedUpload[];
  find(identity: UploadIdentity): RememberedUpload | undefined;
  /** Remembers an upload in place of others with its name. Returns those. */
  save(upload: RememberedUpload): RememberedUpload[];
  /** Forgets the uploads with these URLs. */
  forget(urls: readonly string[]): void;
  clear(): void;
}

const KEY = "fileferry-uploads";
const MAX_UPLOADS = 100;
/** Other scripts of the origin can write to the storage as well, so only paths of uploads are taken from it. */
const URL_PATH = /^(?:\.|\/(?!\/)\S*)\/__svc__\/uploads\/[\da-f]{32}$/;
/** What paths below a link begin with in the storage. */
const BELOW_LINK = "./";

/**
 * `storage` is `undefined` where the browser has none: then nothing is remembered. `linkRoot`: the path of the URL of
 * the link that the page is below. It is a secret and is not stored: paths are kept as they are below it.
 */
export function createRememberedUploads(
  storage: Storage | undefined,
  now = Date.now,
  linkRoot?: string,
): RememberedUploads {
  /** Uploads by other links get the root of this one, too, but they are of other accounts. */
  function read(): RememberedUpload[] {
    try {
      const uploads: unknown = JSON.parse(storage?.getItem(KEY) ?? "[]");
      if (!Array.isArray(uploads)) return [];
      return uploads
        .filter(isRemembered)
        .filter(({ expires }) => expires > now())
        .map((upload) => withRoot(upload, false));
    } catch {
      return [];
    }
  }

  function write(uploads: readonly RememberedUpload[]): void {
    try {
      if (uploads.length === 0) storage?.removeItem(KEY);
      else storage?.setItem(KEY, JSON.stringify(uploads.slice(-MAX_UPLOADS).map((upload) => withRoot(upload, true))));
    } catch {
      // The storage is full or blocked: the upload works without being remembered.
    }
  }

  /** Replaces the root of the link in URLs and the folder when they are stored, and puts it back when they are read. */
  function withRoot(upload: RememberedUpload, isStored: boolean): RememberedUpload {
    if (linkRoot === undefined) return upload;
    const toText = (text: string, root: string): string =>
      isStored ? replaceBegin(text, root, BELOW_LINK) : replaceBegin(text, BELOW_LINK, root);
    return {
      ...upload,
      folder: toText(upload.folder, decodeURIComponent(linkRoot)),
      urls: upload.urls.map((url) => toText(url, linkRoot)),
    };
  }

  const isOf = (upload: UploadIdentity, account: string, folder: string): boolean =>
    upload.account === account && upload.folder === folder;

  return {
    list: (account, folder) => read().filter((upload) => isOf(upload, account, folder)),
    find: ({ account, folder, name, size, modified }) =>
      read().find(
        (upload) =>
          isOf(upload, account, folder) && upload.name === name && upload.size === size && upload.modified === modified,
      ),
    save(upload) {
      const { account, folder, name, urls } = upload;
      const [others, replaced]: [RememberedUpload[], RememberedUpload[]] = [[], []];
      for (const one of read()) (isOf(one, account, folder) && one.name === name ? replaced : others).push(one);
      write([...others, upload]);
      return replaced.filter((one) => !one.urls.some((url) => urls.includes(url)));
    },
    forget: (urls) => write(read().filter((upload) => !upload.urls.some((url) => urls.includes(url)))),
    clear: () => write([]),
  };
}

function replaceBegin(text: string, begin: string, other: string): string {
  return text.startsWith(begin) ? other + text.slice(begin.length) : text;
}

/** The storage of the browser. Reading it throws if it is blocked. */
export function findStorage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

function isRemembered(value: unknown): value is RememberedUpload {
  const { account, folder, name, size, modified, urls, expires, mayReplace } = Object(value) as Record<string, unknown>;
  const isText = [account, folder, name].every((one) => typeof one === "string");
  const isNumber = [size, modified, expires].every((one) => typeof one === "number");
  const hasUrls = Array.isArray(urls) && urls.length > 0 && urls.every((url) => URL_PATH.test(String(url)));
  return isText && isNumber && hasUrls && typeof mayReplace === "boolean";
}
