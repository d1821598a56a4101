import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request to a model, as far as tests look into it. */
export interface ModelCall {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Fields of a multipart form. */
  readonly fields: ReadonlyMap<string, string>;
  readonly file: Buffer;
  readonly text: string;
  /** Resolves when the connection is closed or the answer sent. */
  readonly closed: Promise<unknown>;
}

type AnswerCall = (call: ModelCall, response: ServerResponse, count: number) => void;

/** Speaks the protocol of OpenAI over real HTTP. */
export interface FakeModel {
  /** URL of the API, ending in `/v1`. */
  readonly url: string;
  readonly calls: ModelCall[];
  answer: AnswerCall;
}

/** One segment that says when it begins, in the language. */
export function answerSpeech(language = 'english', text = 'Boats leave the harbour.'): AnswerCall {
  return (_call, response) => {
    response.setHeader('content-type', 'application/json');
    const segments = [{ id: 0, start: 0.5, end: 2.5, text: ` ${text}` }];
    response.end(JSON.stringify({ task: 'transcribe', language, duration: 3, text, segments }));
  };
}

export function answerSummary(content: string): AnswerCall {
  return (_call, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }));
  };
}

export function answerError(
  status: number,
  message: string,
  headers: Record<string, string> = {},
): AnswerCall {
  return (_call, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ error: { message } }));
  };
}

/** @param atEnd takes the function that ends it; by default, it ends with the test */
export async function startFakeModel(
  answer: AnswerCall = answerSpeech(),
  atEnd: (stop: () => void) => void = onTestFinished,
): Promise<FakeModel> {
  const calls: ModelCall[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    const closed = once(response, 'close');
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const body = Buffer.concat(chunks);
    const type = request.headers['content-type'] ?? '';
    const form = type.startsWith('multipart/')
      ? await new Response(body, { headers: { 'content-type': type } }).formData()
      : new FormData();
    const file = form.get('file');
    const call: ModelCall = {
      path: request.url ?? '',
      headers: request.headers,
      fields: new Map(
        [...form].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
      ),
      file: file instanceof File ? Buffer.from(await file.arrayBuffer()) : Buffer.alloc(0),
      text: type.startsWith('multipart/') ? '' : body.toString(),
      closed,
    };
    calls.push(call);
    model.answer(call, response, calls.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const model: FakeModel = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls,
    answer,
  };
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return model;
}
