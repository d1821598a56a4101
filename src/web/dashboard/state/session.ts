import { computed, effect, signal } from '@preact/signals';
import type { Project, Session } from '../api/api-types.ts';
import { t } from '../texts/shell.ts';
import { readStored, writeStored } from './local-storage.ts';

export type Environment = 'sandbox' | 'production';

export type Scope = Session['scopes'][number];

/** undefined: not known yet; null: signed out. */
export const session = signal<Session | null | undefined>(undefined);

const note = 'signed-in';

// The documentation asks for the session only then.
effect(() => {
  if (session.value !== undefined) writeStored(note, session.value === null ? undefined : 'yes');
});

/** True where this browser has had a session that nobody has ended since. */
export function isNotedAsSignedIn(): boolean {
  return readStored(note) !== undefined;
}

/** True when the session ended without the user. */
export const wasSignedOut = signal(false);

interface EnvironmentChoice {
  readonly environment: Environment;
  /** Absent in choices of older versions, which apply to every account. */
  readonly accountId: string | undefined;
}

const choice = signal<EnvironmentChoice | undefined>(storedChoice());

export const environment = computed<Environment>(() => {
  const available = session.value?.environments ?? [];
  const { environment: chosen, accountId } = choice.value ?? {};
  const isOwn = accountId === undefined || accountId === session.value?.account.accountId;
  if (chosen !== undefined && isOwn && available.includes(chosen)) return chosen;
  return available.includes('production') ? 'production' : 'sandbox';
});

const maxRememberedProjects = 20;

/** Ids of projects of any account, the last chosen one first. A tab keeps its own choice when it is loaded again. */
const chosenProjects = signal<readonly string[]>(
  [readStored('projects', 'tab'), readStored('projects')]
    .flatMap(ids => ids?.split(' ') ?? [])
    .slice(0, maxRememberedProjects),
);

/** The chosen project of the account, or its first one. */
export const project = computed<Project | undefined>(() => {
  const all = session.value?.allProjects ?? [];
  const chosen = chosenProjects.value.find(id => all.some(({ projectId }) => projectId === id));
  return all.find(({ projectId }) => projectId === chosen) ?? all[0];
});

export function chooseProject(projectId: string): void {
  const others = chosenProjects.peek().filter(id => id !== projectId);
  chosenProjects.value = [projectId, ...others].slice(0, maxRememberedProjects);
  for (const storage of ['tab', 'browser'] as const) {
    writeStored('projects', chosenProjects.peek().join(' '), storage);
  }
}

/** An environment of a project. */
export interface ProjectEnvironment {
  readonly environment: Environment;
  /** Absent in uploads that older versions remember: the first project. */
  readonly projectId?: string | undefined;
}

/** Differs for each environment of each project. */
export const projectKey = computed(() => `${environment.value} ${project.value?.projectId}`);

/** Names other places that may have a resource which is not here. */
export const elsewhere = computed(() =>
  t((session.value?.allProjects.length ?? 0) > 1 ? 'environment.otherProject' : 'environment.other'),
);

export function chosenEnvironment(): ProjectEnvironment {
  return { environment: environment.peek(), projectId: project.peek()?.projectId };
}

export function isChosen({ environment: name, projectId = firstProjectId() }: ProjectEnvironment): boolean {
  return name === environment.value && projectId === project.value?.projectId;
}

/** Names the project, too, unless it is the chosen one. */
export function nameOfProjectEnvironment({
  environment: name,
  projectId = firstProjectId(),
}: ProjectEnvironment): string {
  const label = t(`environment.name.${name}`);
  if (projectId === project.value?.projectId) return label;
  const other = session.value?.allProjects.find(one => one.projectId === projectId);
  return other === undefined
    ? label
    : t('environment.ofProject', { project: other.name, environment: label });
}

/** @param environmentId the server's id of an environment of a project */
export function nameOfEnvironment(name: Environment, environmentId: string | undefined): string {
  const owner = session.value?.allProjects.find(one => one.environmentIds[name] === environmentId);
  return nameOfProjectEnvironment({ environment: name, projectId: owner?.projectId ?? '' });
}

/** No other site can send these headers. */
export function projectHeaders(
  { environment: name, projectId = firstProjectId() }: ProjectEnvironment = chosenEnvironment(),
): Record<string, string> {
  return {
    'Millrace-Environment': name,
    ...(projectId === undefined ? {} : { 'Millrace-Project': projectId }),
  };
}

function firstProjectId(): string | undefined {
  return session.peek()?.allProjects[0]?.projectId;
}

/** True when your role in the account has the scope. */
export function can(scope: Scope): boolean {
  return session.value?.scopes.includes(scope) ?? false;
}

/** Reaches everything of the account, such as all keys. */
export function accountEnvironment(): Environment {
  return session.value?.environments.includes('production') ? 'production' : 'sandbox';
}

export function chooseEnvironment(next: Environment): void {
  const accountId = session.peek()?.account.accountId;
  choice.value = { environment: next, accountId };
  writeStored('environment', accountId === undefined ? next : `${next} ${accountId}`);
}

/** `sessionId` is that of the refused request: another one may have begun since. */
export function endSession(sessionId: string | undefined): void {
  if (sessionId !== session.peek()?.sessionId) return;
  if (session.peek()) wasSignedOut.value = true;
  session.value = null;
}

function storedChoice(): EnvironmentChoice | undefined {
  const [chosen, accountId] = readStored('environment')?.split(' ') ?? [];
  return chosen === 'sandbox' || chosen === 'production' ? { environment: chosen, accountId } : undefined;
}
