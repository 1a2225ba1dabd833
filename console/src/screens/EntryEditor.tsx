import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useRef, useState } from "react";
import { api, ApiError, ifMatch, read, type Schemas } from "../api/client";
import { parseValue, renderValue, showInvisible } from "../api/json";
import { reload } from "../api/reload";
import { T, toWords } from "../texts";
import { Problem } from "../ui/data";
import { ChoiceField, Field, readForm } from "../ui/form";
import { LongText, Name, Sentence, Time } from "../ui/text";
import { readEntry, type Entry } from "./entries";

const SENSITIVITIES = { "": T.terms.none, ...toWords("public", "internal", "confidential", "restricted") };
const PRIORITIES = toWords("low", "normal", "high");
type Change = Schemas["EntryChangeBody"];

/** Changes an entry under the version that was read; after a conflict both texts stand side by side. */
export function EntryEditor({ entry, onClose }: { entry: Entry; onClose: () => void }) {
  const client = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const [base] = useState(entry);
  const [present, setPresent] = useState<Entry>();
  const id = useId();
  const version = (present ?? base).version;
  const save = useMutation({
    mutationFn: async () => {
      const body = readChange(base, readForm(form.current!));
      if (Object.keys(body).length === 0) throw new Error(T.actions.nothingChanged);
      const params = { path: { id: base.id }, header: ifMatch(version) };
      return read(api.PATCH("/api/v1/memory/{id}", { params, body }));
    },
    onSuccess: (saved) => {
      client.setQueryData(["entry", saved.id], saved);
      void reload(client, "events");
      onClose();
    },
    onError: async (error) => {
      if (error instanceof ApiError && error.code === "VERSION_MISMATCH") setPresent(await readEntry(base.id));
    },
    gcTime: 0,
  });
  const takePresent = () => {
    client.setQueryData(["entry", base.id], present);
    onClose();
  };
  const isConflict = save.error instanceof ApiError && save.error.code === "VERSION_MISMATCH";
  return (
    <form ref={form} className="editor" onSubmit={(event) => { event.preventDefault(); save.mutate(); }}>
      {save.isError && !isConflict && <Problem error={save.error} />}
      {present && (
        <p role="alert" className="problem">
          <strong>{T.entry.conflictTitle}</strong>{" "}
          <Sentence text={T.entry.conflict} of={{
            yours: base.version, version: present.version, time: <Time>{present.updated_at}</Time>, who: <Name>{present.curated_by ?? present.created_by}</Name>,
          }} />
        </p>
      )}
      <div className={present ? "side-by-side" : undefined}>
        <Field label={present ? T.entry.yours : T.entry.json} hint={T.entry.jsonHint}>
          {(field, hint) => (
            <textarea id={field} name="value" rows={16} dir="ltr" spellCheck={false} aria-describedby={hint} autoFocus
              defaultValue={showInvisible(renderValue(base.value))} />
          )}
        </Field>
        {present && <div><h2 id={id}>{T.entry.currentTitle(present.version)}</h2><LongText label={T.entry.currentValue} text={renderValue(present.value)} /></div>}
      </div>
      <div className="filters">
        <Field label={T.entry.tagsField}>
          {(field) => <textarea id={field} name="tags" rows={3} spellCheck={false} defaultValue={base.tags.join("\n")} />}
        </Field>
        <ChoiceField label={T.terms.sensitivity} name="sensitivity" initial={base.sensitivity ?? ""} options={SENSITIVITIES} />
        {base.memory_type === "episodic" && (
          <>
            <ChoiceField label={T.entry.priority} name="priority" initial={base.priority} options={PRIORITIES} />
            <ChoiceField label={T.entry.pinning} name="pinned" initial={String(base.pinned)} options={T.entry.pinned} />
          </>
        )}
      </div>
      <div className="actions">
        <button type="submit" className="primary" disabled={save.isPending}>
          {present ? T.entry.overwrite(present.version) : T.actions.save}
        </button>
        {present && <button type="button" onClick={takePresent}>{T.entry.useCurrent}</button>}
        <button type="button" onClick={onClose}>{T.actions.cancel}</button>
      </div>
    </form>
  );
}

/** Read from a form what differs from the entry. */
function readChange(base: Entry, form: Record<string, string>): Change {
  const change: Change = {};
  if (form.value !== showInvisible(renderValue(base.value)).replace(/\r\n?/g, "\n") && form.value !== undefined) {
    change.value = parseObject(form.value);
  }
  const tags = (form.tags ?? "").split(/\r?\n/).filter((tag) => tag !== "");
  if (tags.join("\n") !== base.tags.join("\n")) change.tags = tags;
  if ((form.sensitivity || null) !== base.sensitivity) change.sensitivity = (form.sensitivity || null) as Entry["sensitivity"];
  if (form.priority && form.priority !== base.priority) change.priority = form.priority as Entry["priority"];
  if (form.pinned && form.pinned !== String(base.pinned)) change.pinned = form.pinned === "true";
  return change;
}

function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseValue(text);
  } catch (error) {
    throw new Error(T.entry.badJson((error as Error).message));
  }
  if (value === null || typeof value !== "object" || Array.isArray(value) || !/^\s*\{/.test(text)) {
    throw new Error(T.entry.noObject);
  }
  return value as Record<string, unknown>;
}
