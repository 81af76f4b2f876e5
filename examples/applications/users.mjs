/** The users of the examples, with their passwords. An application keeps hashes in its database. */
const passwords = new Map([
  ["alice", "secret"],
  ["bob", "hunter2"],
]);

export function isPassword(username, password) {
  return passwords.has(username) && passwords.get(username) === password;
}
