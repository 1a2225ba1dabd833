import { useState } from "react";
import { can, usePrincipal } from "../session/session";
import { T } from "../texts";
import { useRecall } from "../ui/ask";
import { CopyButton } from "../ui/copy";
import { Loading, Problem } from "../ui/data";
import { Field } from "../ui/form";
import { LongText } from "../ui/text";

const BUDGETS = [500, 1200, 4000];
const FOLLOW_MS = 5_000;
const AUDITED_FOLLOW_MS = 10_000; // each look is a record of the audit log

/** The memory that an agent's next turn would get: the exact text, with its tokens, as memory is now. */
export function NextTurn({ id }: { id: string }) {
  const caller = usePrincipal();
  const [query, setQuery] = useState("");
  const [budget, setBudget] = useState(BUDGETS[1]!);
  const isOwn = caller.id === id;
  const isInspecting = !isOwn && can(caller, "memory.inspect");
  const agent_id = isOwn || isInspecting ? undefined : id;
  const found = useRecall({ query, agent_id, max_tokens: budget }, isInspecting ? AUDITED_FOLLOW_MS : FOLLOW_MS, isInspecting ? id : undefined);
  return (
    <>
      <p>{agent_id === undefined ? T.agents.nextIntro(id) : T.agents.nextPrivate(id)}</p>
      <div className="filters">
        <Field label={T.agents.nextQuestion} isWide>
          {(field) => <input id={field} type="search" autoComplete="off" value={query} onChange={(event) => setQuery(event.target.value)} />}
        </Field>
        <Field label={T.agents.budget}>
          {(field) => (
            <select id={field} value={budget} onChange={(event) => setBudget(Number(event.target.value))}>
              {BUDGETS.map((each) => <option key={each} value={each}>{each.toLocaleString()}</option>)}
            </select>
          )}
        </Field>
      </div>
      {query.trim() === "" && <p className="empty">{T.agents.nextAsk}</p>}
      {found.isError && <Problem error={found.error} />}
      {found.isLoading && <Loading />}
      {query.trim() !== "" && found.data && (
        <>
          <p className="quiet" role="status">
            <meter min={0} max={budget} value={found.data.tokens} aria-label={T.agents.budget} />
            <span>{T.agents.tokens(found.data.tokens, budget)}</span>
            <span>{T.ask.results(found.data.items.length)}</span>
            <CopyButton text={found.data.text} label={T.ask.prompt} />
          </p>
          <LongText label={T.agents.next} text={found.data.text} />
        </>
      )}
    </>
  );
}
