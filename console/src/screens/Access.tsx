import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, read, type Schemas } from "../api/client";
import { usePrincipal } from "../session/session";
import { T } from "../texts";
import { Details, Loaded } from "../ui/data";
import { ChoiceField, readForm, TextField } from "../ui/form";
import { goTo, toHref } from "../ui/location";
import { Name } from "../ui/text";
import { unique, useConversations, useIntentIds, useNamespaceNames, useTaskIds, useWho } from "./choices";

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
        <TextField label={T.terms.who} name="principal" initial={principal} options={who} required />
        <ChoiceField label={T.terms.what} name="kind" initial={kind} options={T.access.kinds} onChange={setChosen} />
        <TextField label={T.access.target} name="id" initial={id} options={names} required hint={chosen === "entry" ? T.access.entryHint : undefined} />
        <div className="actions"><button type="submit" className="primary">{T.actions.explain}</button></div>
      </form>
      <p className="hint">{T.access.about}</p>
      {id && <Explanation question={{ principal, kind, id }} />}
      {id && kind === "namespace" && <p><a href={toHref(["namespace", id])}>{T.access.namespaceRules}</a></p>}
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

/** An answer to whether somebody may read and write something, and by which rule. */
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
          [T.terms.who, <Name>{found.principal}</Name>],
          [T.terms.what, <Name>{found.target}</Name>],
          [T.access.mayRead, <Decision decision={found.read} />],
          [T.access.mayWrite, <Decision decision={found.write} />],
        ]} />
      )}
    </Loaded>
  );
}

function Decision({ decision: { allowed, rule } }: { decision: Schemas["AccessExplanation"]["read"] }) {
  return <><strong>{allowed ? T.terms.yes : T.terms.no}</strong>{rule && <>: <Name>{rule}</Name></>}</>;
}
