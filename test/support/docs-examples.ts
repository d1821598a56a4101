import { execFile } from 'node:child_process';
import { createHmac, createPublicKey } from 'node:crypto';
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { readProjectFile } from '../../scripts/project-files.ts';
import { SignedTokens } from '../../src/delivery/signed-tokens.ts';
import { generateKey } from '../../src/resources/playback/signing-keys/key-material.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { startServer, type TestServer } from './start-server.ts';
import { testTempDir } from './temp-dir.ts';
import { waitUntil } from './wait-until.ts';

const run = promisify(execFile);

interface ExampleLanguage {
  readonly name: string;
  readonly ending: string;
  /** Name of the language in code blocks. */
  readonly fence: string;
  /** Runs the files that follow. */
  readonly command: readonly [program: string, ...words: string[]];
  /** Fails where examples cannot run. */
  readonly probe: readonly [program: string, ...words: string[]];
  /** Prints the token for the id, the path of the key and the claims in its arguments. */
  readonly signDriver: string;
  /** Prints whether the request in its arguments (signature, signature with the time, body, secret) is genuine. */
  readonly verifyDriver: string;
}

export const exampleLanguages = {
  javascript: {
    name: 'JavaScript',
    ending: 'mjs',
    fence: 'js',
    command: [process.execPath],
    probe: [process.execPath, '--version'],
    signDriver: `import { readFileSync } from 'node:fs';
import { signToken } from './example.mjs';
const [id, key, claims] = process.argv.slice(2);
console.log(signToken(id, readFileSync(key, 'utf8'), JSON.parse(claims)));`,
    verifyDriver: `import { isGenuine } from './example.mjs';
const [plain, timed, body, secret] = process.argv.slice(2);
console.log(isGenuine({ 'x-api-video-signature': plain, 'millrace-signature': timed }, body, secret));`,
  },
  python: {
    name: 'Python',
    ending: 'py',
    fence: 'python',
    command: ['python3'],
    probe: ['python3', '-c', 'import cryptography, requests'],
    signDriver: `import json, sys
from example import sign_token
_, id, key, claims = sys.argv
print(sign_token(id, open(key).read(), json.loads(claims)))`,
    verifyDriver: `import sys
from example import is_genuine
_, plain, timed, body, secret = sys.argv
headers = {"X-Api-Video-Signature": plain, "Millrace-Signature": timed}
print(str(is_genuine(headers, body.encode(), secret)).lower())`,
  },
  php: {
    name: 'PHP',
    ending: 'php',
    fence: 'php',
    command: ['php'],
    probe: ['php', '-r', 'exit(function_exists("openssl_sign") && function_exists("curl_init") ? 0 : 1);'],
    signDriver: `<?php require 'example.php';
echo signToken($argv[1], file_get_contents($argv[2]), json_decode($argv[3], true)), "\\n";`,
    verifyDriver: `<?php require 'example.php';
$server = ['HTTP_X_API_VIDEO_SIGNATURE' => $argv[1], 'HTTP_MILLRACE_SIGNATURE' => $argv[2]];
echo isGenuine($server, $argv[3], $argv[4]) ? 'true' : 'false', "\\n";`,
  },
  go: {
    name: 'Go',
    ending: 'go',
    fence: 'go',
    command: ['go', 'run'],
    probe: ['go', 'version'],
    signDriver: `package main
import ("encoding/json"; "fmt"; "os")
func main() {
	key, err := os.ReadFile(os.Args[2])
	if err != nil { panic(err) }
	var claims map[string]any
	if err := json.Unmarshal([]byte(os.Args[3]), &claims); err != nil { panic(err) }
	token, err := signToken(os.Args[1], key, claims)
	if err != nil { panic(err) }
	fmt.Println(token)
}`,
    verifyDriver: `package main
import ("fmt"; "net/http"; "os")
func main() {
	header := http.Header{}
	header.Set("X-Api-Video-Signature", os.Args[1])
	header.Set("Millrace-Signature", os.Args[2])
	fmt.Println(isGenuine(header, []byte(os.Args[3]), os.Args[4]))
}`,
  },
} satisfies Record<string, ExampleLanguage>;

/** Examples in JavaScript that the pages themselves have: their files are those of the other languages. */
const pageOfExample: Readonly<Record<string, string>> = {
  'sign-token': 'docs/signed-playback.md',
  'verify-webhook': 'docs/webhooks.md',
};
/** The smallest piece of an upload. */
const pieceBytes = 5 * 1024 * 1024;
const emptyEnv: Readonly<Record<string, string>> = {};

function exampleText(name: string, { ending }: ExampleLanguage): string {
  const page = ending === 'mjs' ? pageOfExample[name] : undefined;
  if (page === undefined) return readProjectFile(`docs/examples/${name}.${ending}`);
  return /```js\n([\s\S]*?)```/.exec(readProjectFile(page))![1]!;
}

/** Registers the tests of all examples in one language. They are skipped with a reason where it is not installed. */
export function describeExamples(language: ExampleLanguage): void {
  describe(`examples in ${language.name}`, () => {
    const { ending } = language;
    const isInstalled = () =>
      run(language.probe[0], language.probe.slice(1)).then(
        () => true,
        () => false,
      );
    const reason = `${language.name} is not installed, or lacks a package`;

    /** Runs `example`, or `main` beside it, and returns what it prints. */
    async function runExample(
      cwd: string,
      { text, driver, words = [] }: { text: string; driver?: string; words?: readonly string[] },
      variables = emptyEnv,
    ): Promise<string> {
      const [program, ...first] = language.command;
      await writeFile(join(cwd, `example.${ending}`), text);
      if (driver !== undefined) await writeFile(join(cwd, `main.${ending}`), driver);
      const files = driver === undefined ? ['example'] : ending === 'go' ? ['example', 'main'] : ['main'];
      const command = [...first, ...files.map(file => `${file}.${ending}`), ...words];
      const env = { ...process.env, GO111MODULE: 'off', GOFLAGS: '', ...variables };
      const { stdout } = await run(program, command, { cwd, env });
      return stdout.trim();
    }

    test('create, upload, continue an upload, list, and add captions', async ({ skip }) => {
      if (!(await isInstalled())) skip(reason);
      await using server = await startServer();
      const cwd = await testTempDir();
      const film = ['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=25:duration=2', '-pix_fmt', 'yuv420p'];
      await run(process.env.MILLRACE_FFMPEG_PATH ?? 'ffmpeg', ['-loglevel', 'error', ...film, 'film.mp4'], {
        cwd,
      });
      await writeFile(join(cwd, 'fr.vtt'), 'WEBVTT\n\n00:00.000 --> 00:01.000\nBonjour\n');
      const example = (name: string, variables = emptyEnv) =>
        runExample(
          cwd,
          {
            text: exampleText(name, language)
              .replaceAll('http://localhost:8080', server.baseUrl)
              .replaceAll('50 * 1024 * 1024', String(pieceBytes))
              .replaceAll('pageSize=100', 'pageSize=1'),
          },
          { KEY: server.productionKey, ...variables },
        );

      const [liveStreamId, streamKey, page] = (await example('create-live-stream')).split(' ');
      const stream = await jsonOf(server, `/live-streams/${liveStreamId}`);
      expect(stream).toMatchObject({ streamKey, assets: { player: page }, name: 'My first stream' });
      const [videoId = ''] = (await example('upload-video')).split(' ');
      await untilUploaded(server, videoId);
      const large = await uploadRest(server, cwd, VIDEO_ID => example('upload-in-pieces', { VIDEO_ID }));
      expect((await example('list-videos')).split('\n').sort()).toEqual(
        [`${videoId} My first video`, `${large} A large film`].sort(),
      );
      const captions = await example('add-captions', { VIDEO_ID: videoId });
      expect(captions).toBe(`/videos/${videoId}/captions/fr`);
      await expect(example('list-videos', { KEY: 'wrong' })).rejects.toThrow();

      // Examples of the reference follow from the API document.
      const variables = { KEY: server.productionKey, VIDEO_ID: videoId, LANGUAGE: 'en' };
      await writeFile(join(cwd, 'en.vtt'), 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n');
      for (const [page, operation, answer] of [
        ['videos', 'patch-videos-videoId', /^200 .*Harbour at dusk/],
        ['captions', 'post-videos-videoId-captions-language', /^200 .*captions\/en/],
        ['videos', 'get-videos', /^200 .*A large film/],
      ] as const) {
        const text = await referenceExample(server, page, operation, language);
        expect(await runExample(cwd, { text }, variables)).toMatch(answer);
      }
    });

    test('sign tokens that the server accepts', async ({ skip }) => {
      if (!(await isInstalled())) skip(reason);
      const cwd = await testTempDir();
      const { publicKey, privateKey } = await generateKey('ES256');
      await writeFile(join(cwd, 'key.pem'), privateKey);
      const resource = { id: 'vi4Kd8sLq2Wm6Xr1Tz9Bn3Vc', projectId: 'pr1' };
      const signingKeyId = 'skOfTheTests000000000000';
      const tokens = new SignedTokens({
        findSigningKey: async () => ({
          projectId: resource.projectId,
          algorithm: 'ES256',
          publicKey: createPublicKey(publicKey),
        }),
        clock: systemClock,
      });
      const claims = { sub: resource.id, exp: Math.floor(Date.now() / 1000) + 3600, viewer: 'Zoë' };
      const token = await runExample(cwd, {
        text: exampleText('sign-token', language),
        driver: language.signDriver,
        words: [signingKeyId, 'key.pem', JSON.stringify(claims)],
      });
      const limits = { policy: undefined, endsAtMs: claims.exp * 1000, signingKeyId };
      expect(await tokens.verify(token, resource)).toEqual({ limits, viewer: 'Zoë' });
    });

    test('accept requests of the server only, and only new ones', async ({ skip }) => {
      if (!(await isInstalled())) skip(reason);
      const cwd = await testTempDir();
      const secret = 'sig_sec_of_the_tests';
      const body = '{"type":"webhook.test","title":"Zoë"}';
      const now = Math.floor(Date.now() / 1000);
      const sign = (text: string) => createHmac('sha256', secret).update(text).digest('hex');
      const timed = (seconds: number, text = body) => `t=${seconds},v1=${sign(`${seconds}.${text}`)}`;
      const requests: readonly (readonly [isGenuine: boolean, plain: string, timed: string])[] = [
        [true, sign(body), timed(now)],
        [false, sign(body), timed(now - 400)],
        [false, sign(body), timed(now, '{}')],
        [false, sign(body), 't=1'],
        [false, sign('{}'), timed(now)],
        [false, '', ''],
      ];
      for (const [isGenuine, plain, withTime] of requests) {
        const answer = await runExample(cwd, {
          text: exampleText('verify-webhook', language),
          driver: language.verifyDriver,
          words: [plain, withTime, body, secret],
        });
        expect([plain, withTime, answer]).toEqual([plain, withTime, String(isGenuine)]);
      }
    });
  });
}

async function referenceExample(
  { baseUrl }: TestServer,
  page: string,
  operation: string,
  { fence }: ExampleLanguage,
): Promise<string> {
  const html = await (await fetch(`${baseUrl}/docs/reference/${page}`)).text();
  const article = html.slice(html.indexOf(`id="${operation}"`));
  const code = new RegExp(`data-language="${fence}"[^>]*><code>([^]*?)</code>`).exec(article)![1]!;
  return code
    .replaceAll(/&#(\d+);/g, (_, character: string) => String.fromCharCode(Number(character)))
    .replaceAll(/http:\/\/localhost:\d+/g, baseUrl);
}

/** Sends the first piece of a film, and lets an example send the others. Returns the id of the video. */
async function uploadRest(
  server: TestServer,
  cwd: string,
  example: (videoId: string) => Promise<string>,
): Promise<string> {
  const created = await server.api('POST', '/videos', { title: 'A large film' });
  const { videoId } = (await created.json()) as { videoId: string };
  const total = 2 * pieceBytes + 1000;
  // Players skip the zeros behind the film.
  await truncate(join(cwd, 'film.mp4'), total);
  const body = new FormData();
  body.set('file', new Blob([new Uint8Array(pieceBytes)]), 'film.mp4');
  const sent = await fetch(`${server.baseUrl}/videos/${videoId}/source`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${btoa(`${server.productionKey}:`)}`,
      'content-range': `bytes 0-${pieceBytes - 1}/${total}`,
    },
    body,
  });
  expect(sent.status).toBe(201);
  const ends = [2 * pieceBytes, total].map(end => `${end} of ${total} bytes`);
  expect((await example(videoId)).split('\n')).toEqual(ends);
  await untilUploaded(server, videoId);
  return videoId;
}

async function untilUploaded(server: TestServer, videoId: string): Promise<void> {
  const isUploaded = async () => {
    const { ingest } = await jsonOf<{ ingest?: { status: string } }>(server, `/videos/${videoId}/status`);
    return ingest?.status === 'uploaded';
  };
  await waitUntil(isUploaded, { what: `the upload of ${videoId} to be complete` });
}

async function jsonOf<Body = unknown>(server: TestServer, path: string): Promise<Body> {
  return (await server.api('GET', path)).json() as Promise<Body>;
}
