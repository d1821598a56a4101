import { constants } from 'node:os';
import { errorRegister } from './errors.ts';
import { type LogLevel, logLevels } from './logger.ts';

/** A line of the log without texts, which may hold secrets that nobody expects there. */
interface ReducedLogLine {
  time: string;
  level: LogLevel;
  component: string;
  event: string;
  code?: string;
}

/** Names of numbers and booleans in log lines that are kept. */
const loggedNumbers = [
  ...['http', 'https', 'rtmp', 'rtmps', 'srt', 'port', 'httpPort', 'httpsPort', 'status', 'count', 'removed'],
  ...['ms', 'withinMs', 'seconds', 'bytes', 'freeBytes', 'limit', 'needed', 'attempt', 'isActive', 'failed'],
];
const codes: ReadonlySet<unknown> = new Set([...Object.keys(constants.errno), ...Object.keys(errorRegister)]);
const loggedTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/;
/** Components and events are words in kebab case. */
const word = /^[a-z]+(?:-[a-z]+)*$/;

/** Reduces a line to its time, level, component, event, and known numbers and error codes. Undefined for one that is not of the log. */
export function reduceLogLine(text: string): ReducedLogLine | undefined {
  const line = parseObject(text);
  const { time, level, component, event } = line ?? {};
  const isOurs =
    line !== undefined &&
    typeof time === 'string' &&
    loggedTime.test(time) &&
    (logLevels as readonly unknown[]).includes(level) &&
    isWord(component) &&
    isWord(event);
  if (!isOurs) return undefined;
  const numbers = loggedNumbers.flatMap(name =>
    isHarmless(line[name]) ? [[name, line[name]] as const] : [],
  );
  const error = line.error as { readonly code?: unknown } | undefined;
  const code = [line.code, error?.code].find(one => codes.has(one)) as string | undefined;
  return {
    time,
    level: level as LogLevel,
    component,
    event,
    ...(code === undefined ? {} : { code }),
    ...Object.fromEntries(numbers),
  };
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && word.test(value);
}

export function isHarmless(value: unknown): value is number | boolean {
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
