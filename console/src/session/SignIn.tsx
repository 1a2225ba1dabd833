import { useMutation } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState } from "react";
import { api, read } from "../api/client";
import { Problem } from "../ui/data";
import { hasCookie, resume, signIn, useSession } from "./session";

/** Continues the browser's session, or asks for a key. */
export function SignIn() {
  const [isResuming, setResuming] = useState(hasCookie);
  useEffect(() => {
    if (isResuming) resume(() => read(api.GET("/api/v1/me"))).catch(() => setResuming(false));
  }, [isResuming]);
  return isResuming ? <p role="status">Loading…</p> : <AskForKey />;
}

/** Asks for a key. The field has no name, so that no form could ever send it anywhere. */
function AskForKey() {
  const { notice } = useSession();
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const submit = useMutation({
    mutationFn: async () => {
      const key = (field.current?.value ?? "").trim();
      if (!/^[\x21-\x7e]+$/.test(key)) throw new Error("A key has visible ASCII characters only.");
      await signIn(key, () => read(api.GET("/api/v1/me")));
    },
    gcTime: 0,
  });
  return (
    <main className="sign-in">
      <h1>Agent Memory</h1>
      <p>See what your agents remember, who changed it, and who may read it.</p>
      {notice && <p role="status" className="notice">{notice}</p>}
      <form onSubmit={(event) => { event.preventDefault(); submit.mutate(); }}>
        <label htmlFor={id}>API key</label>
        <input id={id} ref={field} type="password" autoComplete="off" spellCheck={false} required autoFocus
          aria-describedby={`${id}-hint`} />
        <small id={`${id}-hint`}>
          It stays in this page&rsquo;s memory and is gone when you reload, sign out, or do nothing for 15 minutes.
          Best is a key of your own: a principal of kind <code>user</code> with <code>memory.read</code>.
        </small>
        {submit.isError && <Problem error={submit.error} />}
        <button type="submit" className="primary" disabled={submit.isPending}>Sign in</button>
      </form>
    </main>
  );
}
