import { anyCase } from '../text/any-case.ts';

const unsafe = String.raw`\s\x00-\x1f\x7f-\x9f\\`;
const credentials = `(?:[^${unsafe}/?#]*@)?`;
/** A host name must also be one as DNS knows it (IDNA), and an IP address be written as such. */
const host = String.raw`(?:\[[\da-fA-F:.]+\]|[^${unsafe}/?#@:\[\]<>^|]+)`;
const optionalPort = String.raw`(?::\d{0,5})?`;

interface UrlParts {
  readonly schemes: readonly string[];
  readonly port?: string;
  /** Path, query and fragment. */
  readonly rest?: string;
}

function patternOf({ schemes, port = optionalPort, rest = `(?:[/?#][^${unsafe}]*)?` }: UrlParts): string {
  return `^(?:${schemes.map(anyCase).join('|')})://${credentials}${host}${port}${rest}$`;
}

/** Addresses, for the API document. */
export const urlPatterns = {
  http: patternOf({ schemes: ['http', 'https'] }),
  rtsp: patternOf({ schemes: ['rtsp', 'rtsps'] }),
  rtmp: patternOf({ schemes: ['rtmp', 'rtmps'], rest: `/+[^${unsafe}/][^${unsafe}]*` }),
  srt: patternOf({ schemes: ['srt'], port: String.raw`:\d{1,5}` }),
};
