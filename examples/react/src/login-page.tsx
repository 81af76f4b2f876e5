import { FileferryError } from "fileferry/client";
import { type FormEvent, useState } from "react";
import { toMessage } from "./messages.ts";
import { logIn, type Session } from "./session.ts";

export function LoginPage({ onLogin }: { readonly onLogin: (session: Session) => void }) {
  const [error, setError] = useState<FileferryError>();
  const [isBusy, setBusy] = useState(false);

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    try {
      onLogin(await logIn(String(form.get("username")), String(form.get("password"))));
    } catch (cause) {
      if (!(cause instanceof FileferryError)) throw cause;
      setError(cause);
      setBusy(false);
    }
  }

  return (
    <main className="login">
      <h1>Log in</h1>
      <form onSubmit={submit}>
        <label>
          User name
          <input name="username" autoComplete="username" required />
        </label>
        <label>
          Password
          <input name="password" type="password" autoComplete="current-password" required />
        </label>
        {error && (
          <p role="alert" className="failure">
            {toMessage(error)}
          </p>
        )}
        <button type="submit" disabled={isBusy}>
          Log in
        </button>
      </form>
    </main>
  );
}
