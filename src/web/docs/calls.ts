import { serverUrl, withBasePath } from '../shared/base-path.ts';

interface Session {
  readonly email: string;
  readonly account: { readonly accountId: string };
  readonly environments: readonly string[];
  readonly allProjects: readonly { readonly projectId: string; readonly name: string }[];
}

interface Field {
  readonly name: string;
  readonly place: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly control: HTMLInputElement;
}

const labels: Readonly<Record<string, string>> = { sandbox: 'Sandbox', production: 'Production' };
/** More of a body would make the page slow. */
const maxShownCharacters = 200_000;

const keyInput = () => element<HTMLInputElement>('#key');
const environmentChoice = () => element<HTMLSelectElement>('#caller-environment');
const projectChoice = () => element<HTMLSelectElement>('#caller-project');
let session: Session | undefined;

/** Lets readers call operations, as the person who is signed in to the dashboard or with a key. */
export function addCalls(): void {
  element('#caller').hidden = false;
  keyInput().addEventListener('input', showCaller);
  for (const operation of document.querySelectorAll<HTMLElement>('.operation[data-method]')) {
    const place = operation.querySelector<HTMLElement>('.run')!;
    const button = createButton('Try it');
    button.setAttribute('aria-expanded', 'false');
    button.addEventListener('click', () => {
      const form = place.querySelector('form');
      if (form === null) place.append(callForm(operation));
      else form.hidden = !form.hidden;
      button.setAttribute('aria-expanded', String(form === null || !form.hidden));
    });
    place.append(button);
    place.hidden = false;
  }
  void readSession();
  // The dashboard tells its other pages when somebody signs in or out.
  new BroadcastChannel('millrace.session').addEventListener('message', () => void readSession());
}

async function readSession(): Promise<void> {
  session = await fetchSession();
  element('#caller-email').textContent = session?.email ?? '';
  const environment = environmentChoice();
  const names = session?.environments ?? [];
  environment.replaceChildren(...names.map(name => new Option(labels[name] ?? name, name)));
  environment.value = environmentOf(session);
  const project = projectChoice();
  const projects = session?.allProjects ?? [];
  const wanted = [project.value, ...stored('projects').split(' ')];
  project.replaceChildren(...projects.map(({ name, projectId }) => new Option(name, projectId)));
  project.value =
    wanted.find(id => projects.some(one => one.projectId === id)) ?? projects[0]?.projectId ?? '';
  element('#caller-of-project').hidden = projects.length < 2;
  showCaller();
}

function showCaller(): void {
  const caller = keyInput().value !== '' ? 'key' : session === undefined ? 'nobody' : 'session';
  for (const one of ['nobody', 'session', 'key']) element(`#caller-${one}`).hidden = one !== caller;
}

async function fetchSession(): Promise<Session | undefined> {
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

/** Reads a choice that was made in the dashboard. */
function stored(name: 'environment' | 'projects'): string {
  try {
    return localStorage.getItem(`millrace.${name}`) ?? '';
  } catch {
    return '';
  }
}

/** Makes the form of an operation from what its page says. */
function callForm(operation: HTMLElement): HTMLFormElement {
  const form = document.createElement('form');
  form.setAttribute('aria-label', operation.querySelector('h2')!.firstChild!.textContent ?? '');
  const fields = [...operation.querySelectorAll<HTMLElement>('.parameters > li')].map(item => {
    const { name = '', in: place = '', type = '' } = item.dataset;
    const control = document.createElement('input');
    control.autocomplete = 'off';
    control.required = 'required' in item.dataset;
    form.append(labelled(`${name}${control.required ? '' : ' (optional)'}`, control));
    return { name, place, type, isRequired: control.required, control };
  });
  const body = operation.querySelector<HTMLElement>('[data-body]');
  const bodyControl = body === null ? undefined : bodyControlOf(body);
  if (bodyControl !== undefined) form.append(labelled('Body', bodyControl));
  const send = createButton('Send');
  send.type = 'submit';
  const status = document.createElement('p');
  status.setAttribute('role', 'status');
  const answer = document.createElement('pre');
  answer.tabIndex = 0;
  answer.hidden = true;
  form.append(send, status, answer);
  form.addEventListener('submit', async event => {
    event.preventDefault();
    status.textContent = 'Sending …';
    answer.hidden = true;
    try {
      const response = await fetch(addressOf(operation, fields), {
        method: operation.dataset.method!,
        headers: headersOf(operation, fields, bodyControl),
        body: bodyOf(bodyControl),
        redirect: 'manual',
      });
      answer.textContent = await bodyText(response);
      answer.hidden = answer.textContent === '';
      status.textContent =
        response.type === 'opaqueredirect'
          ? 'A redirect'
          : `${response.status} ${response.statusText}`.trim();
    } catch (error) {
      status.textContent = `The call failed: ${error instanceof Error ? error.message : String(error)}`;
    }
  });
  return form;
}

function bodyControlOf(body: HTMLElement): HTMLInputElement | HTMLTextAreaElement {
  if (body.dataset.body === 'multipart/form-data') {
    const file = document.createElement('input');
    file.type = 'file';
    return file;
  }
  const text = document.createElement('textarea');
  text.value = body.textContent ?? '';
  text.rows = Math.min(14, text.value.split('\n').length + 1);
  text.spellcheck = false;
  return text;
}

/** Addresses of lists and maps are written as the server reads them. */
function addressOf(operation: HTMLElement, fields: readonly Field[]): string {
  const query = new URLSearchParams();
  let path = operation.dataset.path!;
  for (const { name, place, type, control } of fields) {
    const { value } = control;
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (place === 'query' && value !== '') {
      const values = type === 'array' ? value.split(',').map(one => one.trim()) : [value];
      if (type !== 'object') for (const one of values) query.append(name, one);
      else for (const [key, one] of mapEntries(value)) query.append(`${name}[${key}]`, one);
    }
  }
  return `${serverUrl}${path}${query.size === 0 ? '' : `?${query}`}`;
}

/** Reads `{"shot": "12"}`, or `shot=12`. */
function mapEntries(text: string): [string, string][] {
  if (!text.trimStart().startsWith('{')) return [...new URLSearchParams(text)];
  return Object.entries(JSON.parse(text) as object).map(([key, value]) => [key, String(value)]);
}

function headersOf(
  operation: HTMLElement,
  fields: readonly Field[],
  body: HTMLInputElement | HTMLTextAreaElement | undefined,
): Headers {
  const headers = new Headers();
  for (const { name, place, control } of fields)
    if (place === 'header' && control.value !== '') headers.set(name, control.value);
  if (body instanceof HTMLTextAreaElement) headers.set('Content-Type', 'application/json');
  const key = keyInput().value.trim();
  if (operation.dataset.credential !== 'key') return headers;
  if (key !== '') headers.set('Authorization', `Basic ${btoa(`${key}:`)}`);
  else if (session !== undefined) {
    headers.set('Millrace-Environment', environmentChoice().value);
    if (projectChoice().value !== '') headers.set('Millrace-Project', projectChoice().value);
  }
  return headers;
}

function bodyOf(control: HTMLInputElement | HTMLTextAreaElement | undefined): string | FormData | null {
  if (control === undefined) return null;
  if (control instanceof HTMLTextAreaElement) return control.value;
  const form = new FormData();
  for (const file of control.files ?? []) form.set('file', file);
  return form;
}

async function bodyText(response: Response): Promise<string> {
  const type = response.headers.get('content-type') ?? '';
  if (!/^(?:text\/|application\/(?:json|vnd\.apple))/.test(type)) {
    const { size } = await response.blob();
    return size === 0 ? '' : `${size} bytes of ${type}`;
  }
  const text = await response.text();
  const shown = type.startsWith('application/json') ? JSON.stringify(JSON.parse(text), null, 2) : text;
  return shown.length > maxShownCharacters ? `${shown.slice(0, maxShownCharacters)}…` : shown;
}

function labelled(name: string, control: HTMLElement): HTMLLabelElement {
  const label = document.createElement('label');
  label.append(name, control);
  return label;
}

function createButton(text: string): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = text;
  return button;
}

function element<Kind extends HTMLElement = HTMLElement>(selector: string): Kind {
  return document.querySelector<Kind>(selector)!;
}
