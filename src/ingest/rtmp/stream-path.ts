const apps: readonly string[] = ['s', 'live'];
/** Instance name that Wowza and the servers of Adobe add. */
const defaultInstance = '_definst_';
const streamKeyPattern = /^[\x21-\x2e\x30-\x7e]{1,256}$/;

/** `description` is shown to the broadcaster. */
type StreamPath =
  | { readonly ok: true; readonly streamKey: string; readonly query: string }
  | {
      readonly ok: false;
      readonly reason: 'unknown-app' | 'missing-key' | 'invalid-key';
      readonly description: string;
    };

/**
 * Encoders split `rtmp://host/s/KEY` into `s` and `KEY`, or `s/KEY` and nothing. Some escape the slash, name the default
 * instance of an app, or put the file type of Flash before the key. People paste the key into both fields.
 */
export function resolveStreamPath(connectApp: string, publishName: string): StreamPath {
  const path = `${withoutQuery(connectApp)}/${withoutQuery(publishName)}`;
  const [app = '', ...named] = segmentsOf(path.replace(/%2f/gi, '/'));
  const rest = named[0] === defaultInstance ? named.slice(1) : named;
  if (!apps.includes(app)) {
    return refusal(
      'unknown-app',
      "The server URL must end in /s. Check the server in your encoder's settings.",
    );
  }
  const [encodedKey, ...more] = rest;
  if (encodedKey === undefined)
    return refusal('missing-key', "The stream key is missing. Enter it in your encoder's settings.");
  const streamKey = percentDecoded(withoutFileType(encodedKey))?.trim();
  if (
    more.some(segment => segment !== encodedKey) ||
    streamKey === undefined ||
    !streamKeyPattern.test(streamKey)
  ) {
    return refusal('invalid-key', 'The stream key is not valid. Copy it again, whole and without spaces.');
  }
  const query = [connectApp, publishName].map(queryOf).filter(text => text !== '');
  return { ok: true, streamKey, query: query.join('&') };
}

function refusal(reason: 'unknown-app' | 'missing-key' | 'invalid-key', description: string): StreamPath {
  return { ok: false, reason, description };
}

/** `flv:KEY` and `mp4:KEY.f4v`, as Flash encoders name streams. */
function withoutFileType(name: string): string {
  const [, key = name] = /^(?:flv|mp4):(.+?)(?:\.(?:f4v|flv|mp4))?$/.exec(name) ?? [];
  return key;
}

function withoutQuery(text: string): string {
  const at = text.indexOf('?');
  return at === -1 ? text : text.slice(0, at);
}

function queryOf(text: string): string {
  return text.slice(withoutQuery(text).length + 1);
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter(segment => segment !== '');
}

function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
