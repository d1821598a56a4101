import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { committedPaths, readProjectFile } from '../../scripts/project-files.ts';
import { describeExamples, exampleLanguages } from '../support/docs-examples.ts';
import { isInstalled } from '../support/nginx.ts';
import { startServer } from '../support/start-server.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

const run = promisify(execFile);
const isRunnable = isInstalled('jq', '--version') && isInstalled('curl', '--version');
if (!isRunnable) process.stderr.write('The test of the examples is skipped: curl or jq is not installed.\n');

/** An answer with an error ends the script. */
const prelude = 'set -eu -o pipefail; curl() { command curl --silent --show-error --fail-with-body "$@"; }';

/** Variables that readers set themselves, and those of a shell. */
const givenVariables = new Set(['KEY', 'HOME', 'PATH', 'PWD', 'MILLRACE_DATABASE_URL']);

function shellExamples(path: string): string[] {
  const blocks = readProjectFile(path).matchAll(/^( *)```sh\n([\s\S]*?)^ *```$/gm);
  return [...blocks].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
}

test.runIf(isRunnable)(
  'the steps of the start guide work one after the other, as they are pasted',
  async () => {
    await using server = await startServer({ 'recording.enabled': 'true' });
    const cwd = await testTempDir();
    const script = shellExamples('docs/start.md').map(block => {
      if (block.includes('rtmp://'))
        return `${block}until curl -u $KEY: http://localhost:8080/live-streams/$LIVE_STREAM_ID | jq -e .broadcasting; do sleep 0.2; done`;
      if (block.includes('kill $!'))
        return `${block}until curl -u $KEY: "http://localhost:8080/videos?liveStreamId=$LIVE_STREAM_ID" | grep vi; do sleep 0.2; done`;
      // Three pieces of the smallest size, and a last one: an MP4 box that players skip makes the film longer.
      if (block.includes('split'))
        return `{ printf '\\001\\000\\000\\000free'; head -c 16777208 /dev/zero; } >>film.mp4\n${block.replace('50m', '5m')}ls piece.*`;
      return block;
    });
    const text = [prelude, ...script]
      .join('\n')
      .replaceAll('http://localhost:8080', server.baseUrl)
      .replaceAll('rtmp://localhost/s/', server.rtmpUrl(''))
      .replaceAll('your-api-key', server.productionKey);
    const { stdout } = await run('bash', ['-c', text], { cwd, maxBuffer: 16 * 1024 * 1024 });
    expect(stdout.match(/piece\.\w+$/gm)).toHaveLength(4);
    expect(stdout).toContain('<iframe');
    expect(stdout).toContain('signatureSecret');

    const answer = await server.api('GET', '/videos?title=film');
    const { data } = (await answer.json()) as { data: { videoId: string }[] };
    expect(data).toHaveLength(1);
    const isUploaded = async () => {
      const status = await server.api('GET', `/videos/${data[0]!.videoId}/status`);
      return ((await status.json()) as { ingest: { status: string } }).ingest.status === 'uploaded';
    };
    await waitUntil(isUploaded, { what: 'the large film to be complete' });
  },
);

test.runIf(isRunnable)('the examples of lists, captions and moving work as they are pasted', async () => {
  await using server = await startServer();
  const cwd = await testTempDir();
  for (const title of ['One', 'Two']) await server.api('POST', '/videos', { title });
  const examples = shellExamples('docs/api.md').filter(block => /currentPage|fr\.vtt/.test(block));
  expect(examples).toHaveLength(2);
  const moving = shellExamples('docs/moving.md');
  expect(moving).toHaveLength(2);
  const text = [
    prelude,
    `KEY=${server.productionKey}; echo '1:05 Intro' >fr.vtt`,
    ...examples,
    ...moving,
    'cat moved.map',
  ].join('\n');
  const script = text.replaceAll('http://localhost:8080', server.baseUrl).replaceAll('=100', '=1');
  const { stdout } = await run('bash', ['-c', script], { cwd });
  expect(stdout.match(/vi\w+ (?:One|Two)$/gm)).toHaveLength(2);
  expect(stdout).toMatch(/"uri":"\/videos\/vi\w+\/captions\/fr"/);
  const [, videoId] = /^\/watch\/8d1f \/vod\/(vi\w+);$/m.exec(stdout) ?? [];
  const found = await server.api('GET', '/videos?metadata[oldId]=8d1f');
  expect(await found.json()).toMatchObject({ data: [{ videoId, title: 'Harbour at dawn' }] });
});

describeExamples(exampleLanguages.javascript);
describeExamples(exampleLanguages.python);

test('examples use only variables that earlier ones of their page set, and hosts that resolve', () => {
  const problems: string[] = [];
  for (const path of committedPaths().filter(one => /^(?:README|docs\/[^/]+)\.md$/.test(one))) {
    const known = new Set(givenVariables);
    for (const block of shellExamples(path)) {
      for (const line of block.split('\n')) {
        for (const [, name = ''] of line.matchAll(/\$\{?([A-Z][A-Z_]+)/g)) {
          if (!known.has(name) && !line.includes(`${name}=`)) problems.push(`${path}: $${name}`);
        }
        for (const [, name = ''] of line.matchAll(/(?<![\w-])([A-Z][A-Z_]+)=/g)) known.add(name);
      }
      for (const [, host = ''] of block.matchAll(/curl [^#]*?(?<!:) ["']?https?:\/\/([^/"'\s$]+)/g))
        if (!/^(?:localhost|127\.0\.0\.1)(?::\d+)?$/.test(host)) problems.push(`${path}: ${host}`);
    }
  }
  expect(problems).toEqual([]);
});
