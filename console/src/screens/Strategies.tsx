/** The strategies that learn from conversations, and their progress. */

import { useQuery } from "@tanstack/react-query";
import { api, read, type Schemas } from "../api/client";
import { T } from "../texts";
import { Loaded } from "../ui/data";
import { cut, Empty } from "../ui/memory";
import { Name, Time } from "../ui/text";

const COMMAND = "curl -X PUT …/api/v1/strategies/preferences -d '{\"kind\": \"preferences\"}'";

export function StrategiesScreen() {
  const query = useQuery({ queryKey: ["strategies"], queryFn: () => read(api.GET("/api/v1/strategies")) });
  return (
    <>
      <p className="hint">{T.strategies.intro}</p>
      <Loaded query={query}>
        {({ strategies }) => strategies.length === 0 ? <Empty title={T.strategies.none} hint={T.strategies.noneHint} command={COMMAND} />
          : <ul className="memories">{strategies.map((each) => <li key={each.name}><StrategyItem strategy={each} /></li>)}</ul>}
      </Loaded>
    </>
  );
}

function StrategyItem({ strategy }: { strategy: Schemas["Strategy"] }) {
  const { name, kind, instructions, namespace, trigger, enabled } = strategy;
  return (
    <>
      <p className="said"><strong><Name>{name}</Name></strong> {T.strategies.kinds[kind]}</p>
      {instructions && <p className="last" dir="auto">“{cut(instructions)}”</p>}
      <p className="quiet">
        {!enabled && <span className="badge">{T.strategies.off}</span>}
        <span>{T.strategies.into} <Name>{namespace}</Name></span>
        {trigger.messages !== null && <span>{T.strategies.after(trigger.messages)}</span>}
        {trigger.idle !== null && <span>{T.strategies.idle(trigger.idle)}</span>}
      </p>
      <StrategyStatus name={name} />
    </>
  );
}

function StrategyStatus({ name }: { name: string }) {
  const query = useQuery({ queryKey: ["strategies", name], queryFn: () => read(api.GET("/api/v1/strategies/{name}/status", { params: { path: { name } } })) });
  return (
    <Loaded query={query}>
      {({ learned, ended, failed, tokens, last_learned_at, last_error }) => (
        <p className="quiet">
          <span>{T.strategies.learned(learned)}</span>
          <span>{T.strategies.ended(ended)}</span>
          {failed > 0 && <span>{T.strategies.failed(failed)}</span>}
          <span>{T.ask.promptSize(tokens)}</span>
          {last_learned_at && <Time>{last_learned_at}</Time>}
          {last_error && <span className="badge warn">{cut(last_error)}</span>}
        </p>
      )}
    </Loaded>
  );
}
