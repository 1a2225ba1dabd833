import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, ifMatch, read, type Schemas } from "../api/client";
import { reload } from "../api/reload";
import { usePrincipal } from "../session/session";
import { T } from "../texts";
import { Loaded } from "../ui/data";
import { FilterBar } from "../ui/filters";
import { readForm, TextField } from "../ui/form";
import { List, usePages } from "../ui/list";
import { goTo, toHref } from "../ui/location";
import { Empty } from "../ui/memory";
import { Name, Time } from "../ui/text";
import { Explanation } from "./Access";
import { useNamespaceNames, useWho } from "./choices";
import { Permissions, type Changed } from "./Permissions";

/** The shared namespaces that the caller may know of, and what others may do in them. */
export function NamespacesScreen({ params }: { params: URLSearchParams }) {
  const names = useNamespaceNames();
  return (
    <>
      <FilterBar path={["namespaces"]} params={params} filters={{ open: { param: "", open: (name) => toHref(["namespace", name]), options: names } }} />
      <p className="hint">{T.namespaces.hint}</p>
      <NamespaceTree />
    </>
  );
}

type Namespace = Schemas["Namespace"];
type Node = { name: string; own?: Namespace; parts: Map<string, Node> };

/** Group namespaces by the parts of their names. */
function growTree(namespaces: Namespace[]): Node {
  const root: Node = { name: "", parts: new Map() };
  for (const each of namespaces) {
    let at = root;
    for (const part of each.namespace.split(/(?<=[/.])/)) {
      const next = at.parts.get(part) ?? { name: part, parts: new Map() };
      at.parts.set(part, next);
      at = next;
    }
    at.own = each;
  }
  return root;
}

function NamespaceTree() {
  const pages = usePages(["namespaces"], (after) =>
    read(api.GET("/api/v1/memory/namespaces", { params: { query: { after, total: "none", limit: 100 } } })),
  );
  return (
    <List pages={pages} items={(page) => page.namespaces} empty={<Empty title={T.namespaces.none} hint={T.namespaces.noneHint} command="agent-memory namespaces set policies --default read" />}>
      {(namespaces) => <Branches of={growTree(namespaces)} />}
    </List>
  );
}

function Branches({ of }: { of: Node }) {
  return <ul className="tree">{[...of.parts.values()].map((each) => <li key={each.name}><Branch node={each} /></li>)}</ul>;
}

function Branch({ node }: { node: Node }) {
  const { name, own, parts } = node;
  const leaf = own ? <Leaf name={name} own={own} /> : <Name>{name}</Name>;
  if (parts.size === 0) return leaf;
  return <details open><summary>{leaf}</summary><Branches of={node} /></details>;
}

function Leaf({ name, own: { namespace, permissions, updated_at } }: { name: string; own: Namespace }) {
  return (
    <span className="quiet">
      <a href={toHref(["namespace", namespace])}><Name>{name}</Name></a>
      <span>{T.namespaces.others(permissions.default)}</span>
      <a href={toHref(["memory"], { namespace, memory_type: "semantic" })}>{T.namespaces.memories}</a>
      <a href={toHref(["timeline"], { log: "namespace", name: namespace })}>{T.namespaces.activity}</a>
      <Time>{updated_at}</Time>
    </span>
  );
}

/** One namespace: who may do what, and why. */
export function NamespaceScreen({ id, params }: { id: string; params: URLSearchParams }) {
  const client = useQueryClient();
  const caller = usePrincipal();
  const offered = useWho();
  const who = params.get("principal") ?? caller.id;
  const query = useQuery({
    queryKey: ["namespace", id],
    queryFn: () => read(api.GET("/api/v1/memory/namespaces/{namespace}", { params: { path: { namespace: id } } })),
  });
  const change = async (version: number, permissions: Changed) => {
    await api.PATCH("/api/v1/memory/namespaces/{namespace}", {
      params: { path: { namespace: id }, header: ifMatch(version) },
      body: { permissions },
    });
    await reload(client, "namespace", "namespaces", "access");
  };
  return (
    <>
      <p className="actions">
        <Name>{id}</Name>
        <a href={toHref(["memory"], { namespace: id, memory_type: "semantic" })}>{T.namespaces.memories}</a>
        <a href={toHref(["timeline"], { log: "namespace", name: id })}>{T.namespaces.activity}</a>
      </p>
      <h2>{T.namespaces.permissions}</h2>
      <Loaded query={query}>{(found) => (
        <Permissions key={found.version} name={id} shared={found} change={(permissions) => change(found.version, permissions)} />
      )}</Loaded>
      <h2>{T.namespaces.why}</h2>
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["namespace", id], readForm(event.currentTarget)));
      }}>
        <TextField label={T.terms.who} name="principal" initial={who} options={offered} required />
        <div className="actions"><button type="submit">{T.actions.explain}</button></div>
      </form>
      <Explanation question={{ principal: who, kind: "namespace", id }} />
    </>
  );
}
