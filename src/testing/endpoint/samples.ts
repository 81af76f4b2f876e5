import type { CredentialType } from "../../contracts/authenticator.ts";
import type { Peer } from "../../contracts/connection.ts";

/** A password that no test account has. */
export const WRONG_PASSWORD = "not-the-password-7f";

/**
 * A valid key and a valid certificate that no account has. Their private keys were thrown away, and no example uses
 * them.
 */
export const SAMPLES: Readonly<Record<CredentialType, string>> = {
  password: WRONG_PASSWORD,
  "ssh-key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJFAB9P1EWj6t0eyFNlPgV9uzLcL9ZssNHxtyeotGH+x",
  "ssl-certificate": `-----BEGIN CERTIFICATE-----
MIIBizCCATGgAwIBAgIURYtdMdawbr16mPTECLnJlyzh4gswCgYIKoZIzj0EAwIw
GjEYMBYGA1UEAwwPZmlsZWZlcnJ5LWNoZWNrMCAXDTI2MTEyMTE2MDI1M1oYDzIx
MjYxMDI4MTYwMjUzWjAaMRgwFgYDVQQDDA9maWxlZmVycnktY2hlY2swWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAATJujLoJ3d2lS3u73jT8uI1rW9o3qlfWkWboOET
pCPVYVlkkKb1fN2cvCIhcG1zH4xEteWmh0cdtzTYxs1QJdK8o1MwUTAdBgNVHQ4E
FgQUsIwog236w/ZUevA3vVKcG8yQJN0wHwYDVR0jBBgwFoAUsIwog236w/ZUevA3
vVKcG8yQJN0wDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiB6BWYE
Ts3FSVPpmSS68WG/sQ81//Vt0p+neHTk/2j3UwIhAO/lGnJKjds9KBs4gsI5FWhB
ejbKKs7DueUVkwe83mRX
-----END CERTIFICATE-----
`,
};

const IPV4_NETWORKS = ["192.0.2", "198.51.100", "203.0.113"];

/**
 * Returns a random client address of a documentation network (RFC 5737, RFC 3849). It usually differs from earlier
 * ones, because an endpoint may temporarily reject a client after many failed logins, and the checks may soon run
 * again.
 */
export function makeUpPeer(family: "IPv4" | "IPv6" = "IPv4"): Peer {
  const [network = 0, host = 0, part = 0, port = 0] = crypto.getRandomValues(new Uint16Array(4));
  const ipv4 = `${IPV4_NETWORKS[network % IPV4_NETWORKS.length]}.${1 + (host % 254)}`;
  const ipv6 = `2001:db8:${network.toString(16)}:${host.toString(16)}::${(1 + (part % 254)).toString(16)}`;
  return { address: family === "IPv4" ? ipv4 : ipv6, port: 49_152 + (port % 16_384), family, protocol: "TCP" };
}
