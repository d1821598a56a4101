import { serverUrl, withBasePath } from '../shared/base-path.ts';

/** Loaded by the script before this one. */
interface SwaggerOptions {
  readonly spec: ApiDocument;
  readonly domNode: Element;
  readonly [option: string]: unknown;
}
interface SwaggerViewer {
  readonly preauthorizeApiKey: (scheme: string, value: string) => unknown;
  readonly authActions: { readonly logout: (schemes: readonly string[]) => unknown };
  readonly authSelectors: { readonly authorized: () => { readonly has: (scheme: string) => boolean } };
  readonly getStore: () => { readonly subscribe: (listener: () => void) => unknown };
}
declare const SwaggerUIBundle: (options: SwaggerOptions) => SwaggerViewer;

/** Swagger UI shows the request as it leaves the interceptor. */
interface ViewerRequest {
  readonly headers: Record<string, string>;
  curlOptions: string[];
  userFetch?: typeof fetch;
}

interface ApiDocument {
  servers: unknown;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  /** Alternatives, each with the names of its schemes. */
  readonly security?: readonly Record<string, unknown>[];
}

interface Parameter {
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: { readonly type?: string; example?: unknown };
  description?: string;
  example?: unknown;
  examples?: Readonly<Record<string, { readonly value: string }>>;
}

interface Session {
  readonly email: string;
  readonly account: { readonly accountId: string };
  readonly environments: readonly string[];
  readonly allProjects: readonly { readonly projectId: string; readonly name: string }[];
}

const environmentHeader = 'Millrace-Environment';
const projectHeader = 'Millrace-Project';
const labels: Readonly<Record<string, string>> = { sandbox: 'Sandbox', production: 'Production' };

followColorScheme();
void showReference();

/** Swagger UI has a dark theme, but does not switch to it. */
function followColorScheme(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', apply);
  apply();
}

async function showReference(): Promise<void> {
  const domNode = document.querySelector('#reference-viewer');
  const notice = document.querySelector('#reference-notice');
  if (domNode === null || notice === null) return;
  try {
    const response = await fetch(withBasePath('/openapi.json'));
    if (!response.ok) throw new Error(`the server responded with status ${response.status}`);
    const spec = (await response.json()) as ApiDocument;
    // The content policy allows this host only.
    spec.servers = [{ url: serverUrl }];
    for (const operation of Object.values(spec.paths).flatMap(item => Object.values(item))) {
      clearOptionalExamples(operation);
      // The browser sends the session cookie. Swagger UI adds the environment.
      for (const needed of operation.security ?? []) if ('environment' in needed) delete needed.session;
    }
    const viewer = SwaggerUIBundle({
      spec,
      domNode,
      deepLinking: true,
      docExpansion: 'none',
      defaultModelsExpandDepth: 0,
      displayRequestDuration: true,
      filter: true,
      persistAuthorization: false,
      validatorUrl: null,
      requestInterceptor: addSessionEnvironment,
      onComplete: () => void useSessionForCalls(viewer),
    });
    focusKeyFieldFirst(domNode);
    notice.remove();
  } catch (error) {
    notice.textContent = `The reference can’t be shown: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Moves examples of optional parameters into descriptions: Swagger UI would send them as filters. */
function clearOptionalExamples({ parameters = [] }: Operation): void {
  for (const parameter of parameters) {
    if (parameter.in === 'path' || parameter.required) continue;
    const { example, examples = {}, schema } = parameter;
    const values = example === undefined ? Object.values(examples).map(({ value }) => value) : [example];
    if (values.length > 0) {
      const texts = values
        .map(value => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``)
        .join(', ');
      parameter.description = `${parameter.description ?? ''} For example: ${texts}.`.trim();
    }
    delete parameter.example;
    delete parameter.examples;
    // Swagger UI invents an example for an object without one.
    if (schema?.type === 'object') schema.example = '';
  }
}

/** The browser sends the session cookie, and headers name the environment and project. */
async function useSessionForCalls(viewer: SwaggerViewer): Promise<void> {
  const choice = document.querySelector<HTMLSelectElement>('#caller-environment')!;
  const project = projectChoice();
  let session = await fetchSession();
  const show = () => {
    const entered = viewer.authSelectors.authorized();
    const caller =
      entered.has('apiKey') || entered.has('accessToken')
        ? 'key'
        : session === undefined
          ? 'nobody'
          : 'session';
    for (const one of ['nobody', 'session', 'key']) {
      document.querySelector<HTMLElement>(`#caller-${one}`)!.hidden = one !== caller;
    }
  };
  const apply = () => {
    if (session !== undefined) viewer.preauthorizeApiKey('environment', choice.value);
    else if (viewer.authSelectors.authorized().has('environment')) viewer.authActions.logout(['environment']);
    show();
  };
  const take = (found: Session | undefined) => {
    session = found;
    document.querySelector('#caller-email')!.textContent = found?.email ?? '';
    const names = [...(found?.environments ?? [])];
    choice.replaceChildren(...names.map(name => new Option(labels[name] ?? name, name)));
    choice.value = environmentOf(found);
    const projects = found?.allProjects ?? [];
    const wanted = [project.value, ...stored('projects').split(' ')];
    project.replaceChildren(...projects.map(({ name, projectId }) => new Option(name, projectId)));
    project.value =
      wanted.find(id => projects.some(one => one.projectId === id)) ?? projects[0]?.projectId ?? '';
    document.querySelector<HTMLElement>('#caller-of-project')!.hidden = projects.length < 2;
    apply();
  };
  take(session);
  choice.addEventListener('change', apply);
  viewer.getStore().subscribe(show);
  new BroadcastChannel('millrace.session').addEventListener('message', async () =>
    take(await fetchSession()),
  );
}

async function fetchSession(): Promise<Session | undefined> {
  try {
    const response = await fetch(withBasePath('/auth/session'), { cache: 'no-store' });
    return response.ok ? ((await response.json()) as Session) : undefined;
  } catch {
    return undefined;
  }
}

function environmentOf(session: Session | undefined): string {
  const available = session?.environments ?? [];
  const [chosen = '', accountId = session?.account.accountId] = stored('environment').split(' ');
  if (accountId === session?.account.accountId && available.includes(chosen)) return chosen;
  return available.includes('production') ? 'production' : (available[0] ?? '');
}

/** The select is empty for somebody who is not signed in. */
function projectChoice(): HTMLSelectElement {
  return document.querySelector<HTMLSelectElement>('#caller-project')!;
}

/** Reads a choice that was made in the dashboard. */
function stored(name: 'environment' | 'projects'): string {
  try {
    return localStorage.getItem(`millrace.${name}`) ?? '';
  } catch {
    return '';
  }
}

/** Shows a curl command with a key, because a terminal has no session. */
function addSessionEnvironment(request: ViewerRequest): ViewerRequest {
  request.curlOptions = [];
  const environment = request.headers[environmentHeader];
  if (environment === undefined) return request;
  delete request.headers[environmentHeader];
  if (request.headers.Authorization !== undefined) return request;
  request.curlOptions = ['-u $KEY:'];
  const project = projectChoice().value;
  const chosen = {
    [environmentHeader]: environment,
    ...(project === '' ? {} : { [projectHeader]: project }),
  };
  request.userFetch = (address, options) =>
    fetch(address, {
      ...options,
      headers: { ...(options?.headers as Record<string, string>), ...chosen },
    });
  return request;
}

/** Focuses the field of the API key: Swagger UI focuses the last form. */
function focusKeyFieldFirst(viewer: Element): void {
  viewer.addEventListener('click', ({ target }) => {
    if (!(target instanceof Element) || target.closest('.dialog-ux') !== null) return;
    if (target.closest('.authorize, .authorization__btn') === null) return;
    setTimeout(() => {
      viewer.querySelector<HTMLElement>('.dialog-ux input')?.focus();
      viewer.querySelector('.dialog-ux .modal-ux-content')?.scrollTo(0, 0);
    });
  });
}
