import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, ifMatch, read } from "../api/client";
import { reload } from "../api/reload";
import { usePrincipal } from "../session/session";
import { Loaded, Table } from "../ui/data";
import { readForm, TextField } from "../ui/form";
import { List, usePages } from "../ui/list";
import { goTo, toHref } from "../ui/location";
import { Name, Time } from "../ui/text";
import { Explanation } from "./Access";
import { useNamespaceNames, useWho } from "./choices";
import { Permissions, type Changed } from "./Permissions";

/** The shared namespaces that the caller may know of, and what others may do in them. */
export function NamespacesScreen() {
  const names = useNamespaceNames();
  return (
    <>
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["namespace", readForm(event.currentTarget).namespace ?? ""]));
      }}>
        <TextField label="Namespace" name="namespace" required options={names} hint="a name that ends with * sets the default for all that begin so" />
        <div className="actions"><button type="submit">Open</button></div>
      </form>
      <NamespaceTable />
    </>
  );
}

export function NamespaceTable() {
  const pages = usePages(["namespaces"], (after) =>
    read(api.GET("/api/v1/memory/namespaces", { params: { query: { after, total: "none", limit: 50 } } })),
  );
  return (
    <List pages={pages} items={(page) => page.namespaces} empty="There is no namespace yet.">
      {(namespaces) => (
        <Table label="All namespaces" head={["Namespace", "Others may", "Exceptions", "Changed", "See also"]}>
          {namespaces.map(({ namespace, permissions, updated_at }) => (
            <tr key={namespace}>
              <th scope="row"><a href={toHref(["namespace", namespace])}><Name>{namespace}</Name></a></th>
              <td>{permissions.default}</td>
              <td className="number">{permissions.allow.length}</td>
              <td><Time>{updated_at}</Time></td>
              <td>
                <a href={toHref(["memory"], { namespace, memory_type: "semantic" })}>Entries</a>{" "}
                <a href={toHref(["timeline"], { log: "namespace", name: namespace })}>Timeline</a>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </List>
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
        <a href={toHref(["memory"], { namespace: id, memory_type: "semantic" })}>Entries</a>
        <a href={toHref(["timeline"], { log: "namespace", name: id })}>Timeline</a>
      </p>
      <h2>Who may do what</h2>
      <Loaded query={query}>{(found) => (
        <Permissions key={found.version} name={id} shared={found} change={(permissions) => change(found.version, permissions)} />
      )}</Loaded>
      <h2>Why may somebody read this?</h2>
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["namespace", id], readForm(event.currentTarget)));
      }}>
        <TextField label="Who" name="principal" initial={who} options={offered} required />
        <div className="actions"><button type="submit">Explain</button></div>
      </form>
      <Explanation question={{ principal: who, kind: "namespace", id }} />
    </>
  );
}
