import { withBasePath } from '../../shared/base-path.ts';
import { endSession, projectHeaders, session } from '../state/session.ts';
import { t } from '../texts/shell.ts';
import type { ErrorBody, Operations } from './api-types.ts';
import { ApiProblem } from './problem.ts';
import { noteAnswer } from './server-return.ts';

type Operation = keyof Operations;

/** Value of an operation at a key; undefined where it has nothing there. */
type At<Name extends Operation, Key extends string> =
  Operations[Name] extends Readonly<Record<Key, infer Value>> ? Value : undefined;

export type Answer<Name extends Operation> = At<Name, 'answer'>;

type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

type Params<Name extends Operation> = [NamesIn<Name>] extends [never]
  ? undefined
  : Readonly<Record<NamesIn<Name>, string>>;

type Part<Key extends string, Value> = undefined extends Value
  ? { readonly [K in Key]?: Value }
  : { readonly [K in Key]: Value };

export type Input<Name extends Operation> = Part<'params', Params<Name>> &
  Part<'body', At<Name, 'body'>> & {
    readonly query?: At<Name, 'query'>;
    readonly signal?: AbortSignal;
    readonly headers?: Readonly<Record<string, string>>;
  };

type Arguments<Name extends Operation> =
  Record<never, never> extends Input<Name> ? [input?: Input<Name>] : [input: Input<Name>];

type Values = Readonly<Record<string, unknown>>;

/** Dispatches `refused` when the session may have changed: its role lacks a scope, or its project is gone, for example. */
export const staleSessions = new EventTarget();

/** @throws ApiProblem when the answer is an error, or none comes */
export async function call<Name extends Operation>(
  operation: Name,
  ...[input]: Arguments<Name>
): Promise<Answer<Name>> {
  const { params, query, body, signal, headers } = (input ?? {}) as {
    params?: Values;
    query?: Values;
    body?: unknown;
    signal?: AbortSignal;
    headers?: Readonly<Record<string, string>>;
  };
  const [method = 'GET', path = '/'] = operation.split(' ');
  const asker = session.peek()?.sessionId;
  const response = await send(urlOf(path, params, query), {
    method,
    headers: { ...headersOf(body), ...headers },
    body: body === undefined ? undefined : body instanceof FormData ? body : JSON.stringify(body),
    signal,
  });
  if (!response.ok) {
    const problem = await problemOfResponse(response);
    if (problem.status === 401) endSession(asker);
    // The session itself may be refused, too.
    if (problem.status === 403 && operation !== 'GET /auth/session') noteRefusal();
    throw problem;
  }
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('image/')) return (await response.blob()) as Answer<Name>;
  const text = await response.text();
  if (text === '') return undefined as Answer<Name>;
  const isJson = type.startsWith('application/json');
  return (isJson ? JSON.parse(text) : text) as Answer<Name>;
}

export function noteRefusal(): void {
  staleSessions.dispatchEvent(new Event('refused'));
}

export function urlOf(path: string, params: Values = {}, query: Values = {}): string {
  const filled = withBasePath(path).replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name])),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === '') continue;
    if (Array.isArray(value)) for (const item of value) search.append(name, String(item));
    else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        if (Array.isArray(item)) for (const one of item) search.append(`${name}[${key}][]`, String(one));
        else search.append(`${name}[${key}]`, String(item));
      }
    } else search.append(name, String(value));
  }
  const text = search.toString();
  return text === '' ? filled : `${filled}?${text}`;
}

async function problemOfResponse(response: Response): Promise<ApiProblem> {
  let body: Partial<ErrorBody> = { title: `${response.status} ${response.statusText}`.trim() };
  try {
    body = (await response.json()) as ErrorBody;
  } catch {
    // A proxy answered.
  }
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiProblem(response.status, body, Number.isNaN(retryAfter) ? undefined : retryAfter);
}

async function send(address: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(address, { ...init, credentials: 'same-origin', cache: 'no-store' });
    noteAnswer(response.status);
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    noteAnswer(0);
    throw new ApiProblem(0, { title: t('problem.unreachable') });
  }
}

function headersOf(body: unknown): Record<string, string> {
  return {
    ...projectHeaders(),
    ...(body === undefined || body instanceof FormData ? {} : { 'Content-Type': 'application/json' }),
  };
}
