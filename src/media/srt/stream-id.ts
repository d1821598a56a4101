const accessControlPrefix = '#!::';
/** Resource, mode and type. */
const standardFields: readonly string[] = ['r', 'm', 't'];
const publishPrefix = 'publish:';
const streamKeyPattern = /^[\x21-\x2e\x30-\x7e]{1,256}$/;

/** `description` is for logs: SRT carries a number only. */
type PublishStreamId =
  | {
      readonly ok: true;
      readonly streamKey: string;
      /** The text behind `?` after the key, and further fields of the access control syntax. */
      readonly query: string;
    }
  | {
      readonly ok: false;
      readonly reason: 'missing-key' | 'invalid-key' | 'play';
      readonly description: string;
    };

/**
 * Reads the plain stream key, `publish:KEY` as MediaMTX takes it, and `#!::r=KEY,m=publish` of "SRT Access Control". The
 * key may follow `s/` or `live/`, as it does in RTMP.
 */
export function readPublishStreamId(streamId: string | undefined): PublishStreamId {
  const text = percentDecoded((streamId ?? '').trim());
  if (text.startsWith(accessControlPrefix)) return readAccessControl(text.slice(accessControlPrefix.length));
  if (/^(read|request|play):/.test(text)) return playRefusal;
  return keyOf(text.startsWith(publishPrefix) ? text.slice(publishPrefix.length) : text);
}

function readAccessControl(list: string): PublishStreamId {
  const fields = new Map<string, string>();
  for (const field of list.split(',')) {
    const at = field.indexOf('=');
    if (at > 0) fields.set(field.slice(0, at).trim(), field.slice(at + 1).trim());
  }
  // The default of the syntax is `request`, but there is nothing to request here.
  const mode = fields.get('m') ?? 'publish';
  if (mode !== 'publish') return playRefusal;
  const key = keyOf(fields.get('r') ?? '');
  if (!key.ok) return key;
  const others = [...fields].filter(([name]) => !standardFields.includes(name));
  const query = [key.query, String(new URLSearchParams(others))].filter(text => text !== '');
  return { ...key, query: query.join('&') };
}

function keyOf(resource: string): PublishStreamId {
  const [path = '', ...query] = resource.split('?');
  const streamKey = path.replace(/^\/?(?:(?:s|live)\/)?(?:_definst_\/)?/, '').replace(/\/+$/, '');
  if (streamKey === '') {
    return {
      ok: false,
      reason: 'missing-key',
      description: "The stream ID is missing. Enter the stream key as streamid in your encoder's settings.",
    };
  }
  if (!streamKeyPattern.test(streamKey)) {
    return {
      ok: false,
      reason: 'invalid-key',
      description: 'The stream ID is not valid. Copy the stream key again, whole and without spaces.',
    };
  }
  return { ok: true, streamKey, query: query.join('?') };
}

/** Encoders differ in whether they decode the stream ID of an address. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const playRefusal: PublishStreamId = {
  ok: false,
  reason: 'play',
  description: 'This server does not play over SRT. Viewers watch over HLS.',
};
