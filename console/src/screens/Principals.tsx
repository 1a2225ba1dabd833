import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, read, type Schemas } from "../api/client";
import { reload } from "../api/reload";
import { usePrincipal } from "../session/session";
import { T, toWord, toWords } from "../texts";
import { Problem, Table } from "../ui/data";
import { ChoiceField, ConfirmDialog, readForm, TextField } from "../ui/form";
import { List, usePages } from "../ui/list";
import { Name, Sentence, Time } from "../ui/text";

const KINDS = toWords("agent", "coordinator", "user");
type Principal = Schemas["Principal"];
type NewKey = Schemas["NewPrincipal"];
type Act = { kind: "rotate" | "revoke"; id: string };

/** Principals and their keys: create, rotate, revoke. A new key is shown once. */
export function PrincipalsScreen() {
  const client = useQueryClient();
  const [created, setCreated] = useState<NewKey>();
  const [act, setAct] = useState<Act>();
  const show = (made?: NewKey) => {
    setCreated(made);
    void reload(client, "principals");
  };
  const pages = usePages(["principals", "pages"], (after) =>
    read(api.GET("/api/v1/principals", { params: { query: { after, total: "none", limit: 100 } } })),
  );
  return (
    <>
      <NewPrincipalForm onCreated={show} />
      {created && <ShownKey created={created} onClose={() => setCreated(undefined)} />}
      <List pages={pages} items={(page) => page.principals} empty={T.principals.none}>
        {(principals) => <PrincipalTable principals={principals} onAct={setAct} />}
      </List>
      {act && <ActDialog act={act} onClose={() => setAct(undefined)} onDone={show} />}
    </>
  );
}

function NewPrincipalForm({ onCreated }: { onCreated: (made: NewKey) => void }) {
  const create = useMutation({
    mutationFn: (form: Record<string, string>) => read(api.POST("/api/v1/principals", {
      body: {
        id: form.id ?? "",
        kind: form.kind as Principal["kind"],
        permissions: (form.permissions ?? "").split(" ") as Principal["permissions"],
        expires_at: form.expires ? new Date(form.expires).toISOString() : undefined,
      },
    })),
    onSuccess: onCreated,
    gcTime: 0,
  });
  return (
    <form className="filters" onSubmit={(event) => {
      event.preventDefault();
      create.mutate(readForm(event.currentTarget));
    }}>
      <TextField label={T.principals.id} name="id" required />
      <ChoiceField label={T.terms.kind} name="kind" options={KINDS} />
      <ChoiceField label={T.principals.mayDo} name="permissions" options={T.principals.permissions} />
      <TextField label={T.principals.until} name="expires" hint={T.principals.untilHint} />
      <div className="actions"><button type="submit" className="primary" disabled={create.isPending}>{T.principals.create}</button></div>
      {create.isError && <Problem error={create.error} />}
    </form>
  );
}

function ShownKey({ created, onClose }: { created: NewKey; onClose: () => void }) {
  return (
    <div className="notice" role="status">
      <p><Sentence text={T.principals.shown} of={{ id: <Name>{created.id}</Name> }} /></p>
      <pre tabIndex={0} aria-label={T.principals.newKey} role="region">{created.api_key}</pre>
      <div className="actions"><button type="button" onClick={onClose}>{T.principals.kept}</button></div>
    </div>
  );
}

function PrincipalTable({ principals, onAct }: { principals: Principal[]; onAct: (act: Act) => void }) {
  const caller = usePrincipal();
  return (
    <Table label={T.principals.title} head={[T.terms.id, T.terms.kind, T.terms.may, T.terms.agentType, T.terms.since, T.terms.until, T.principals.change]}>
      {principals.map(({ id, kind, permissions, agent_type, created_at, expires_at }) => (
        <tr key={id}>
          <th scope="row"><Name>{id}</Name></th>
          <td>{toWord(kind)}</td>
          <td>{permissions.map((each) => toWord(each.replace("memory.", ""))).join(", ")}</td>
          <td>{agent_type ? <Name>{agent_type}</Name> : "–"}</td>
          <td><Time>{created_at}</Time></td>
          <td><Time>{expires_at}</Time></td>
          <td>
            {id === caller.id ? T.terms.you : (
              <span className="actions">
                <button type="button" aria-label={T.principals.rotateOf(id)} onClick={() => onAct({ kind: "rotate", id })}>{T.principals.rotate}</button>
                <button type="button" className="danger" aria-label={T.principals.revokeOf(id)} onClick={() => onAct({ kind: "revoke", id })}>{T.principals.revoke}</button>
              </span>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function ActDialog({ act: { kind, id }, onClose, onDone }: { act: Act; onClose: () => void; onDone: (made?: NewKey) => void }) {
  const params = { path: { id } };
  if (kind === "rotate") return (
    <ConfirmDialog title={T.principals.rotateTitle} action={T.principals.rotateNow} onClose={onClose}
      onConfirm={async () => onDone(await read(api.POST("/api/v1/principals/{id}/rotate", { params })))}>
      <p><Sentence text={T.principals.rotateWarning} of={{ id: <Name>{id}</Name> }} /></p>
    </ConfirmDialog>
  );
  return (
    <ConfirmDialog title={T.principals.revokeTitle} action={T.principals.revokeNow} onClose={onClose}
      onConfirm={async () => { await api.DELETE("/api/v1/principals/{id}", { params }); onDone(); }}>
      <p><Sentence text={T.principals.revokeWarning} of={{ id: <Name>{id}</Name> }} /></p>
    </ConfirmDialog>
  );
}
