/** Compares a text with a secret. The time does not reveal how much of the text is right. */
export type SecretComparison = (given: string) => Promise<boolean>;

/** Creates a comparison with one secret. It compares digests of equal length, always to their end. */
export function createSecretComparison(secret: string): SecretComparison {
  let expected: Promise<Uint8Array> | undefined;
  return async (given) => {
    expected ??= digest(secret);
    const [one, other] = await Promise.all([digest(given), expected]);
    let difference = 0;
    for (const [index, byte] of one.entries()) difference |= byte ^ (other[index] ?? 0);
    return difference === 0;
  };
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/** Compares two short texts, such as digests in hexadecimal. The time does not reveal where they differ. */
export function isSameText(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let index = 0; index < one.length; index += 1) difference |= one.charCodeAt(index) ^ other.charCodeAt(index);
  return difference === 0;
}
