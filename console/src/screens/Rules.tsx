/** Permissions as sentences: who may do what, of keys and of namespaces. */

import type { ReactNode } from "react";
import { api, read, type Schemas } from "../api/client";
import { T } from "../texts";
import { List, usePages } from "../ui/list";
import { toHref } from "../ui/location";
import { Empty } from "../ui/memory";
import { Name } from "../ui/text";
import { usePrincipals } from "./choices";

type Namespace = Schemas["Namespace"];

export function RulesScreen() {
  const pages = usePages(["namespaces", "rules"], (after) =>
    read(api.GET("/api/v1/memory/namespaces", { params: { query: { after, total: "none", limit: 100 } } })));
  return (
    <>
      <p className="hint">{T.rules.intro} <a href={toHref(["access"])}>{T.rules.check}</a></p>
      <Keys />
      <h2>{T.rules.namespaces}</h2>
      <List pages={pages} items={(page) => page.namespaces} empty={<Empty title={T.rules.none} hint={T.rules.noneHint} command="agent-memory namespaces set policies --default read" />}>
        {(namespaces) => <ul className="memories">{namespaces.map((each) => <li key={each.namespace}><Rule namespace={each} wider={findWider(each, namespaces)} /></li>)}</ul>}
      </List>
    </>
  );
}

function Keys() {
  const principals = usePrincipals();
  if (principals.length === 0) return null;
  return (
    <>
      <h2>{T.rules.keys}</h2>
      <ul className="memories">
        {principals.map(({ id, permissions }) => (
          <li key={id}><p className="said"><Name>{id}</Name> {T.rules.may} {joinWords(permissions.map((each) => T.rules.permissions[each]))}.</p></li>
        ))}
      </ul>
    </>
  );
}

/** The most specific rule of a prefix that a namespace falls under. */
function findWider({ namespace }: Namespace, all: Namespace[]): string | undefined {
  return all.map((each) => each.namespace).filter((rule) => rule.endsWith("*") && rule !== namespace && namespace.startsWith(rule.slice(0, -1)))
    .sort((a, b) => b.length - a.length)[0];
}

function Rule({ namespace: { namespace, permissions }, wider }: { namespace: Namespace; wider: string | undefined }) {
  const link = <a href={toHref(["namespace", namespace])}><Name>{namespace}</Name></a>;
  const others = permissions.default;
  return (
    <>
      {permissions.allow.map(({ agent, access }) => <Sentence key={agent}><Name>{agent}</Name> {T.rules.access[access as keyof typeof T.rules.access]} {link}.</Sentence>)}
      {wider !== undefined ? <Sentence><a href={toHref(["namespace", wider])}><Name>{wider}</Name></a> {T.rules.applies} {link}.</Sentence>
        : <Sentence>{permissions.allow.length > 0 ? T.rules.everyoneElse : T.rules.everyone} {T.rules.access[others as keyof typeof T.rules.access]} {link}.</Sentence>}
    </>
  );
}

function Sentence({ children }: { children: ReactNode }) {
  return <p className="said">{children}</p>;
}

/** Join words as a sentence does: a, b, and c. */
function joinWords(words: string[]): string {
  return new Intl.ListFormat("en").format(words);
}
