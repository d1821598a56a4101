import { basicAuthorization, type ServerProcess } from './server-process.ts';

/**
 * Calls the API of a server that a script started, in production.
 *
 * @throws Error with what the server said, when it refuses
 */
export async function callApi<Answer>(
  server: Pick<ServerProcess, 'baseUrl' | 'productionKey'>,
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE',
  path: string,
  body?: FormData | Readonly<Record<string, unknown>>,
): Promise<Answer> {
  const isForm = body instanceof FormData;
  const answer = await fetch(server.baseUrl + path, {
    method,
    headers: {
      authorization: basicAuthorization(server.productionKey),
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? undefined : isForm ? body : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as Answer;
}

/** A file as the API takes it: as multipart, in the field `file`. */
export function formWithFile(
  name: string,
  content: string | Uint8Array<ArrayBuffer>,
  type = 'text/vtt',
): FormData {
  const form = new FormData();
  form.set('file', new File([content], name, { type }));
  return form;
}

/** WebVTT with one cue for each text, one after the other. */
export function webVttOf(texts: readonly string[], cueSeconds: number): string {
  const at = (seconds: number) =>
    `00:${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}.000`;
  const cues = texts.map((text, index) => {
    const fromSeconds = index * cueSeconds;
    return `${at(fromSeconds)} --> ${at(fromSeconds + cueSeconds)}\n${text}`;
  });
  return `WEBVTT\n\n${cues.join('\n\n')}\n`;
}
