import mime from "mime";

/** Types that are compressed as they are, and some of those that look like it. */
const COMPRESSED =
  /^(?:image\/(?!svg|bmp|x-ms-bmp|tiff)|video\/|audio\/(?!wav|x-wav|x-aiff|midi)|font\/woff|application\/(?:zip|gzip|x-7z|x-rar|vnd\.rar|x-bzip|x-xz|zstd|java-archive|epub|pdf|vnd\.openxmlformats|vnd\.oasis|vnd\.android\.package|x-apple-diskimage))/;

/** Whether the content of a file is worth compressing, by its name: images, video and archives are compressed already. */
export function isCompressible(name: string): boolean {
  return !COMPRESSED.test(mime.getType(name) ?? "");
}
