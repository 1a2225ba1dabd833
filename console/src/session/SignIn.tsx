import { useMutation } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState } from "react";
import { api, read } from "../api/client";
import { T } from "../texts";
import { Problem } from "../ui/data";
import { hasCookie, resume, signIn, useSession } from "./session";

/** Continues the browser's session, or asks for a key. */
export function SignIn() {
  const [isResuming, setResuming] = useState(hasCookie);
  useEffect(() => {
    if (isResuming) resume(() => read(api.GET("/api/v1/me"))).catch(() => setResuming(false));
  }, [isResuming]);
  return isResuming ? <p role="status">{T.signIn.loading}</p> : <AskForKey />;
}

/** Asks for a key. The field has no name, so that no form could ever send it anywhere. */
function AskForKey() {
  const { notice } = useSession();
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const submit = useMutation({
    mutationFn: async () => {
      const key = (field.current?.value ?? "").trim();
      if (!/^[\x21-\x7e]+$/.test(key)) throw new Error(T.signIn.badKey);
      await signIn(key, () => read(api.GET("/api/v1/me")));
    },
    gcTime: 0,
  });
  return (
    <main className="sign-in">
      <h1>{T.product}</h1>
      <p>{T.signIn.intro}</p>
      {notice && <p role="status" className="notice">{notice}</p>}
      <form onSubmit={(event) => { event.preventDefault(); submit.mutate(); }}>
        <label htmlFor={id}>{T.signIn.key}</label>
        <input id={id} ref={field} type="password" autoComplete="off" spellCheck={false} required autoFocus
          aria-describedby={`${id}-hint`} />
        <small id={`${id}-hint`}>{T.signIn.hint}</small>
        {submit.isError && <Problem error={submit.error} />}
        <button type="submit" className="primary" disabled={submit.isPending}>{T.signIn.submit}</button>
      </form>
    </main>
  );
}
