import { Dialog, DialogProvider, useDialogStore } from "@ariakit/react";
import { lazy, Suspense, useEffect, useRef, type ComponentType, type ReactNode } from "react";
import { keepsNumbers } from "./api/json";
import { HomeScreen } from "./screens/Home";
import { SignIn } from "./session/SignIn";
import { can, signOut, useSession, type Principal } from "./session/session";
import { T, toWord } from "./texts";
import { Ask } from "./ui/ask";
import { toViewCode } from "./ui/code";
import { CopyCode } from "./ui/copy";
import { Loading } from "./ui/data";
import { toHref, useLocation } from "./ui/location";
import { PartLinks } from "./ui/parts";
import { Name, Sentence } from "./ui/text";

type Place = keyof typeof T.places;
type Props = { id: string; params: URLSearchParams };
type Screen = {
  title: string;
  place: Place;
  show: ComponentType<Props>;
  isAdmins?: boolean; // only for memory.admin
  isPart?: boolean; // listed among the parts of its place
  isKept?: boolean; // stays when its parameters change
};

/** A screen whose code is loaded when it is opened. */
function later<M>(load: () => Promise<M>, find: (module: M) => ComponentType<Props>): ComponentType<Props> {
  return lazy(async () => ({ default: find(await load()) }));
}

const object = () => import("./screens/Objects");
const runs = () => import("./screens/Runs");
const replays = () => import("./screens/MemoryRuns");
const conversations = () => import("./screens/Conversations");
const namespaces = () => import("./screens/Namespaces");
const people = () => import("./screens/People");
const facts = () => import("./screens/Facts");

const SCREENS: Record<string, Screen> = {
  "": { title: T.screens.home, place: "home", show: HomeScreen, isPart: true },
  timeline: { title: T.screens.timeline, place: "home", show: later(() => import("./screens/Timeline"), (m) => m.TimelineScreen), isPart: true },
  people: { title: T.screens.people, place: "people", show: later(people, (m) => m.PeopleScreen), isPart: true },
  person: { title: T.screens.person, place: "people", show: later(people, (m) => m.PersonScreen), isKept: true },
  conversations: { title: T.screens.conversations, place: "people", show: later(conversations, (m) => m.ConversationsScreen), isPart: true },
  conversation: { title: T.screens.conversation, place: "people", show: later(conversations, (m) => m.ConversationScreen) },
  states: { title: T.screens.states, place: "people", show: later(() => import("./screens/States"), (m) => m.StatesScreen), isPart: true, isKept: true },
  agents: { title: T.screens.agents, place: "agents", show: later(() => import("./screens/Agents"), (m) => m.AgentsScreen), isPart: true },
  agent: { title: T.screens.agent, place: "agents", show: later(() => import("./screens/Agent"), (m) => m.AgentScreen), isKept: true },
  runs: { title: T.screens.runs, place: "agents", show: later(runs, (m) => m.RunsScreen), isPart: true, isKept: true },
  run: { title: T.screens.run, place: "agents", show: later(runs, (m) => m.RunScreen) },
  episodes: { title: T.screens.episodes, place: "agents", show: later(runs, (m) => m.EpisodesScreen) },
  "memory-runs": { title: T.screens.memoryRuns, place: "agents", show: later(replays, (m) => m.MemoryRunsScreen), isPart: true, isKept: true },
  "memory-run": { title: T.screens.memoryRun, place: "agents", show: later(replays, (m) => m.MemoryRunScreen) },
  procedures: { title: T.screens.procedures, place: "agents", show: later(() => import("./screens/Procedures"), (m) => m.ProceduresScreen), isPart: true, isKept: true },
  tasks: { title: T.screens.tasks, place: "work", show: later(() => import("./screens/Tasks"), (m) => m.TasksScreen), isPart: true },
  task: { title: T.screens.task, place: "work", show: later(() => import("./screens/Task"), (m) => m.TaskScreen), isKept: true },
  intent: { title: T.screens.intent, place: "work", show: later(() => import("./screens/Intent"), (m) => m.IntentScreen), isKept: true },
  memory: { title: T.screens.memory, place: "knowledge", show: later(() => import("./screens/Memory"), (m) => m.MemoryScreen), isPart: true, isKept: true },
  entry: { title: T.screens.entry, place: "knowledge", show: later(() => import("./screens/Entry"), (m) => m.EntryScreen) },
  facts: { title: T.screens.facts, place: "knowledge", show: later(facts, (m) => m.FactsScreen), isPart: true, isKept: true },
  fact: { title: T.screens.fact, place: "knowledge", show: later(facts, (m) => m.FactScreen) },
  consolidation: { title: T.screens.consolidation, place: "knowledge", show: later(() => import("./screens/Consolidation"), (m) => m.ConsolidationScreen), isPart: true, isAdmins: true },
  namespaces: { title: T.screens.namespaces, place: "knowledge", show: later(namespaces, (m) => m.NamespacesScreen), isPart: true, isKept: true },
  namespace: { title: T.screens.namespace, place: "knowledge", show: later(namespaces, (m) => m.NamespaceScreen) },
  objects: { title: T.screens.objects, place: "knowledge", show: later(object, (m) => m.SpacesScreen), isPart: true },
  space: { title: T.screens.space, place: "knowledge", show: later(object, (m) => m.SpaceScreen), isKept: true },
  object: { title: T.screens.object, place: "knowledge", show: later(object, (m) => m.ObjectScreen) },
  principals: { title: T.screens.principals, place: "settings", show: later(() => import("./screens/Principals"), (m) => m.PrincipalsScreen), isPart: true, isAdmins: true },
  permissions: { title: T.screens.permissions, place: "settings", show: later(() => import("./screens/Rules"), (m) => m.RulesScreen), isPart: true },
  access: { title: T.screens.access, place: "settings", show: later(() => import("./screens/Access"), (m) => m.AccessScreen), isPart: true },
  guardrails: { title: T.screens.guardrails, place: "settings", show: later(() => import("./screens/Guardrails"), (m) => m.GuardrailsScreen), isPart: true },
  strategies: { title: T.screens.strategies, place: "settings", show: later(() => import("./screens/Strategies"), (m) => m.StrategiesScreen), isPart: true, isAdmins: true },
  usage: { title: T.screens.usage, place: "settings", show: later(() => import("./screens/Usage"), (m) => m.UsageScreen), isPart: true, isAdmins: true },
  audit: { title: T.screens.audit, place: "settings", show: later(() => import("./screens/Audit"), (m) => m.AuditScreen), isPart: true, isAdmins: true },
};
const STARTS: Record<Place, string> = { home: "", people: "people", agents: "agents", work: "tasks", knowledge: "memory", settings: "access" };

export function App() {
  const { principal } = useSession();
  return principal === undefined ? <SignIn /> : <SignedIn principal={principal} />;
}

function SignedIn({ principal }: { principal: Principal }) {
  const { path: [name = "", id = ""], params } = useLocation();
  const screen = SCREENS[name];
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${screen?.title ?? T.navigation.notFound} – ${T.product}`;
    heading.current?.focus();
  }, [name, id, screen]);
  const Show = screen?.show;
  const code = toViewCode(name, id, params);
  return (
    <div className="shell">
      <a className="skip" href="#main" onClick={(event) => { event.preventDefault(); heading.current?.focus(); }}>{T.navigation.skip}</a>
      <Header principal={principal} place={screen?.place} />
      <main id="main">
        <Warnings principal={principal} />
        {screen && <PlaceParts place={screen.place} shown={name} principal={principal} />}
        <div className="title">
          <h1 ref={heading} tabIndex={-1}>{screen?.title ?? T.navigation.notFound}</h1>
          {code && <CopyCode code={code} />}
        </div>
        <Suspense fallback={<Loading />}>
          {Show ? <Show key={screen?.isKept ? id : `${id}?${params}`} id={id} params={params} /> : <a href={toHref([""])}>{T.navigation.goHome}</a>}
        </Suspense>
      </main>
    </div>
  );
}

function Header({ principal, place }: { principal: Principal; place: Place | undefined }) {
  const ask = useAskDialog();
  return (
    <header>
      <p className="brand">{T.product}</p>
      <DialogProvider store={ask}>
        <button type="button" className="ask-button" aria-keyshortcuts="/ Control+K" onClick={ask.show}>{T.ask.open} <kbd>/</kbd></button>
        <Dialog store={ask} className="ask-dialog" aria-label={T.ask.open} backdrop={<div className="backdrop" />} unmountOnHide>
          <Ask autoFocus onOpen={ask.hide} />
          <button type="button" className="plain-button" onClick={ask.hide}>{T.ask.close}</button>
        </Dialog>
      </DialogProvider>
      <nav aria-label={T.navigation.places} className="places">
        {(Object.keys(T.places) as Place[]).map((each) => (
          <a key={each} href={toHref([STARTS[each]])} data-place={each} aria-current={each === place ? "page" : undefined}>{T.places[each]}</a>
        ))}
      </nav>
      <p className="who">
        <span><Sentence text={T.account.signedIn} of={{ who: <Name>{principal.id}</Name>, kind: toWord(principal.kind), tenant: <Name>{principal.tenant}</Name> }} /></span>
        <button type="button" onClick={() => signOut()}>{T.account.signOut}</button>
      </p>
    </header>
  );
}

/** The box that `/` and Ctrl-K open from anywhere, except while somebody types. */
function useAskDialog() {
  const dialog = useDialogStore();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
      const isAsked = (event.key === "/" && !isTyping) || (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey));
      if (!isAsked) return;
      event.preventDefault();
      dialog.show();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [dialog]);
  return dialog;
}

function PlaceParts({ place, shown, principal }: { place: Place; shown: string; principal: Principal }) {
  const parts = Object.entries(SCREENS).filter(([, each]) =>
    each.place === place && each.isPart && (!each.isAdmins || can(principal, "memory.admin")));
  if (parts.length < 2) return null;
  return (
    <PartLinks label={T.navigation.parts(T.places[place])} shown={shown}>
      {parts.map(([path, { title }]) => (
        <a key={path} href={toHref([path])} aria-current={path === shown ? "page" : undefined}>{title}</a>
      ))}
    </PartLinks>
  );
}

function Warnings({ principal }: { principal: Principal }): ReactNode {
  return (
    <>
      {can(principal, "memory.inspect") && <p className="hint">{T.account.inspecting}</p>}
      {principal.kind === "agent" && <p className="notice">{T.account.agentsKey}</p>}
      {!can(principal, "memory.read") && !can(principal, "memory.inspect") && <p className="notice">{T.account.noRead}</p>}
      {!keepsNumbers && <p className="notice">{T.account.oldBrowser}</p>}
    </>
  );
}
