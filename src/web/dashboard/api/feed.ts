import { signal } from '@preact/signals';
import { withBasePath } from '../../shared/base-path.ts';
import { chosenEnvironment, endSession, projectKey, session } from '../state/session.ts';
import { problemOf } from './problem.ts';
import { serverReturned } from './server-return.ts';
import { loadSession } from './sessions.ts';

export interface FeedMessage {
  readonly type: string;
  readonly emittedAt?: string;
  readonly eventId?: string;
  readonly videoId?: string;
  readonly liveStreamId?: string;
  readonly [name: string]: unknown;
}

export const feedState = signal<'off' | 'connecting' | 'open' | 'lost'>('off');

type Listener = (message: FeedMessage) => void;

const listeners = new Set<Listener>();
const initialRetryMs = 500;
const maxRetryMs = 15_000;
const lingerMs = 5_000;
/** Close code of an expired session. */
const closeSessionEnded = 4401;
const closeAccountSuspended = 4403;

let socket: WebSocket | undefined;
let retryMs = initialRetryMs;
let retryTimer: ReturnType<typeof setTimeout> | undefined;
let lingerTimer: ReturnType<typeof setTimeout> | undefined;
let lastEventId: string | undefined;
/** The environment and project of `lastEventId`. */
let lastProject: string | undefined;

export function subscribe(listener: Listener): () => void {
  listeners.add(listener);
  clearTimeout(lingerTimer);
  if (socket === undefined && retryTimer === undefined) connect();
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearTimeout(lingerTimer);
    lingerTimer = setTimeout(disconnect, lingerMs);
  };
}

/** Reconnects. Resumes after the last event in the same environment and project. */
export function restartFeed(): void {
  disconnect();
  if (projectKey.peek() !== lastProject) lastEventId = undefined;
  lastProject = projectKey.peek();
  retryMs = initialRetryMs;
  if (listeners.size > 0 && session.peek()) connect();
}

function connect(): void {
  retryTimer = undefined;
  feedState.value = 'connecting';
  const address = new URL(withBasePath('/events'), location.href);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  if (lastEventId !== undefined) address.searchParams.set('lastEventId', lastEventId);
  const { environment, projectId } = chosenEnvironment();
  const opened = new WebSocket(address, [
    'millrace.events.v1',
    `environment.${environment}`,
    ...(projectId === undefined ? [] : [`project.${projectId}`]),
  ]);
  socket = opened;
  opened.onopen = () => {
    retryMs = initialRetryMs;
    feedState.value = 'open';
    serverReturned();
  };
  opened.onmessage = ({ data }) => {
    const message = JSON.parse(String(data)) as FeedMessage;
    const eventId = message.eventId ?? (message.type === 'hello' ? message.lastEventId : undefined);
    if (eventId !== undefined) lastEventId = String(eventId);
    for (const listener of [...listeners]) listener(message);
  };
  opened.onclose = ({ code }) => {
    if (socket !== opened) return;
    socket = undefined;
    if (code === closeSessionEnded || code === closeAccountSuspended) {
      feedState.value = 'off';
      loadSession().catch((error: unknown) => {
        if (problemOf(error).status === 403) endSession(session.peek()?.sessionId);
        else if (socket === undefined && listeners.size > 0) scheduleReconnect();
      });
      return;
    }
    scheduleReconnect();
  };
}

function scheduleReconnect(): void {
  feedState.value = 'lost';
  retryTimer = setTimeout(connect, retryMs * (0.75 + Math.random() / 2));
  retryMs = Math.min(maxRetryMs, retryMs * 2);
}

function disconnect(): void {
  clearTimeout(retryTimer);
  retryTimer = undefined;
  const closing = socket;
  socket = undefined;
  closing?.close();
  feedState.value = 'off';
}
