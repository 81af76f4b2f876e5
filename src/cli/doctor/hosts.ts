/** The hosts of URLs in a text. Any other part of a URL may be a secret. */
export function hostsOf(text: string): string {
  const urls = text.split(/[\s,]+/).filter((url) => URL.canParse(url));
  return urls.map((url) => new URL(url).host).join(", ");
}
