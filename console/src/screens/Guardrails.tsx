import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { api, ifMatch, read, type Schemas } from "../api/client";
import { renderValue } from "../api/json";
import { reload } from "../api/reload";
import { can, usePrincipal } from "../session/session";
import { T } from "../texts";
import { Details, Loaded } from "../ui/data";
import { ChoiceField, ConfirmDialog, Field, readForm, TextField } from "../ui/form";
import { goTo, toHref } from "../ui/location";
import { LongText, Name, Sentence, Tags, Time } from "../ui/text";
import { usePrincipals } from "./choices";

const { limits: LIMITS, namespaces: NAMESPACES, archiving: ARCHIVE } = T.guardrails;
const OWN = [...Object.keys(LIMITS), ...Object.keys(NAMESPACES), "memory_archive_required"];
type Stored = Schemas["CoordinatorGuardrails"];
type Change = { name: string; label: string; from: unknown; to: unknown };

/** The limits of a coordinator, its tasks and their agents. */
export function GuardrailsScreen({ params }: { params: URLSearchParams }) {
  const caller = usePrincipal();
  const id = params.get("coordinator_id") ?? (caller.kind === "coordinator" ? caller.id : "");
  const coordinators = usePrincipals().filter(({ kind }) => kind === "coordinator").map((each) => each.id);
  return (
    <>
      <p className="hint">{T.guardrails.intro}</p>
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["guardrails"], readForm(event.currentTarget)));
      }}>
        <TextField label={T.terms.coordinator} name="coordinator_id" initial={id} options={coordinators} required />
        <div className="actions"><button type="submit" className="primary">{T.guardrails.show}</button></div>
      </form>
      {coordinators.length > 0 && (
        <p className="actions">
          {coordinators.map((each) => <a key={each} href={toHref(["guardrails"], { coordinator_id: each })}><Name>{each}</Name></a>)}
        </p>
      )}
      {id && <CoordinatorGuardrails id={id} />}
    </>
  );
}

function CoordinatorGuardrails({ id }: { id: string }) {
  const isAdmin = can(usePrincipal(), "memory.admin");
  const query = useQuery({
    queryKey: ["guardrails", id],
    queryFn: () => read(api.GET("/api/v1/coordinators/{coordinator_id}/guardrails", { params: { path: { coordinator_id: id } } })),
  });
  return (
    <Loaded query={query}>
      {(found) => (
        <>
          <h2><Sentence text={T.guardrails.of} of={{ id: <Name>{id}</Name> }} /></h2>
          <GuardrailDetails found={found} />
          {isAdmin ? <GuardrailsForm key={found.version} id={id} found={found} />
            : <p>{T.guardrails.needsAdmin}</p>}
        </>
      )}
    </Loaded>
  );
}

function GuardrailDetails({ found: { guardrails, version, updated_at } }: { found: Stored }) {
  const others = Object.entries(guardrails).filter(([name]) => !OWN.includes(name));
  return (
    <>
      <Details rows={[
        ...Object.entries(LIMITS).map(([name, label]) => [label, guardrails[name as keyof typeof LIMITS]?.toLocaleString() ?? T.terms.noLimit] as [string, string]),
        ...Object.entries(NAMESPACES).map(([name, label]) => {
          const listed = guardrails[name as keyof typeof NAMESPACES];
          return [label, listed?.length ? <Tags tags={listed} /> : name.startsWith("allowed") && !listed ? T.terms.all : T.terms.none] as [string, ReactNode];
        }),
        [T.guardrails.archive, ARCHIVE[String(guardrails.memory_archive_required ?? "") as keyof typeof ARCHIVE]],
        [T.terms.changed, version === 0 ? T.guardrails.noneSet : <Sentence text={T.terms.versionAt} of={{ version, time: <Time>{updated_at}</Time> }} />],
      ]} />
      {others.length > 0 && <><h3>{T.guardrails.others}</h3><LongText label={T.guardrails.others} text={renderValue(Object.fromEntries(others))} /></>}
    </>
  );
}

function GuardrailsForm({ id, found }: { id: string; found: Stored }) {
  const client = useQueryClient();
  const [changes, setChanges] = useState<Change[]>();
  const [isEmpty, setEmpty] = useState(false);
  const { guardrails } = found;
  const change = async () => {
    await api.PATCH("/api/v1/coordinators/{coordinator_id}/guardrails", {
      params: { path: { coordinator_id: id }, header: ifMatch(found.version) },
      body: { guardrails: Object.fromEntries(changes!.map(({ name, to }) => [name, to])) },
    });
    await reload(client, "guardrails");
  };
  return (
    <form aria-label={T.guardrails.change} onSubmit={(event) => {
      event.preventDefault();
      const asked = readChanges(found, readForm(event.currentTarget));
      setEmpty(asked.length === 0);
      if (asked.length > 0) setChanges(asked);
    }}>
      <div className="filters">
        {Object.entries(LIMITS).map(([name, label]) => (
          <TextField key={name} label={label} name={name} hint={T.guardrails.limitHint} pattern="[0-9]*"
            initial={String(guardrails[name as keyof typeof LIMITS] ?? "")} />
        ))}
        {Object.entries(NAMESPACES).map(([name, label]) => (
          <Field key={name} label={label} hint={T.guardrails.namespaceHint}>
            {(field, hint) => (
              <textarea id={field} name={name} rows={3} spellCheck={false} aria-describedby={hint}
                defaultValue={guardrails[name as keyof typeof NAMESPACES]?.join("\n") ?? ""} />
            )}
          </Field>
        ))}
        <ChoiceField label={T.guardrails.archive} name="memory_archive_required" options={ARCHIVE}
          initial={String(guardrails.memory_archive_required ?? "")} />
      </div>
      <div className="actions"><button type="submit" className="primary">{T.actions.change}</button></div>
      {isEmpty && <p role="status">{T.actions.nothingChanged}</p>}
      {changes && (
        <ConfirmDialog title={T.guardrails.changeTitle} action={T.actions.changeNow} onConfirm={change} onClose={() => setChanges(undefined)}>
          <p><Sentence text={T.guardrails.changes} of={{ id: <Name>{id}</Name> }} /></p>
          <ul>
            {changes.map(({ name, label, from, to }) => (
              <li key={name}>{label}: <Name>{JSON.stringify(from)}</Name> → <strong><Name>{JSON.stringify(to)}</Name></strong></li>
            ))}
          </ul>
        </ConfirmDialog>
      )}
    </form>
  );
}

/** Read from a form what differs from the guardrails; null takes one away. */
function readChanges({ guardrails }: Stored, form: Record<string, string>): Change[] {
  const lines = (text: string | undefined) => (text ?? "").split(/\r?\n/).filter((line) => line !== "");
  const fields: Change[] = [
    ...Object.entries(LIMITS).map(([name, label]) => ({
      name, label, from: guardrails[name as keyof typeof LIMITS], to: form[name] ? Number(form[name]) : null,
    })),
    ...Object.entries(NAMESPACES).map(([name, label]) => {
      const from = guardrails[name as keyof typeof NAMESPACES];
      const listed = lines(form[name]);
      return { name, label, from, to: listed.length > 0 || from?.length === 0 ? listed : null };
    }),
    {
      name: "memory_archive_required", label: T.guardrails.archive, from: guardrails.memory_archive_required,
      to: form.memory_archive_required ? form.memory_archive_required === "true" : null,
    },
  ];
  return fields.filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to));
}
