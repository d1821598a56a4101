import { withBasePath } from '../shared/base-path.ts';

interface Session {
  readonly email: string;
  readonly account: { readonly accountId: string };
  readonly environments: readonly string[];
  readonly allProjects: readonly { readonly projectId: string; readonly name: string }[];
}

const labels: Readonly<Record<string, string>> = { sandbox: 'Sandbox', production: 'Production' };
const listeners: (() => void)[] = [];
let session: Session | undefined;
/** Grows with every request for the session, so that late answers are ignored. */
let latestRead = 0;

/** Shows as whom calls run: the person who is signed in to the dashboard, or an API key. */
export function addCaller(): void {
  element('#caller').hidden = document.querySelector('#key') === null;
  document.querySelector('#key')?.addEventListener('input', showCaller);
  // Requests with the beginning of a key would count as wrong keys.
  document.querySelector('#key')?.addEventListener('change', tellListeners);
  environmentChoice().addEventListener('change', tellListeners);
  projectChoice().addEventListener('change', tellListeners);
  void readSession();
  // The dashboard tells its other pages when somebody signs in or out.
  new BroadcastChannel('millrace.session').addEventListener('message', () => void readSession());
}

/** Calls `listener` when somebody else calls, or for another project. */
export function onCaller(listener: () => void): void {
  listeners.push(listener);
}

/** Headers of a call in the chosen environment and project. Undefined for a caller who is nobody. */
export function callerHeaders(): Record<string, string> | undefined {
  const key = enteredKey();
  if (key !== '')
    return { Authorization: `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${key}:`)))}` };
  if (session === undefined) return undefined;
  const headers = { 'Millrace-Environment': environmentChoice().value };
  const projectId = projectChoice().value;
  return projectId === '' ? headers : { ...headers, 'Millrace-Project': projectId };
}

async function readSession(): Promise<void> {
  latestRead += 1;
  const own = latestRead;
  const found = await fetchSession();
  if (own !== latestRead) return;
  const isSameAccount = found?.account.accountId === session?.account.accountId;
  session = found;
  element('#caller-email').textContent = session?.email ?? '';
  const environment = environmentChoice();
  const names = session?.environments ?? [];
  const kept = names.find(name => isSameAccount && name === environment.value);
  environment.replaceChildren(...names.map(name => new Option(labels[name] ?? name, name)));
  environment.value = kept ?? environmentOf(session);
  const project = projectChoice();
  const projects = session?.allProjects ?? [];
  const wanted = [project.value, ...stored('projects').split(' ')];
  project.replaceChildren(...projects.map(({ name, projectId }) => new Option(name, projectId)));
  project.value =
    wanted.find(id => projects.some(one => one.projectId === id)) ?? projects[0]?.projectId ?? '';
  element('#caller-of-project').hidden = projects.length < 2;
  tellListeners();
}

function tellListeners(): void {
  showCaller();
  for (const listener of listeners) listener();
}

function showCaller(): void {
  const caller = enteredKey() !== '' ? 'key' : session === undefined ? 'nobody' : 'session';
  for (const one of ['nobody', 'session', 'key']) {
    const text = document.querySelector<HTMLElement>(`#caller-${one}`);
    if (text !== null) text.hidden = one !== caller;
  }
  // In guides, it only tells what examples have been filled with.
  if (document.querySelector('#caller-nobody') === null) element('#caller').hidden = session === undefined;
}

/** Asks only where the dashboard has noted that somebody is signed in: browsers report each refusal as an error. */
async function fetchSession(): Promise<Session | undefined> {
  if (stored('signed-in') === '') return undefined;
  try {
    const response = await fetch(withBasePath('/auth/session'), { cache: 'no-store' });
    return response.ok ? ((await response.json()) as Session) : undefined;
  } catch {
    return undefined;
  }
}

function environmentOf(of: Session | undefined): string {
  const available = of?.environments ?? [];
  const [chosen = '', accountId = of?.account.accountId] = stored('environment').split(' ');
  if (accountId === of?.account.accountId && available.includes(chosen)) return chosen;
  return available.includes('production') ? 'production' : (available[0] ?? '');
}

/** Reads what the dashboard keeps. */
function stored(name: 'environment' | 'projects' | 'signed-in'): string {
  try {
    return localStorage.getItem(`millrace.${name}`) ?? '';
  } catch {
    return '';
  }
}

function enteredKey(): string {
  return document.querySelector<HTMLInputElement>('#key')?.value.trim() ?? '';
}

function environmentChoice(): HTMLSelectElement {
  return element('#caller-environment') as HTMLSelectElement;
}

function projectChoice(): HTMLSelectElement {
  return element('#caller-project') as HTMLSelectElement;
}

function element(selector: string): HTMLElement {
  return document.querySelector<HTMLElement>(selector)!;
}
