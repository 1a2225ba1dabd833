import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read, type Schemas } from "../api/client";
import { usePrincipal } from "../session/session";
import { Details, Loaded } from "../ui/data";
import { ChoiceField, readForm, TextField } from "../ui/form";
import { goTo, toHref } from "../ui/location";
import { Name } from "../ui/text";
import { unique, useConversations, useIntentIds, useNamespaceNames, useTaskIds, useWho } from "./choices";

const KINDS = { namespace: "namespace", entry: "entry (its id)", task: "task’s memory", conversation: "conversation" };
const HINTS: Record<string, string> = { entry: "or choose “Who may read it?” on the entry’s screen" };
type Question = { principal: string; kind: string; id: string };

/** Why somebody may, or may not, read and write something. */
export function AccessScreen({ params }: { params: URLSearchParams }) {
  const caller = usePrincipal();
  const kind = params.get("kind") ?? "namespace";
  const id = params.get("id") ?? "";
  const principal = params.get("principal") ?? caller.id;
  const [chosen, setChosen] = useState(kind);
  const who = useWho();
  const names = useNames(chosen, principal);
  return (
    <>
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["access"], readForm(event.currentTarget)));
      }}>
        <TextField label="Who" name="principal" initial={principal} options={who} required />
        <ChoiceField label="What" name="kind" initial={kind} options={KINDS} onChange={setChosen} />
        <TextField label="Its name or id" name="id" initial={id} options={names} required hint={HINTS[chosen]} />
        <div className="actions"><button type="submit" className="primary">Explain</button></div>
      </form>
      <p>About others you may ask as the owner, its coordinator, or with <code>memory.admin</code>.</p>
      {id && <Explanation question={{ principal, kind, id }} />}
      {id && kind === "namespace" && <p><a href={toHref(["namespace", id])}>Who may do what in it</a></p>}
    </>
  );
}

/** The names of a kind of which one may ask; entries are asked about on their own screens. */
function useNames(kind: string, principal: string): string[] {
  const namespaces = useNamespaceNames();
  const conversations = useConversations();
  const [intent] = useIntentIds();
  const tasks = unique([...useTaskIds({ agent: principal }), ...useTaskIds({ intent })]);
  switch (kind) {
    case "namespace": return namespaces;
    case "conversation": return conversations.map((each) => each.session_id);
    case "task": return tasks;
    default: return [];
  }
}

/** Whether somebody may read and write something, and by which rule. */
export function Explanation({ question: { principal, kind, id } }: { question: Question }) {
  const query = useQuery({
    queryKey: ["access", principal, kind, id],
    queryFn: () => read(api.GET("/api/v1/access", { params: { query: { principal, [kind]: id } } })),
    staleTime: 0,
  });
  return (
    <Loaded query={query}>
      {(found) => (
        <Details rows={[
          ["Who", <Name>{found.principal}</Name>],
          ["What", <Name>{found.target}</Name>],
          ["May read", <Decision decision={found.read} />],
          ["May write", <Decision decision={found.write} />],
        ]} />
      )}
    </Loaded>
  );
}

function Decision({ decision: { allowed, rule } }: { decision: Schemas["Access"]["read"] }) {
  return <><strong>{allowed ? "yes" : "no"}</strong>{rule && <>: <Name>{rule}</Name></>}</>;
}
