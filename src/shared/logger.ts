import { pino } from 'pino';
import { AppError, messageOf } from './errors.ts';

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

export type LogLevel = (typeof logLevels)[number];

/** Never holds a stream key, an API key or a token. */
export type LogData = Readonly<Record<string, unknown>>;

/**
 * `event` is a fixed text in kebab-case, to be searched for. Levels: `info` for what operators care about,
 * `warn` for degraded service, `error` for what needs action.
 */
export interface Logger {
  trace(event: string, data?: LogData): void;
  debug(event: string, data?: LogData): void;
  info(event: string, data?: LogData): void;
  warn(event: string, data?: LogData): void;
  error(event: string, data?: LogData): void;
  child(component: string, ids?: LogData): Logger;
}

interface Sink {
  write(line: string): void;
}

interface RecentLines {
  add(line: string): void;
}

/** Writes JSON lines, or readable text with `pretty`, to standard output unless `sink` is given. Each line is added to `recent`, too. */
export async function createLogger(options: {
  /** A function is called at each line. */
  level: LogLevel | (() => LogLevel);
  pretty: boolean;
  sink?: Sink;
  recent?: RecentLines;
}): Promise<Logger> {
  const settings = {
    level: logLevels[0],
    base: null,
    messageKey: 'event',
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: describeError },
  };
  const { level, recent } = options;
  const output = options.sink ?? (options.pretty ? await prettySink() : process.stdout);
  const sink = recent === undefined ? output : teeSink(output, recent);
  return loggerOf(pino(settings, sink), typeof level === 'function' ? level : () => level, {});
}

export const silentLogger: Logger = {
  trace() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
  child() {
    return silentLogger;
  },
};

function teeSink(output: Sink, recent: RecentLines): Sink {
  return {
    write(line) {
      recent.add(line);
      output.write(line);
    },
  };
}

async function prettySink(): Promise<Sink> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({
    colorize: process.stdout.isTTY,
    translateTime: 'SYS:HH:MM:ss.l',
    messageKey: 'event',
    messageFormat: '{component} {event}',
    ignore: 'component',
    singleLine: true,
    sync: true,
  });
}

/** A child logger names its own component only, not its parents. */
function loggerOf(root: pino.Logger, level: () => LogLevel, bound: LogData): Logger {
  const inner = root.child(bound);
  const writer = (name: LogLevel) => (event: string, data?: LogData) => {
    if (logLevels.indexOf(name) >= logLevels.indexOf(level())) inner[name]({ event, ...data });
  };
  return {
    trace: writer('trace'),
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
    child: (component, ids) => loggerOf(root, level, { ...bound, component, ...ids }),
  };
}

function describeError(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return String(thrown);
  return {
    message: messageOf(thrown),
    ...(thrown instanceof AppError ? { code: thrown.code, ...thrown.details.data } : { stack: thrown.stack }),
    ...(thrown.cause === undefined ? {} : { cause: describeError(thrown.cause) }),
  };
}
