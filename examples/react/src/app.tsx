import { useState } from "react";
import { FolderPage } from "./folder-page.tsx";
import { LoginPage } from "./login-page.tsx";
import type { Session } from "./session.ts";

/** The session is in the page's memory alone: a reload of the page needs a new login. */
export function App() {
  const [session, setSession] = useState<Session>();
  if (session === undefined) return <LoginPage onLogin={setSession} />;
  return <FolderPage session={session} onLogout={() => setSession(undefined)} />;
}
